/** The default that corrections of one argument teach, and what the base would have made up in its place. */
import { invariant } from "../../../shared/assert.ts";
import { isAspect } from "../../../shared/aspects.ts";
import { LearnedDefault } from "../../../shared/learned-defaults.ts";
import { argumentText } from "../../../shared/speech/calls.ts";
import { readAnswer } from "../../teacher/answer-text.ts";
import { askGreedily, type LearnerDependencies } from "./candidate.ts";
import type { CorrectedExchange } from "./learner.ts";
import { answerAgain, changedTurns } from "./report.ts";

/** As the latest of them says it. */
export function taughtBy(group: readonly CorrectedExchange[]): LearnedDefault {
  const { tool, parameter, hint } = latest(group).correction;
  const corrected = group.findLast(({ held }) => held !== undefined)?.held ?? null;
  return { tool: tool.function.name, parameter: parameter.name, value: hint.value, corrected };
}

/**
 * The same with what the base's own call of the corrected conversation has for the argument: a user who says nothing of it is who it makes up values for,
 * and what it does not make up it may be believed to have heard.
 */
export async function withBase(
  deps: Pick<LearnerDependencies, "engine" | "base">,
  { group, seed }: { group: readonly CorrectedExchange[]; seed: number },
): Promise<LearnedDefault> {
  const taught = taughtBy(group);
  const turns = changedTurns([latest(group)]).slice(-1);
  if (turns.length === 0 || isAspect(taught.parameter)) return taught;
  const { tokenizer } = deps.base;
  const ask = askGreedily(deps.engine, { adapter: undefined, endIds: tokenizer.endIds, seed });
  const [answer = []] = await answerAgain(deps, { turns, ask });
  const call = readAnswer(tokenizer, answer).calls.find(({ name }) => name === taught.tool);
  const value = call?.arguments[taught.parameter];
  const told = { ...taught, byBase: value === undefined ? null : argumentText(value) };
  // Of a value too long to keep nothing is known.
  return LearnedDefault.shape.byBase.safeParse(told.byBase).success ? told : taught;
}

export function latest(group: readonly CorrectedExchange[]): CorrectedExchange {
  const last = group.at(-1);
  invariant(last !== undefined, "a group of corrections holds one");
  return last;
}
