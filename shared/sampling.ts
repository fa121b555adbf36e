/** How answers are drawn: what a request may ask for, and what an agent does where one says nothing. */
import { z } from "zod";
import type { EngineSettings } from "./engine.ts";

/** Lowest temperature above 0. Far below it, 1 / temperature is no float32 any more and log-probs are no numbers. */
export const MIN_TEMPERATURE = 1e-6;

export const Temperature = z
  .number()
  .min(0)
  .max(2)
  .refine((value) => value === 0 || value >= MIN_TEMPERATURE, `0 or at least ${MIN_TEMPERATURE} expected`);
export const TopP = z.number().gt(0, "above 0 expected; for the most likely token set temperature to 0").max(1);

export const SamplingSettings = z.object({
  /** Null: 0 for the embedded policy, 1 elsewhere, as the API has it. */
  temperature: Temperature.nullable().default(null),
  topP: TopP.default(1),
});
export type SamplingSettings = z.infer<typeof SamplingSettings>;

export type Drawn = { readonly temperature: number; readonly topP: number };

/** What is in force: the request's own, then the agent's. A small policy is at its best where it is surest, as its base's `do_sample: false` says. */
export function drawnBy(
  asked: Partial<Record<keyof Drawn, number | undefined>>,
  agent: { sampling: SamplingSettings; engine: EngineSettings },
): Drawn {
  const { sampling, engine } = agent;
  return {
    temperature: asked.temperature ?? sampling.temperature ?? (engine.kind === "embedded" ? 0 : 1),
    topP: asked.topP ?? sampling.topP,
  };
}
