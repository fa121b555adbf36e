/** /api/users: who is who, and the end of what is known of somebody. */
import { z } from "zod";
import { SHARED_LINE } from "../../shared/policy.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import { deletionsOf, eraseEvents, recordDeletion, tracesOf } from "../db/deletions.ts";
import { appendEvents, signalsOfUser } from "../db/events.ts";
import type { App } from "../env.ts";
import { parseWith } from "../http-errors.ts";
import { reaches } from "../scope.ts";
import { scopedUser } from "../session/identity.ts";
import { sessionOf } from "../session/port.ts";
import { actorOf, found, queryOf } from "./params.ts";

const AT_ONCE = 20; // sessions that are told at the same time

const UserParam = z.object({
  user: z.string().regex(/^u_[0-9a-f]{16}$/, "must be the id of a user, u_ and 16 digits; GET /api/users?key=&user= tells it"),
});
export const WhoQuery = z.strictObject({
  /** The id of the key under which the user came. */
  key: z.string().min(1).max(100),
  /** `safety_identifier` or `user` as the request had it; left out: the key itself. */
  user: z.string().max(256).optional(),
});

export function mountUsers(app: App): void {
  app.get("/api/users", async (context) => {
    const { key, user } = queryOf(context, WhoQuery);
    return context.json({ user: await scopedUser(key, user) });
  });

  app.delete("/api/users/:user", async (context) => {
    const { user } = parseWith(UserParam, context.req.param());
    const { env } = context;
    const traces = (await tracesOf(env, user)).filter(({ agent }) => reaches(context.var.key.agents, agent));
    found(traces[0], `user ${user}`);
    const now = Date.now();
    const names = [...new Set(traces.map(({ agent }) => agent))];
    for (const agent of names) await recordDeletion(env, { agent, user, requestedAt: now });
    // Sessions first: what they still owe to the log goes with them.
    const sessions = [...new Set(traces.map(({ sessionId }) => sessionId))].filter((sessionId) => sessionId !== "");
    for (let start = 0; start < sessions.length; start += AT_ONCE)
      await Promise.all(sessions.slice(start, start + AT_ONCE).map((sessionId) => sessionOf(env, sessionId).erase(user)));
    const agents = [];
    for (const agent of names) {
      const signals = await signalsOfUser(env, { agent, user });
      const events = await eraseEvents(env, { agent, user });
      // Before the rebuild is asked for, so that whoever does it has forgotten the user.
      const told = [SHARED_LINE, user].map((line) => ({
        ...{ eventId: `${agent}/${user}/deleted/${now}/${line}`, agent, line, sessionId: "", turnId: "", user },
        ...{ createdAt: new Date(now).toISOString(), payload: { kind: "user:deleted" as const } },
      }));
      const seq = await appendEvents(env, told);
      const forgotten = await agentOf(env, agent).forgetUser(SHARED_LINE, { user, events: signals, sessions }, actorOf(context));
      await agentOf(env, agent).eventsAppended(seq);
      forgetLineHead(agent, SHARED_LINE);
      agents.push({ agent, events, ...forgotten });
    }
    return context.json({ user, sessions: sessions.length, agents }, agents.some(({ state }) => state === "rebuilding") ? 202 : 200);
  });

  app.get("/api/users/:user/deletion", async (context) => {
    const { user } = parseWith(UserParam, context.req.param());
    const names = (await deletionsOf(context.env, user)).filter((name) => reaches(context.var.key.agents, name));
    const agents = [];
    for (const agent of names)
      agents.push({ agent, state: (await agentOf(context.env, agent).rebuild(SHARED_LINE)) === null ? "done" : "rebuilding" });
    found(agents[0], `deletion of user ${user}`);
    return context.json({ user, agents });
  });
}
