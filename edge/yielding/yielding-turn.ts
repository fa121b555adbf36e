/** What an answer is made of that may be under defaults: the turn, and what may be asked about it. */
import { isAspect } from "../../shared/aspects.ts";
import type { Held, Said } from "../../shared/held-notes.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { ServedDefault, VersionFiles } from "../../shared/policy.ts";
import type { Standing } from "../../shared/reach.ts";
import { type Heard, samePlace } from "../../shared/yielding.ts";
import type { Call } from "../../shared/speech/calls.ts";
import type { CompletionRequest } from "../policy/completion.ts";
import type { Policy } from "../policy/policy.ts";

/**
 * `notes` are those that stand in the prompt, `held` those and the defaults that its calls are held to, `version` is whose answer it is. `agreedTo` is a question
 * of the policy's own: the prompt goes on with it and with a yes that nobody gave.
 */
export type YieldingCompletion = CompletionRequest & {
  readonly agreedTo?: string | undefined;
  readonly notes: readonly ServedNote[];
  readonly held: readonly Held[];
  readonly line: string;
  readonly version: number;
};

/** A version, the notes that are to stand in its prompt, the question that it is to take for agreed to, and what it is held to, in the place of which answer. */
export type Asked = {
  readonly by: VersionFiles;
  readonly notes: readonly ServedNote[];
  readonly agreedTo?: string | undefined;
  readonly hold?: { readonly to: readonly Held[]; readonly before: Said; readonly form?: ForcedForm | undefined } | undefined;
};

/** What an answer has to be, whatever the request says. */
export type ForcedForm = Partial<Pick<CompletionRequest, "toolChoice" | "responseFormat">>;

export type YieldingTurn = {
  readonly policy: Policy;
  /** Under the version that begins the answer and all notes. */
  readonly completion: YieldingCompletion;
  readonly standing: Standing<VersionFiles>;
  /** The same under another version, or with fewer notes in its prompt; undefined where there is no room for a question that was agreed to. */
  readonly completionOf: (asked: Asked) => YieldingCompletion | undefined;
  /** The bare base, under all versions. */
  readonly base: VersionFiles;
  readonly heard: Heard;
  /** What the user has put right in so many words just before. */
  readonly corrected: readonly Held[];
  /** Calls that nobody has asked for again (done-calls.ts). */
  readonly done: readonly Call[];
  /** What the bound version has learned about the tools at hand, newest first. */
  readonly defaults: readonly ServedDefault[];
};

/** What an answer is held to: notes about the same argument come first, whether they stand or have yielded. */
export function standingDefaults({ completion, defaults }: Pick<YieldingTurn, "completion" | "defaults">): ServedDefault[] {
  return defaults.filter((each) => !completion.notes.some((note) => samePlace(note, each)));
}

/** Whether the policy reads it in its prompt; what is about the whole answer it is only held to. */
export function isRead({ parameter }: Pick<Held, "parameter">): boolean {
  return !isAspect(parameter);
}
