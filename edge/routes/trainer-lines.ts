/** /trainer/v1: which versions exist, and how trainers add to them. Outcomes that a trainer must expect answer 200 with a `status`. */
import type { Context } from "hono";
import { z } from "zod";
import { AppError, fromErrorRecord } from "../../shared/errors.ts";
import { CursorAdvance, JudgementBatch, judgementIdOf } from "../../shared/events.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { LEASE_HEADER } from "../../shared/lease.ts";
import { NoteAbsorbed } from "../../shared/note.ts";
import { PublishRequest } from "../../shared/policy.ts";
import { TrainerStatus } from "../../shared/trainer-status.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf, type Lost, type Trainer } from "../agent/port.ts";
import { appendEvents, deletedAmong, eventsById, foreignTurns, type EventLog, lastGivenSeq, lastSeq } from "../db/events.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { saidIn } from "./given-notes.ts";
import { invalid } from "../openai/refuse.ts";
import { actorOf, agentParam, found, lineParam, noteParam, queryOf, readHeads, scoped, versionParam } from "./params.ts";
import { wholeNumber } from "../whole-number.ts";

const MOST_REVIEWED = 200;
const MOST_REOPENED = 50; // a batch, with their judgements in one answer
const FinishRequest = z.object({ from: z.number().int().min(0), refused: CursorAdvance.shape.refused.default([]) });
const EventIds = z.object({ ids: z.array(z.string().max(200)).max(100) });
const QuarantinePage = z.object({ after: z.string().max(200).optional(), limit: wholeNumber({ least: 1, most: 1_000 }).default(1_000) });
const LINE = "/trainer/v1/agents/:agent/lines/:line";

export function mountTrainerLines(app: App): void {
  app.get("/trainer/v1/agents", async (context) => context.json({ agents: await readHeads(context) }));

  app.get(`${LINE}/head`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const head = found(await agentOf(context.env, agent).head(line), `line ${line} of agent ${agent}`);
    await checkFollowed(context.env, line, head.cursor);
    return context.json(head);
  });

  app.get(`${LINE}/versions/:version`, async (context) => {
    const [agent, line, version] = [agentParam(context), lineParam(context), versionParam(context)];
    return context.json(
      found(await agentOf(context.env, agent).version(line, version), `version ${version} of line ${line} of agent ${agent}`),
    );
  });

  app.post(`${LINE}/versions`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const request = await parseJson(context.req.raw, PublishRequest);
    await checkLogged(context.env, "manifest.toSeq", request.manifest.toSeq);
    const result = found(await agentOf(context.env, agent).publish(line, request, trainerOf(context)), `line ${line} of agent ${agent}`);
    throwLost(result);
    if (result.status === "refused") throw new AppError("policy/refused", result.reason);
    if (result.status === "unready") throw fromErrorRecord(result.error);
    forgetLineHead(agent, line);
    return context.json(result);
  });

  app.post(`${LINE}/cursor`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const request = await parseJson(context.req.raw, CursorAdvance);
    await checkLogged(context.env, "to", request.to);
    const result = found(await agentOf(context.env, agent).advance(line, request, trainerOf(context)), `line ${line} of agent ${agent}`);
    throwLost(result);
    if (result.status === "refused") throw new AppError("input/invalid", result.reason, { details: { param: "to" } });
    return context.json(result);
  });

  app.get(`${LINE}/quarantine`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const page = queryOf(context, QuarantinePage);
    const barred = found(await agentOf(context.env, agent).quarantined(line, page), `line ${line} of agent ${agent}`);
    return context.json({ events: barred.map(({ eventId, turnId }) => ({ eventId, turnId })) });
  });

  // With their judgements: what is learned from again is not judged again.
  app.get(`${LINE}/reopened`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const ids = found(await agentOf(context.env, agent).reopened(line, MOST_REOPENED), `line ${line} of agent ${agent}`);
    const events = [...new Set(ids.map(eventIdOf))];
    return context.json({ ids, events: await eventsById(context.env, { agent, ids: events.flatMap((id) => [id, judgementIdOf(id)]) }) });
  });

  app.get(`${LINE}/influence`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    return context.json(found(await agentOf(context.env, agent).influence(line), `line ${line} of agent ${agent}`));
  });

  app.post(`${LINE}/withdrawn`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const { ids } = await parseJson(context.req.raw, EventIds);
    return context.json({ withdrawn: found(await agentOf(context.env, agent).withdrawn(line, ids), `line ${line} of agent ${agent}`) });
  });

  // With their judgements: what is learned from late is not judged again.
  app.post(`${LINE}/events`, async (context) => {
    const agent = agentParam(context);
    const { ids } = await parseJson(context.req.raw, EventIds);
    return context.json({ events: await eventsById(context.env, { agent, ids: ids.flatMap((id) => [id, judgementIdOf(id)]) }) });
  });

  app.get(`${LINE}/learned`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    return context.json({ events: found(await agentOf(context.env, agent).learned(line), `line ${line} of agent ${agent}`) });
  });

  app.get(`${LINE}/rebuild`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    return context.json({ rebuild: found(await agentOf(context.env, agent).rebuild(line), `line ${line} of agent ${agent}`) });
  });

  app.post(`${LINE}/rebuild/finish`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const request = await parseJson(context.req.raw, FinishRequest);
    const finished = found(
      await agentOf(context.env, agent).finishRebuild(line, request, trainerOf(context)),
      `line ${line} of agent ${agent}`,
    );
    if (typeof finished !== "boolean") throwLost(finished);
    forgetLineHead(agent, line);
    return context.json({ status: finished ? "finished" : "stale" });
  });

  app.get(`${LINE}/suite`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    return context.json({ cases: found(await agentOf(context.env, agent).suite(line), `line ${line} of agent ${agent}`) });
  });

  app.get(`${LINE}/notes`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const notes = found(await agentOf(context.env, agent).notes(line), `line ${line} of agent ${agent}`);
    // Only a version that learned from a note, or one that descends from it, can have taken it up.
    const open = notes.filter(({ status, learnedBy }) => status === "inForce" && learnedBy !== null);
    return context.json({ notes: open.slice(0, MOST_REVIEWED) });
  });

  app.post(`${LINE}/notes/:note/absorbed`, async (context) => {
    const [agent, line, noteId] = [agentParam(context), lineParam(context), noteParam(context)];
    const { version } = await parseJson(context.req.raw, NoteAbsorbed);
    const absorbed = await agentOf(context.env, agent).absorbNote(line, noteId, version, trainerOf(context));
    const result = found(absorbed, `note ${noteId} of line ${line} of agent ${agent}`);
    throwLost(result);
    forgetLineHead(agent, line);
    return context.json(result);
  });

  app.put(`${LINE}/status`, async (context) => {
    const [agent, line] = [agentParam(context), lineParam(context)];
    const status = await parseJson(context.req.raw, TrainerStatus);
    found((await agentOf(context.env, agent).reportTrainer(line, status)) || undefined, `line ${line} of agent ${agent}`);
    return context.json({ status: "heard" });
  });

  app.post("/trainer/v1/judgements", async (context) => {
    const posted = await parseJson(context.req.raw, JudgementBatch);
    // Judged before its user was deleted, and posted after: it quotes what is gone.
    const judgements = await ofKept(context.env, posted.judgements);
    const names = [...new Set(judgements.map(({ agent }) => agent))];
    await Promise.all(names.map(async (name) => found(await agentOf(context.env, scoped(context, name)).read(), `agent ${name}`)));
    for (const { eventId, payload } of judgements)
      if (eventId !== judgementIdOf(payload.subject))
        throw invalid("judgements", `the judgement of ${payload.subject} as ${judgementIdOf(payload.subject)} expected, got ${eventId}`);
    // A key of one agent says nothing about the turns of another: neither of the one that is named, nor of the one whose event is judged.
    const [foreign] = await foreignTurns(
      context.env,
      judgements.flatMap(({ agent, turnId, payload }) => [turnId, ...prefixesOf(payload.subject)].map((id) => ({ agent, turnId: id }))),
    );
    if (foreign !== undefined) found(undefined, `turn ${foreign}`);
    const seq = await appendEvents(context.env, judgements);
    // After the log, and of what stands in it: a note whose judgement is lost could not be explained, one of who was deleted meanwhile should not be,
    // and what a trainer says that lost its lease to one that judged otherwise is no judgement.
    const logged = await asLogged(context.env, judgements);
    for (const { agent, line, ...said } of await saidIn(await ofKept(context.env, logged))) {
      await agentOf(context.env, agent).remember(line, said, actorOf(context));
      forgetLineHead(agent, line);
    }
    for (const name of names) {
      const agent = agentOf(context.env, name);
      for (const line of new Set(logged.filter((each) => each.agent === name).map((each) => each.line)))
        await agent.judged(line, rewardsOf({ judgements: logged }, { agent: name, line }));
      await agent.eventsAppended(seq);
    }
    return context.json({ seq });
  });
}

