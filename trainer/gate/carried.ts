/** What a version is held to by the defaults that it carries, so that its gate asks for what would go out. Pure. */
import { isMadeUp, passedFor } from "../../shared/held-notes.ts";
import type { CarriedDefault, Heard } from "../../shared/yielding.ts";
import type { AnswerCall, ReadAnswer } from "../teacher/answer-text.ts";

/**
 * An answer with the defaults in its first call that it passes over. Who has not learned them is not asked, as the edge does: of numbers and truths
 * only those count that were made up when they were corrected.
 */
export function carrying<Answer extends Pick<ReadAnswer, "calls">>(
  answer: Answer,
  { carried, heard }: { carried: readonly CarriedDefault[]; heard: Heard },
): Answer {
  const [first, ...others] = answer.calls;
  if (first === undefined) return answer;
  const passed = carried.filter((each) => {
    const used = each.held === false ? undefined : passedFor(each, { call: first, heard });
    return used !== undefined && isMadeUp(used, each.corrected);
  });
  const held: AnswerCall = {
    ...first,
    arguments: { ...first.arguments, ...Object.fromEntries(passed.map(({ parameter, value }) => [parameter, value])) },
  };
  return passed.length === 0 ? answer : { ...answer, calls: [held, ...others] };
}
