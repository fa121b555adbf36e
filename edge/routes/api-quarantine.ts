/** /api/agents/:agent/quarantine, …/events/:event, …/users/:user: what was learned from whom, and how people bar it. */
import type { Context } from "hono";
import { z } from "zod";
import { eventIdOf } from "../../shared/hint-id.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf, type AgentPort, type EventUse } from "../agent/port.ts";
import { eventsById, signalsOfUser } from "../db/events.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { actorOf, agentParam, found, LineQuery, PageLimit, queryOf, titleOf } from "./params.ts";

const EventId = z.string().min(1).max(200);
const UserId = z.string().min(1).max(100);
const Reason = z.string().max(1_000).optional();
export const BarRequest = z.union(
  [z.strictObject({ events: z.array(EventId).min(1).max(100), reason: Reason }), z.strictObject({ user: UserId, reason: Reason })],
  "one of events, a list of 1 to 100 ids, and user, an id, expected, with nothing but reason beside it",
);
export const LetInRequest = z.strictObject({ events: z.array(EventId).min(1).max(100), reason: Reason });
export const QuarantinePage = LineQuery.extend({ after: EventId.optional(), limit: PageLimit });

export function mountQuarantine(app: App): void {
  app.get("/api/agents/:agent/quarantine", async (context) => {
    const name = agentParam(context);
    const { line, ...page } = queryOf(context, QuarantinePage);
    return context.json({ events: found(await agentOf(context.env, name).quarantined(line, page), titleOf(name, line)) });
  });

  app.post("/api/agents/:agent/quarantine", async (context) => {
    const name = agentParam(context);
    const { reason, ...what } = await parseJson(context.req.raw, BarRequest);
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const events = await signalsToBar(context, name, what);
    const audit = { actor: actorOf(context), reason };
    const barred = await onEachLine(events, (line, own) =>
      agent.quarantine(
        line,
        own.map(({ eventId, turnId, seq }) => ({ eventId, turnId, seq })),
        audit,
      ),
    );
    forgetLineHead(name, SHARED_LINE);
    return context.json({ status: "quarantined", events: barred });
  });

  app.post("/api/agents/:agent/quarantine/release", async (context) => {
    const name = agentParam(context);
    const { reason, ...what } = await parseJson(context.req.raw, LetInRequest);
    const events = [...new Set(what.events.map(eventIdOf))];
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const known = await eventsById(context.env, { agent: name, ids: events });
    // What is barred under a name that the log does not have was barred on the shared line.
    const asked = events.map((eventId) => known.find((event) => event.eventId === eventId) ?? { eventId, line: SHARED_LINE });
    const audit = { actor: actorOf(context), reason };
    const letIn = await onEachLine(asked, (line, own) =>
      agent.letIn(
        line,
        own.map(({ eventId }) => eventId),
        audit,
      ),
    );
    forgetLineHead(name, SHARED_LINE);
    return context.json({ status: "released", events: letIn });
  });

  // An event's id holds slashes.
  app.get("/api/agents/:agent/events/:event{.+}", async (context) => {
    const name = agentParam(context);
    const eventId = eventIdOf(parseWith(z.object({ event: EventId }), context.req.param()).event);
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const [logged] = await eventsById(context.env, { agent: name, ids: [eventId] });
    const event = found(logged, `event ${eventId} of agent ${name}`);
    return context.json({ event, versions: await versionsOf(agent, await usesOn(agent, event.line, { eventId })) });
  });

  app.get("/api/agents/:agent/users/:user", async (context) => {
    const name = agentParam(context);
    const { user } = parseWith(z.object({ user: UserId }), context.req.param());
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const uses = await usesOn(agent, user, { user });
    const events = [...new Set(uses.map(({ eventId }) => eventId))];
    return context.json({ user, events, versions: await versionsOf(agent, uses) });
  });
}

/** All that a user's words could teach, or the events that are named. @throws {input/notFound} where there is nothing, or one of them is not there */
async function signalsToBar(
  { env }: Context<AppEnv>,
  agent: string,
  what: { user: string } | { events: readonly string[] },
): ReturnType<typeof signalsOfUser> {
  if ("user" in what) {
    const events = await signalsOfUser(env, { agent, user: what.user });
    found(events[0], `anything of user ${what.user} that agent ${agent} could learn from`);
    return events;
  }
  const events = await eventsById(env, { agent, ids: what.events.map(eventIdOf) });
  const known = new Set(events.map(({ eventId }) => eventId));
  for (const id of what.events) found(known.has(eventIdOf(id)) || undefined, `event ${id} of agent ${agent}`);
  return events;
}

/** Does something about events on the lines that they teach; returns how many of them it was done to. */
async function onEachLine<Event extends { line: string }>(
  events: readonly Event[],
  act: (line: string, events: readonly Event[]) => Promise<number | undefined>,
): Promise<number> {
  let done = 0;
  for (const [line, own] of Map.groupBy(events, (event) => event.line)) done += (await act(line, own)) ?? 0;
  return done;
}

async function usesOn(agent: AgentPort, line: string, where: Parameters<AgentPort["uses"]>[1]): Promise<EventUse[]> {
  const lines = [...new Set([SHARED_LINE, line])];
  return (await Promise.all(lines.map((each) => agent.uses(each, where)))).flat();
}

/** The versions among uses, with what has become of each. */
async function versionsOf(agent: AgentPort, uses: readonly EventUse[]): Promise<{ line: string; version: number; status: string }[]> {
  const used = new Map(uses.map(({ line, version }) => [JSON.stringify([line, version]), { line, version }]));
  const ordered = [...used.values()].toSorted((a, b) => a.line.localeCompare(b.line) || a.version - b.version);
  const versions = await Promise.all(ordered.map(({ line, version }) => agent.version(line, version)));
  return versions.filter((version) => version !== undefined).map(({ line, version, status }) => ({ line, version, status }));
}
