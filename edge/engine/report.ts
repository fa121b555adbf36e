/** What an engine told of its tokens → what may be trained on. Checked against the engine's own counts; what does not add up is not used. Pure. */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { AnswerForm } from "../../shared/grammar/answer-form.ts";
import type { EngineReport } from "./port.ts";

export type Told = {
  /** Undefined where the engine does not say. */
  readonly promptTokens: readonly number[] | undefined;
  readonly responseTokens: readonly number[];
  readonly logProbs: readonly number[];
  /** As its usage states them; undefined where it states none. */
  readonly promptCount: number | undefined;
  readonly responseCount: number | undefined;
};

/**
 * @param silence why the engine was not asked for ids, where it was not
 * @param distortion why its log-probs are not of the distribution that was sampled from, where they are not
 */
export function reportOf(
  told: Told,
  { silence, distortion }: { silence: string | undefined; distortion: string | undefined },
): EngineReport {
  const { promptTokens = [], responseTokens, logProbs } = told;
  const responseCount = told.responseCount ?? responseTokens.length;
  const nothing = { promptTokens: [], responseTokens: [], rolloutLogProbs: [], responseCount };
  const missing = silence ?? missingTokens(told);
  if (missing !== undefined) return { ...nothing, unusable: missing };
  const unusable = distortion ?? missingLogProbs(told);
  return { promptTokens, responseTokens, rolloutLogProbs: unusable === undefined ? logProbs : [], responseCount, unusable };
}

/** Why log-probs are not of the distribution sampled from; undefined where they are. `atTemperature`: the engine reports those of after it. */
export function distortionOf(
  { temperature, toolChoice, responseFormat }: Pick<AnswerForm, "toolChoice" | "responseFormat"> & { temperature: number },
  { tools, atTemperature }: { tools: readonly ToolDefinition[]; atTemperature: boolean },
): string | undefined {
  if (isHeld({ toolChoice, responseFormat }, tools)) return "the engine held the answer to a form, and reports log-probs of before";
  // At temperature 0 log-probs are those of temperature 1 by definition.
  if (atTemperature || temperature === 0 || temperature === 1) return undefined;
  return `the engine reports log-probs of temperature 1, and the answer was drawn at ${temperature}`;
}

/** Whether a grammar of the engine shapes the answer. */
export function isHeld(
  { toolChoice, responseFormat }: Pick<AnswerForm, "toolChoice" | "responseFormat">,
  tools: readonly ToolDefinition[],
): boolean {
  const mustCall = toolChoice !== "auto" && toolChoice !== "none";
  const strict = toolChoice !== "none" && tools.some((tool) => tool.function.strict === true);
  return mustCall || strict || responseFormat.type !== "text";
}

function missingTokens({ promptTokens, responseTokens, promptCount, responseCount }: Told): string | undefined {
  if (promptTokens === undefined || promptTokens.length === 0) return "the engine did not report the ids of the prompt";
  if (promptCount === undefined || responseCount === undefined) return "the engine did not state how many tokens there were";
  if (promptTokens.length !== promptCount) return `the engine reported ${promptTokens.length} prompt tokens and stated ${promptCount}`;
  if (responseTokens.length > 0 && responseTokens.length === responseCount) return undefined;
  return `the engine reported ${responseTokens.length} response tokens and stated ${responseCount}`;
}

function missingLogProbs({ responseTokens, logProbs }: Told): string | undefined {
  if (logProbs.length !== responseTokens.length)
    return `the engine reported ${responseTokens.length} response tokens and log-probs of ${logProbs.length}`;
  // −9999 and the like stand for what has no log-prob.
  return logProbs.every((each) => Number.isFinite(each) && each <= 0 && each > -1000)
    ? undefined
    : "the engine reported log-probs that are none";
}
