/** /trainer/v1/agents/:agent/lines/:line: what a trainer reads of a line. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { judgementIdOf } from "../../shared/events.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { readAgents } from "../db/agents.ts";
import { type EventLog, eventsById, lastGivenSeq } from "../db/events.ts";
import type { App } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { wholeNumber } from "../whole-number.ts";
import { agentParam, lineIn, queryOf, versionParam } from "./params.ts";
import { takeUpAgents } from "./agent-deletion.ts";
import { takeUp } from "./user-deletion.ts";

export const LINE = "/trainer/v1/agents/:agent/lines/:line";
const MOST_REVIEWED = 200;
const MOST_REOPENED = 50; // a batch, with their judgements in one answer
const EventIds = z.object({ ids: z.array(z.string().max(200)).max(100) });
const QuarantinePage = z.object({ after: z.string().max(200).optional(), limit: wholeNumber({ least: 1, most: 1_000 }).default(1_000) });

export function mountTrainerLines(app: App): void {
  mountVersions(app);
  mountLearned(app);
}

/** Which versions there are, and what one has to pass and may take up. */
function mountVersions(app: App): void {
  app.get("/trainer/v1/agents", async (context) => {
    await takeUpAgents(context.env);
    // Every trainer asks again and again: their objects are left alone.
    const listed = await readAgents(context.env.DB, context.var.key.agents);
    return context.json({ agents: listed.map(({ name }) => ({ agent: name, line: SHARED_LINE })) });
  });

  app.get(`${LINE}/head`, async (context) => {
    const { agent, line, ask } = lineIn(context);
    const head = await ask((object) => object.head(line));
    await checkFollowed(context.env, line, head.cursor);
    await takeUp(context.env, { agent });
    return context.json(head);
  });

  app.get(`${LINE}/versions/:version`, async (context) => {
    const version = versionParam(context);
    return context.json(await lineIn(context).ask((agent, line) => agent.version(line, version), `version ${version} of `));
  });

  app.get(`${LINE}/rebuild`, async (context) => context.json({ rebuild: await lineIn(context).ask((agent, line) => agent.rebuild(line)) }));

  app.get(`${LINE}/suite`, async (context) => context.json({ cases: await lineIn(context).ask((agent, line) => agent.suite(line)) }));

  app.get(`${LINE}/notes`, async (context) => {
    const notes = await lineIn(context).ask((agent, line) => agent.notes(line));
    // Only a version that learned from a note, or one that descends from it, can have taken it up.
    const open = notes.filter(({ status, learnedBy }) => status === "inForce" && learnedBy !== null);
    return context.json({ notes: open.slice(0, MOST_REVIEWED) });
  });
}

/** What is learned from, was learned from, and must not be; events with their judgements, since none is judged again. */
function mountLearned(app: App): void {
  app.post(`${LINE}/events`, async (context) => {
    const agent = agentParam(context);
    const { ids } = await parseJson(context.req.raw, EventIds);
    return context.json({ events: await judgedEvents(context.env, agent, ids) });
  });

  app.get(`${LINE}/reopened`, async (context) => {
    const { agent, ask } = lineIn(context);
    const ids = await ask((object, line) => object.reopened(line, MOST_REOPENED));
    return context.json({ ids, events: await judgedEvents(context.env, agent, [...new Set(ids.map(eventIdOf))]) });
  });

  app.get(`${LINE}/learned`, async (context) => context.json({ events: await lineIn(context).ask((agent, line) => agent.learned(line)) }));

  app.get(`${LINE}/influence`, async (context) => context.json(await lineIn(context).ask((agent, line) => agent.influence(line))));

  app.get(`${LINE}/quarantine`, async (context) => {
    const { ask } = lineIn(context);
    const page = queryOf(context, QuarantinePage);
    const barred = await ask((agent, line) => agent.quarantined(line, page));
    return context.json({ events: barred.map(({ eventId, turnId }) => ({ eventId, turnId })) });
  });

  app.post(`${LINE}/withdrawn`, async (context) => {
    const { ask } = lineIn(context);
    const { ids } = await parseJson(context.req.raw, EventIds);
    return context.json({ withdrawn: await ask((agent, line) => agent.withdrawn(line, ids)) });
  });
}

function judgedEvents(log: EventLog, agent: string, ids: readonly string[]): ReturnType<typeof eventsById> {
  return eventsById(log, { agent, ids: ids.flatMap((id) => [id, judgementIdOf(id)]) });
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
