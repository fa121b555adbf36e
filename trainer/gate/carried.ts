/** What a version is held to by the defaults that it carries, so that its gate asks for what would go out. Pure. */
import { appliesTo } from "../../shared/aspects.ts";
import { inheritDefaults, type LearnedDefault } from "../../shared/learned-defaults.ts";
import type { LineHead } from "../../shared/policy.ts";
import { isMadeUp, passedFor, reworded } from "../../shared/held-notes.ts";
import type { CarriedDefault, Heard } from "../../shared/yielding.ts";
import type { AnswerCall, ReadAnswer } from "../teacher/answer-text.ts";

/** What the next version is held to unless it learns otherwise, newest first. */
export function defaultsBefore({ parentDefaults, defaults }: Pick<LineHead, "parentDefaults" | "defaults">): LineHead["defaults"] {
  return parentDefaults ?? defaults;
}

/** What a candidate's parent is held to, and what the candidate itself is with all that it has learned; newest first. */
export function carriedBy(
  head: Pick<LineHead, "parent" | "parentDefaults" | "defaults">,
  learned: readonly LearnedDefault[],
): { before: readonly CarriedDefault[]; after: readonly CarriedDefault[] } {
  const before = defaultsBefore(head);
  return { before, after: inheritDefaults<unknown>(before, learned, head.parent) };
}

/**
 * An answer with the defaults in its first call that it passes over, or a reply worded as they have it. Who has not learned them is not asked, as the edge
 * does: of numbers and truths only those count that were made up when they were corrected.
 */
export function carrying<Answer extends Pick<ReadAnswer, "calls" | "text">>(
  answer: Answer,
  { carried, heard }: { carried: readonly CarriedDefault[]; heard: Heard },
): Answer {
  const standing = carried.filter(({ held }) => held !== false);
  const [first, ...others] = answer.calls;
  if (first === undefined) {
    const wordings = standing.filter((each) => appliesTo(each, heard.tools));
    return answer.text === "" ? answer : { ...answer, text: reworded(wordings, { text: answer.text, heard }) };
  }
  const passed = standing.filter((each) => {
    const used = passedFor(each, { call: first, heard });
    return used !== undefined && isMadeUp(used, each.corrected);
  });
  const held: AnswerCall = {
    ...first,
    arguments: { ...first.arguments, ...Object.fromEntries(passed.map(({ parameter, value }) => [parameter, value])) },
  };
  return passed.length === 0 ? answer : { ...answer, calls: [held, ...others] };
}
