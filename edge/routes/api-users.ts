/** /api/users: who is who, and the end of what is known of somebody. */
import { z } from "zod";
import { SHARED_LINE } from "../../shared/policy.ts";
import { agentOf } from "../agent/port.ts";
import { deletionsOf, recordDeletions, tracesOf } from "../db/deletions.ts";
import type { App } from "../env.ts";
import { parseWith } from "../http-errors.ts";
import { reaches } from "../scope.ts";
import { scopedUser } from "../session/identity.ts";
import { actorOf, found, queryOf } from "./params.ts";
import { carryOut, takeUp } from "./user-deletion.ts";

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
    const traces = (await tracesOf(env, { user })).filter(({ agent }) => reaches(context.var.key.agents, agent));
    found(traces[0], `user ${user}`);
    const now = Date.now();
    const names = [...new Set(traces.map(({ agent }) => agent))];
    const requested = names.map((agent) => ({ agent, user, requestedAt: now, actor: actorOf(context) }));
    await recordDeletions(env, requested);
    const agents = [];
    let sessions = 0;
    for (const deletion of requested) {
      const { sessions: own, ...forgotten } = await carryOut(env, deletion);
      sessions += own;
      agents.push(forgotten);
    }
    return context.json({ user, sessions, agents }, agents.some(({ state }) => state === "rebuilding") ? 202 : 200);
  });

  app.get("/api/users/:user/deletion", async (context) => {
    const { user } = parseWith(UserParam, context.req.param());
    await takeUp(context.env, { user });
    const asked = (await deletionsOf(context.env, user)).filter(({ agent }) => reaches(context.var.key.agents, agent));
    const agents = [];
    for (const { agent, isFinished } of asked) {
      const isRebuilt = (await agentOf(context.env, agent).rebuild(SHARED_LINE)) === null;
      agents.push({ agent, state: isFinished ? (isRebuilt ? "done" : "rebuilding") : "erasing" });
    }
    found(agents[0], `deletion of user ${user}`);
    return context.json({ user, agents });
  });
}
