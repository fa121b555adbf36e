/** What a version is held to by the defaults that it carries, so that its gate asks for what would go out. */
import { appliesTo } from "../../shared/aspects.ts";
import { type HeldDefault, inheritDefaults, type LearnedDefault } from "../../shared/learned-defaults.ts";
import type { LineHead, ServedDefault } from "../../shared/policy.ts";
import { isMadeUp, passedFor, reworded } from "../../shared/held-notes.ts";
import type { CarriedDefault, Heard } from "../../shared/yielding.ts";
import { unlessGone } from "../feed/gone.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import { groundOf } from "../learn/batch/ground.ts";
import type { AnswerCall, ReadAnswer } from "../teacher/answer-text.ts";

/** A default that a version carries, with the version that knows nothing of it, where that can be asked. */
export type GateDefault = CarriedDefault & { readonly before?: Pick<ServedDefault["before"], "adapter"> };

/** Loads the adapter of a version before; null for the bare base, undefined where its files are gone. */
export type LoadBefore = (files: ServedDefault["before"]["adapter"]) => Promise<AdapterTensors | null | undefined>;

/** What the next version is held to unless it learns otherwise, newest first. */
export function defaultsBefore({ parentDefaults, defaults }: Pick<LineHead, "parentDefaults" | "defaults">): LineHead["defaults"] {
  return parentDefaults ?? defaults;
}

/**
 * What a candidate's parent is held to, and what the candidate itself is with all that it has learned, newest first; and how versions before are loaded.
 * What a personal line learns on new ground knows that ground before it.
 */
export function carriedBy(
  { baseDigest, ...head }: Pick<LineHead, "baseDigest" | "parentAdapter" | "parentDefaults" | "defaults" | "over">,
  {
    learned,
    loadAdapter,
  }: {
    learned: readonly LearnedDefault[];
    loadAdapter: (version: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
  },
): { carried: { before: readonly GateDefault[]; after: readonly GateDefault[] }; loadBefore: LoadBefore } {
  const before = defaultsBefore(head);
  const after = inheritDefaults<NonNullable<GateDefault["before"]>>(before, learned, { adapter: groundOf(head) });
  return { carried: { before, after }, loadBefore: (adapter) => unlessGone(() => loadAdapter({ baseDigest, adapter })) };
}

/**
 * An answer with the defaults in its first call that it passes over, or a reply worded as they have it. Who has not learned them is not asked, as the edge
 * does: of numbers and truths only those count that were made up when they were corrected. Close enough for most cases of a suite, and costs no answer.
 */
export function carrying<Answer extends Pick<ReadAnswer, "calls" | "text">>(
  answer: Answer,
  { carried, heard }: { carried: readonly CarriedDefault[]; heard: Heard },
): Answer {
  const standing = carried.filter(({ held }) => held !== false);
  const [first] = answer.calls;
  if (first === undefined) {
    const wordings = standing.filter((each) => appliesTo(each, heard.tools));
    return answer.text === "" ? answer : { ...answer, text: reworded(wordings, { text: answer.text, heard }) };
  }
  const passed = standing.filter((each) => {
    const used = passedFor(each, { call: first, heard });
    return used !== undefined && isMadeUp(used, each.corrected);
  });
  return filled(answer, passed);
}

/** The answer with defaults in its first call. */
export function filled<Answer extends Pick<ReadAnswer, "calls">>(answer: Answer, defaults: readonly HeldDefault[]): Answer {
  const [first, ...others] = answer.calls;
  if (first === undefined || defaults.length === 0) return answer;
  const held: AnswerCall = {
    ...first,
    arguments: { ...first.arguments, ...Object.fromEntries(defaults.map(({ parameter, value }) => [parameter, value])) },
  };
  return { ...answer, calls: [held, ...others] };
}
