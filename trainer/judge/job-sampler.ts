/** What the embedded judge asks of a base: answers to the jobs that it was trained on, and how likely answers are. */
import type { JobPrompt } from "../../shared/jobs.ts";
import type { Call } from "../../shared/speech/calls.ts";
import type { CallAsked } from "./aspects.ts";
import type { ReactionModel } from "./reaction-model.ts";

/** Answers prompts with the base. One text per prompt; `temperature` 0 is greedy. */
export interface JobSampler {
  answer(prompts: readonly JobPrompt[], options: { maxTokens: number; temperature: number; seed: number }): Promise<string[]>;
  /** ln p of each answer in full after the prompt, nats. */
  score(prompt: JobPrompt, answers: readonly string[]): Promise<number[]>;
  /** The call that the base makes there if it has to make one; undefined where it does not come to its end. */
  call(asked: CallAsked, options: { seed: number }): Promise<Call | undefined>;
  /** Whether the base was taught the wish job. */
  readonly knowsWishes: boolean;
  /** What the user's words say by themselves, where that was trained. */
  readonly reactions?: ReactionModel | undefined;
  /** Whether words around a value correct a call, where that was trained. */
  readonly corrections?: ReactionModel | undefined;
}
