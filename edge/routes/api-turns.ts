/** GET /api/agents/:agent/turns: conversations turn by turn, each with what came of it. */
import { z } from "zod";
import { agentOf } from "../agent/port.ts";
import { listTurns } from "../db/turns.ts";
import type { App } from "../env.ts";
import { agentParam, found, queryOf } from "./params.ts";

export const TurnsQuery = z.object({
  before: z.coerce.number().int().min(0).optional(),
  /** Each with all that followed it. */
  limit: z.coerce.number().int().min(1).max(50).default(20),
  user: z.string().max(100).optional(),
  session: z
    .string()
    .regex(/^s_[0-9a-f]{32}$/, "must be the id of a session, as x-session-id states it")
    .optional(),
});

export function mountTurns(app: App): void {
  app.get("/api/agents/:agent/turns", async (context) => {
    const agent = agentParam(context);
    const { before, limit, user, session } = queryOf(context, TurnsQuery);
    found(await agentOf(context.env, agent).read(), `agent ${agent}`);
    return context.json({ turns: await listTurns(context.env, { agent, before, limit, user, session }) });
  });
}
