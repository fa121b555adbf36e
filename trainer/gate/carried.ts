/** What a version is held to by the defaults that it carries, so that its gate asks for what would go out. */
import { appliesTo, toolsOf } from "../../shared/aspects.ts";
import { type HeldDefault, inheritDefaults, type LearnedDefault } from "../../shared/learned-defaults.ts";
import type { LineHead, VersionFiles } from "../../shared/policy.ts";
import { isSameVersion, type Numbered, type Reach, versionFor } from "../../shared/reach.ts";
import { isMadeUp, passedFor, reworded } from "../../shared/held-notes.ts";
import type { CarriedDefault, Heard } from "../../shared/yielding.ts";
import { unlessGone } from "../feed/gone.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { UpdateRequest } from "../learn/update/learner.ts";
import { groundOf } from "../learn/batch/ground.ts";
import type { AnswerCall, ReadAnswer } from "../teacher/answer-text.ts";

/** A default that a version carries, with the version that knows nothing of it, where that can be asked. */
export type GateDefault = CarriedDefault & { readonly before?: Pick<VersionFiles, "adapter"> };

/** Loads the adapter of a version before; null for the bare base, undefined where its files are gone. */
export type LoadBefore = (files: VersionFiles["adapter"]) => Promise<AdapterTensors | null | undefined>;

function outsideBefore({ parentDefaults, parentOutside, outside }: Omit<Parent, "baseDigest">): VersionFiles | null {
  return parentDefaults === null ? outside : parentOutside;
}

/** What the next version is held to unless it learns otherwise, newest first. */
export function defaultsBefore({ parentDefaults, defaults }: Pick<LineHead, "parentDefaults" | "defaults">): LineHead["defaults"] {
  return parentDefaults ?? defaults;
}

type Parent = Pick<LineHead, "baseDigest" | "parentAdapter" | "over" | "onEngine"> &
  Pick<LineHead, "parentDefaults" | "defaults" | "parentOutside" | "outside">;

/** What goes out in the place of a line's next version until there is one: what answers are held to, and of which tools another version than its parent makes them. */
export function standingOf(head: Parent & Pick<LineHead, "line" | "parent">): Pick<UpdateRequest, "carried" | "othersAnswer"> {
  const bound = { line: head.line, version: head.parent };
  const stood = { bound, defaults: defaultsBefore(head), outside: outsideBefore(head) };
  return { carried: stood.defaults, othersAnswer: (tool) => !head.onEngine && !isSameVersion(versionFor<Numbered>(tool, stood), bound) };
}

/** What a candidate is served with, and its parent. */
export type Carried = {
  /** Newest first; of the parent, and of the candidate with all that it has learned. */
  readonly carried: { readonly before: readonly GateDefault[]; readonly after: readonly GateDefault[] };
  readonly loadBefore: LoadBefore;
  /** The tools that the candidate answers for; undefined where for all. */
  readonly answersFor: ReadonlySet<string> | undefined;
};

/** What a personal line learns on new ground knows that ground before it. Engines elsewhere have one version answer for all. */
export function carriedBy(
  { baseDigest, ...head }: Parent,
  {
    learned,
    reach,
    loadAdapter,
  }: {
    learned: readonly LearnedDefault[];
    reach: Reach;
    loadAdapter: (version: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
  },
): Carried {
  const before = defaultsBefore(head);
  const stood = { bound: { adapter: groundOf(head) }, defaults: before, outside: outsideBefore(head) };
  const after = inheritDefaults<GateDefault["before"]>(before, learned, {
    before: (tool) => versionFor(tool, stood),
    by: undefined,
    reach,
  });
  const answersFor = reach === "everything" || head.onEngine ? undefined : new Set(learned.flatMap(toolsOf));
  return { carried: { before, after }, answersFor, loadBefore: (adapter) => unlessGone(() => loadAdapter({ baseDigest, adapter })) };
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
