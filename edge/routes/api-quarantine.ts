/** /api/agents/:agent/quarantine, …/events/:event, …/users/:user: what was learned from whom, and how people bar it. */
import { z } from "zod";
import { SHARED_LINE } from "../../shared/policy.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf, type AgentPort, type EventUse } from "../agent/port.ts";
import { eventsById, signalsOfUser } from "../db/events.ts";
import type { App } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { actorOf, agentParam, found, PageLimit, queryOf } from "./params.ts";

const EventId = z.string().min(1).max(200);
const UserId = z.string().min(1).max(100);
const Reason = z.string().max(1_000).optional();
export const BarRequest = z.union([
  z.strictObject({ events: z.array(EventId).min(1).max(100), reason: Reason }),
  z.strictObject({ user: UserId, reason: Reason }),
]);
export const FreeRequest = z.strictObject({ events: z.array(EventId).min(1).max(100), reason: Reason });
export const QuarantinePage = z.object({ after: EventId.optional(), limit: PageLimit });

export function mountQuarantine(app: App): void {
  app.get("/api/agents/:agent/quarantine", async (context) => {
    const name = agentParam(context);
    const page = queryOf(context, QuarantinePage);
    return context.json({ events: found(await agentOf(context.env, name).quarantined(SHARED_LINE, page), `agent ${name}`) });
  });

  app.post("/api/agents/:agent/quarantine", async (context) => {
    const name = agentParam(context);
    const { reason, ...what } = await parseJson(context.req.raw, BarRequest);
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const events =
      "user" in what
        ? await signalsOfUser(context.env, { agent: name, user: what.user })
        : await eventsById(context.env, { agent: name, ids: what.events });
    if ("events" in what)
      for (const id of what.events)
        found(
          events.find(({ eventId }) => eventId === id),
          `event ${id} of agent ${name}`,
        );
    const barred = await agent.quarantine(
      SHARED_LINE,
      events.map(({ eventId, turnId, seq }) => ({ eventId, turnId, seq })),
      {
        actor: actorOf(context),
        reason,
      },
    );
    forgetLineHead(name, SHARED_LINE);
    return context.json({ status: "quarantined", events: barred });
  });

  app.post("/api/agents/:agent/quarantine/release", async (context) => {
    const name = agentParam(context);
    const { events, reason } = await parseJson(context.req.raw, FreeRequest);
    const freed = await agentOf(context.env, name).free(SHARED_LINE, events, { actor: actorOf(context), reason });
    forgetLineHead(name, SHARED_LINE);
    return context.json({ status: "released", events: found(freed, `agent ${name}`) });
  });

  // An event's id holds slashes.
  app.get("/api/agents/:agent/events/:event{.+}", async (context) => {
    const name = agentParam(context);
    const { event: eventId } = parseWith(z.object({ event: EventId }), context.req.param());
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const [event] = await eventsById(context.env, { agent: name, ids: [eventId] });
    const used = await versionsOf(agent, await agent.uses(SHARED_LINE, { eventId }));
    return context.json({ event: found(event, `event ${eventId} of agent ${name}`), versions: used });
  });

  app.get("/api/agents/:agent/users/:user", async (context) => {
    const name = agentParam(context);
    const { user } = parseWith(z.object({ user: UserId }), context.req.param());
    const agent = agentOf(context.env, name);
    found(await agent.read(), `agent ${name}`);
    const uses = await agent.uses(SHARED_LINE, { user });
    const events = [...new Set(uses.map(({ eventId }) => eventId))];
    return context.json({ user, events, versions: await versionsOf(agent, uses) });
  });
}

/** The versions among uses, with what has become of each. */
async function versionsOf(agent: AgentPort, uses: readonly EventUse[]): Promise<{ version: number; status: string }[]> {
  const numbers = [...new Set(uses.map(({ version }) => version))].toSorted((a, b) => a - b);
  const versions = await Promise.all(numbers.map((version) => agent.version(SHARED_LINE, version)));
  return versions.filter((version) => version !== undefined).map(({ version, status }) => ({ version, status }));
}
