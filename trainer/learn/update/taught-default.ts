/** The default that corrections of one argument teach, and what the base would have made up in its place. */
import { invariant } from "../../../shared/assert.ts";
import { isAspect } from "../../../shared/aspects.ts";
import { sampledBy } from "../../../shared/events.ts";
import { LearnedDefault } from "../../../shared/learned-defaults.ts";
import { type Place, samePlace } from "../../../shared/yielding.ts";
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
 * The same with what the base's own calls of the corrected conversations have for the argument: where users say nothing of it is where values are made up, and
 * another one it may be believed to have heard. Where it calls the tool in none of them nothing is known.
 */
export async function withBase(
  deps: Pick<LearnerDependencies, "engine" | "base">,
  { group, seed }: { group: readonly CorrectedExchange[]; seed: number },
): Promise<LearnedDefault> {
  const taught = taughtBy(group);
  const turns = isAspect(taught.parameter) ? [] : changedTurns(group);
  if (turns.length === 0) return taught;
  const { tokenizer } = deps.base;
  const ask = askGreedily(deps.engine, { adapter: undefined, endIds: tokenizer.endIds, seed });
  const answers = await answerAgain(deps, { turns, ask });
  const calls = answers.flatMap((answer) =>
    readAnswer(tokenizer, answer)
      .calls.filter(({ name }) => name === taught.tool)
      .slice(0, 1),
  );
  if (calls.length === 0) return taught;
  // What it said when it was corrected it had drawn, or said under other notes, unless it was held to it.
  const drawn = group.flatMap(({ turns: own, held }) => (held !== undefined && own.every((turn) => isFree(turn, taught)) ? [held] : []));
  const filled = calls.flatMap(({ arguments: args }) =>
    args[taught.parameter] === undefined ? [] : [argumentText(args[taught.parameter])],
  );
  const { data: byBase } = LearnedDefault.shape.byBase.safeParse([...new Set([...drawn, ...filled])]);
  // Of values too long to keep nothing is known.
  return byBase === undefined ? taught : { ...taught, byBase };
}

/** Whether the base has said it of its own accord. */
function isFree(turn: CorrectedExchange["turns"][number], place: Place): boolean {
  return sampledBy(turn).version === 0 && turn.payload.heldTo?.some((each) => samePlace(each, place)) !== true;
}

export function latest(group: readonly CorrectedExchange[]): CorrectedExchange {
  const last = group.at(-1);
  invariant(last !== undefined, "a group of corrections holds one");
  return last;
}
