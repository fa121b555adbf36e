/** /trainer/v1/judgements: what a trainer says of answers goes into the log; a hint becomes a note, and a reward counts for the version that answered. */
import type { Context } from "hono";
import { JudgementBatch, judgementIdOf } from "../../shared/events.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import { appendEvents, deletedAmong, eventsById, foreignTurns, type EventLog } from "../db/events.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { invalid } from "../openai/refuse.ts";
import { saidIn } from "./given-notes.ts";
import { actorOf, found, scoped } from "./params.ts";

type Judgement = JudgementBatch["judgements"][number];

export function mountTrainerJudgements(app: App): void {
  app.post("/trainer/v1/judgements", async (context) => {
    const posted = await parseJson(context.req.raw, JudgementBatch);
    // Judged before its user was deleted, and posted after: it quotes what is gone.
    const judgements = await ofKept(context.env, posted.judgements);
    await checkReached(context, judgements);
    const seq = await appendEvents(context.env, judgements);
    // After the log, and of what stands in it: a note whose judgement is lost could not be explained, there should be none of who was deleted meanwhile,
    // and where two trainers judged, only the one that was logged counts.
    const logged = await asLogged(context.env, judgements);
    await remember(context, await ofKept(context.env, logged));
    await countRewards(context, { judgements, logged, seq });
    return context.json({ seq });
  });
}

/**
 * A key of one agent says nothing about the turns of another: neither of the one that is named, nor of the one whose event is judged.
 * @throws {input/notFound} {input/invalid}
 */
async function checkReached(context: Context<AppEnv>, judgements: readonly Judgement[]): Promise<void> {
  await Promise.all(
    agentsIn(judgements).map(async (name) => found(await agentOf(context.env, scoped(context, name)).read(), `agent ${name}`)),
  );
  for (const { eventId, payload } of judgements)
    if (eventId !== judgementIdOf(payload.subject))
      throw invalid("judgements", `the judgement of ${payload.subject} as ${judgementIdOf(payload.subject)} expected, got ${eventId}`);
  const [foreign] = await foreignTurns(
    context.env,
    judgements.flatMap(({ agent, turnId, payload }) => [turnId, ...prefixesOf(payload.subject)].map((id) => ({ agent, turnId: id }))),
  );
  if (foreign !== undefined) found(undefined, `turn ${foreign}`);
}

/** Makes notes of the hints. */
async function remember(context: Context<AppEnv>, judgements: readonly Judgement[]): Promise<void> {
  for (const { agent, line, ...said } of await saidIn(judgements)) {
    await agentOf(context.env, agent).remember(line, said, actorOf(context));
    forgetLineHead(agent, line);
  }
}

/** Tells each agent what its versions earned, and that there is something to read. */
async function countRewards(
  { env }: Context<AppEnv>,
  { judgements, logged, seq }: { judgements: readonly Judgement[]; logged: readonly Judgement[]; seq: number },
): Promise<void> {
  for (const name of agentsIn(judgements)) {
    const agent = agentOf(env, name);
    const own = logged.filter((each) => each.agent === name);
    for (const [line, ofLine] of Map.groupBy(own, (each) => each.line)) await agent.judged(line, rewardsOf(ofLine));
    await agent.eventsAppended(seq);
  }
}

function agentsIn(judgements: readonly Judgement[]): string[] {
  return [...new Set(judgements.map(({ agent }) => agent))];
}

/** Those of events whose users were not deleted. */
async function ofKept(log: EventLog, judgements: readonly Judgement[]): Promise<Judgement[]> {
  const gone = await deletedAmong(
    log,
    judgements.map(({ payload }) => payload.subject),
  );
  return judgements.filter(({ payload }) => !gone.has(payload.subject));
}

/** The same judgements as the log has them: the first that came of each event. */
async function asLogged(log: EventLog, judgements: readonly Judgement[]): Promise<Judgement[]> {
  const byAgent = Map.groupBy(judgements, ({ agent }) => agent);
  const logged = [...byAgent].map(([agent, own]) => eventsById(log, { agent, ids: own.map(({ eventId }) => eventId) }));
  return (await Promise.all(logged)).flat().flatMap((event) => {
    const { payload } = event;
    return payload.kind === "judgement:made" ? [{ ...event, payload }] : [];
  });
}

/** What an event's id begins with, its turn's among them. */
function prefixesOf(eventId: string): string[] {
  const parts = eventId.split("/");
  return [1, 2, 3].flatMap((left) => (parts.length > left ? [parts.slice(0, -left).join("/")] : []));
}

/** What judgements say about the versions that answered. A call that merely ran says nothing: counted as 0, it would speak against every version that calls tools. */
function rewardsOf(judgements: readonly Judgement[]): { turnId: string; reward: number }[] {
  return judgements
    .filter(({ payload }) => payload.judge !== "verifiable" || payload.reward !== 0)
    .map(({ turnId, payload: { reward } }) => ({ turnId, reward }));
}
