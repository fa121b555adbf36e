/** GET /api/agents/:agent/turns: conversations turn by turn, each with what came of it. */
import { z } from "zod";
import type { ListedTurn, TrainedOn } from "../../shared/api.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { agentOf } from "../agent/port.ts";
import { listTurns } from "../db/turns.ts";
import type { App } from "../env.ts";
import { agentParam, found, queryOf } from "./params.ts";
import { wholeNumber } from "../whole-number.ts";

const REWARDS = { "-1": -1, "0": 0, "1": 1 } as const;

export const TurnsQuery = z.strictObject({
  before: wholeNumber().optional(),
  /** Each with all that followed it. */
  limit: wholeNumber({ least: 1, most: 50 }).default(20),
  user: z.string().max(100).optional(),
  /** All of them in one message, in the feedback, or in the hint; of three letters and more, their beginnings. */
  words: z.string().trim().min(1).max(200).optional(),
  reward: z
    .enum(["-1", "0", "1", "none"], "must be -1, 0, 1, or none for turns that were not judged yet")
    .transform((reward) => (reward === "none" ? reward : REWARDS[reward]))
    .optional(),
  version: wholeNumber().optional(),
  session: z
    .string()
    .regex(/^s_[0-9a-f]{32}$/, "must be the id of a session, as x-session-id states it")
    .optional(),
});

export function mountTurns(app: App): void {
  app.get("/api/agents/:agent/turns", async (context) => {
    const agent = agentParam(context);
    const query = queryOf(context, TurnsQuery);
    found(await agentOf(context.env, agent).read(), `agent ${agent}`);
    const turns = await listTurns(context.env, { agent, ...query });
    const known: (TrainedOn & { turnId: string })[] = [];
    for (const line of new Set([SHARED_LINE, ...turns.map((turn) => turn.line)])) {
      const own = turns.filter((turn) => line === SHARED_LINE || turn.line === line).map(({ turnId }) => turnId);
      known.push(...(await agentOf(context.env, agent).trainedOn(line, own)));
    }
    const trainedOf = (of: string): TrainedOn[] => known.flatMap(({ turnId, ...trained }) => (turnId === of ? [trained] : []));
    return context.json({ turns: turns.map((turn): ListedTurn => ({ ...turn, trained: trainedOf(turn.turnId) })) });
  });
}
