/** What a version is held to by the defaults that it carries, so that its gate asks for what would go out. */
import { appliesTo } from "../../shared/aspects.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { type HeldDefault, inheritKept, type LearnedDefault } from "../../shared/learned-defaults.ts";
import type { LineHead, VersionFiles } from "../../shared/policy.ts";
import type { Reach, Standing } from "../../shared/reach.ts";
import { isMadeUp, passedFor, reworded } from "../../shared/held-notes.ts";
import { findTool } from "../../shared/speech/calls.ts";
import { valueIn } from "../../shared/speech/parameters.ts";
import type { CarriedDefault, Heard } from "../../shared/yielding.ts";
import { unlessGone } from "../feed/gone.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import { type Answerer, groundOf, replacedBy } from "../learn/batch/ground.ts";
import type { AnswerCall, ReadAnswer } from "../teacher/answer-text.ts";

/** A default that a version carries, with the version that knows nothing of it, where that can be asked. */
export type GateDefault = CarriedDefault & { readonly before?: Pick<VersionFiles, "adapter"> };

/** Loads the adapter of a version before; null for the bare base, undefined where its files are gone. */
export type LoadBefore = (files: VersionFiles["adapter"]) => Promise<AdapterTensors | null | undefined>;

/** What a candidate is served with, and what it takes the place of. */
export type Carried = {
  /** Newest first; of what it takes the place of, and of the candidate with all that it has learned. */
  readonly carried: { readonly before: readonly GateDefault[]; readonly after: readonly GateDefault[] };
  readonly loadBefore: LoadBefore;
  /** What it takes the place of, with those that answer beside it. */
  readonly standing: Standing<Answerer>;
  /** The tools that the candidate answers for; null where for all. */
  readonly reach: Reach;
  /** Who answers beside it where nothing was learned; absent where nobody else does. */
  readonly outside?: Answerer;
};

/** What a personal line learns on new ground knows that ground before it. Engines elsewhere have one version answer for all. */
export function carriedBy(
  head: LineHead,
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
  const [ground, replaced] = [groundOf(head), replacedBy(head)];
  // Of the candidate itself nobody asks anything.
  const { defaults: after, answering } = inheritKept<Answerer | undefined>(
    { bound: ground.version, ...ground.kept },
    { by: undefined, learned, reach },
  );
  const isAlone = head.onEngine || answering === null;
  return {
    carried: { before: replaced.kept.defaults, after },
    loadBefore: (adapter) => unlessGone(() => loadAdapter({ baseDigest: head.baseDigest, adapter })),
    standing: { bound: replaced.version, answering: head.onEngine ? null : replaced.kept.answering },
    reach: isAlone ? null : reach,
    ...(!isAlone && answering.outside && { outside: answering.outside }),
  };
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
  return filled(answer, passed, heard.tools);
}

/** The answer with defaults in its first call, as the types of its tool's schema have them; what that has no place for is left, as a call cannot be held to it. */
export function filled<Answer extends Pick<ReadAnswer, "calls">>(
  answer: Answer,
  defaults: readonly HeldDefault[],
  tools: readonly ToolDefinition[],
): Answer {
  const [first, ...others] = answer.calls;
  const tool = first === undefined ? undefined : findTool(tools, first.name);
  if (first === undefined || tool === undefined || defaults.length === 0) return answer;
  const typed = defaults.map((each) => [each.parameter, valueIn(tool, each)] as const).filter(([, value]) => value !== undefined);
  const held: AnswerCall = { ...first, arguments: { ...first.arguments, ...Object.fromEntries(typed) } };
  return { ...answer, calls: [held, ...others] };
}
