/** The learning product as a bench sees it: it answers, it hears objections, it may answer differently afterwards. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { AnswerCall } from "../../trainer/teacher/answer-text.ts";

export type Prompted = { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] };

export type Answer = { readonly text: string; readonly calls: readonly AnswerCall[]; readonly message: ChatMessage };

/** A user objects to an answer after its call has run. */
export type Objection = {
  readonly request: Prompted;
  readonly answer: Answer;
  readonly result: string;
  readonly objection: ChatMessage;
  readonly seed: number;
};

export type Heard = {
  /** The hint that came of it. */
  readonly hint: string | undefined;
  readonly learned: boolean;
  /** Metrics or reason, for people. */
  readonly note: string;
  /** From the objection until the new version answers; undefined where nothing was tried. */
  readonly seconds: number | undefined;
};

export interface LearningSystem {
  readonly path: string;
  /** Greedy first answers of fresh conversations, without notes. `bare` asks the base without what was learnt. */
  answer(requests: readonly Prompted[], options?: { bare?: boolean }): Promise<Answer[]>;
  /** The same without holding them to the defaults that a version carries, where that can be asked. */
  byWeights?(requests: readonly Prompted[]): Promise<Answer[]>;
  object(objection: Objection): Promise<Heard>;
  /** Another agent: nothing learnt, nothing remembered. */
  forget(): Promise<void>;
  close(): Promise<void>;
}