type Judgement = JudgementBatch["judgements"][number];

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

const LeaseToken = z.object({ [LEASE_HEADER]: wholeNumber().default(0) });

/** Who moves a line, under which lease. @throws {input/invalid} */
function trainerOf(context: Context<AppEnv>): Trainer {
  return { actor: actorOf(context), lease: parseWith(LeaseToken, { [LEASE_HEADER]: context.req.header(LEASE_HEADER) })[LEASE_HEADER] };
}

/** @throws {lease/lost} where the lease is another trainer's by now */
function throwLost<Result extends { status: string }>(result: Result | Lost): asserts result is Exclude<Result, Lost> {
  if (isLost(result)) throw new AppError("lease/lost", result.reason);
}

function isLost(result: { status: string }): result is Lost {
  return result.status === "lost";
}

/** What judgements say about the versions that answered. A call that merely ran says nothing: counted as 0, it would speak against every version that calls tools. */
function rewardsOf({ judgements }: JudgementBatch, of: { agent: string; line: string }): { turnId: string; reward: number }[] {
  return judgements
    .filter(
      ({ agent, line, payload }) => agent === of.agent && line === of.line && (payload.judge !== "verifiable" || payload.reward !== 0),
    )
    .map(({ turnId, payload: { reward } }) => ({ turnId, reward }));
}

/**
 * A log that was restored to before a line's cursor gives numbers that the line has passed: what is said then would never be read, without a word.
 * Every step of a trainer begins here. @throws {input/invalid}
 */
async function checkFollowed(log: EventLog, line: string, cursor: number): Promise<void> {
  const last = await lastGivenSeq(log);
  if (cursor > last)
    throw new AppError(
      "input/invalid",
      `line ${line}: a cursor of at most ${last}, the last number that the log has given, expected, got ${cursor}; the log was restored to before: ` +
        "raise sqlite_sequence as docs/deploy.md says under Backups",
      { details: { param: "cursor" } },
    );
}

/** A cursor beyond the log would pass over what is yet to come, and a cursor never goes back. @throws {input/invalid} */
async function checkLogged(log: EventLog, param: string, seq: number): Promise<void> {
  const last = await lastSeq(log);
  if (seq > last)
    throw new AppError("input/invalid", `${param}: at most ${last}, the last event of the log, expected, got ${seq}`, {
      details: { param },
    });
}
