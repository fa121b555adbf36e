/** GET /api/agents/:agent/series: turns, rewards and corrections over time, for charts. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { agentOf } from "../agent/port.ts";
import { readSeries } from "../db/series.ts";
import type { App } from "../env.ts";
import { agentParam, found, queryOf } from "./params.ts";

const STEP_MS = { hour: 3_600_000, day: 86_400_000 } as const;
const DEFAULT_POINTS = { hour: 48, day: 30 } as const;
const MOST_POINTS = 1_000;

export const SeriesQuery = z.strictObject({
  step: z.enum(["hour", "day"]).default("day"),
  /** Default: now. */
  to: z.iso.datetime().optional(),
  /** Default: 48 hours or 30 days before. */
  from: z.iso.datetime().optional(),
});

export function mountSeries(app: App): void {
  app.get("/api/agents/:agent/series", async (context) => {
    const agent = agentParam(context);
    const { step, from, to } = queryOf(context, SeriesQuery);
    found(await agentOf(context.env, agent).read(), `agent ${agent}`);
    const stepMs = STEP_MS[step];
    // Whole intervals in UTC: one that has begun is told of as far as it has come.
    const toMs = Math.ceil((to === undefined ? Date.now() : Date.parse(to)) / stepMs) * stepMs;
    const fromMs = from === undefined ? toMs - DEFAULT_POINTS[step] * stepMs : Math.floor(Date.parse(from) / stepMs) * stepMs;
    const points = (toMs - fromMs) / stepMs;
    if (points < 1 || points > MOST_POINTS)
      throw new AppError("input/invalid", `from and to: 1 to ${MOST_POINTS} intervals of one ${step} expected, got ${points}`, {
        details: { param: "from" },
      });
    return context.json({ agent, step, points: await readSeries(context.env.DB, { agent, fromMs, toMs, stepMs }) });
  });
}
