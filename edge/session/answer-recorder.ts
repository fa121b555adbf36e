/** An engine's steps → what the client is sent, what the log keeps, and the usage that both state. */
import type { ChatMessage, ToolCall } from "../../shared/chat.ts";
import { invariant } from "../../shared/assert.ts";
import type { Rollout } from "../../shared/events.ts";
import type { AnswerForm } from "../../shared/grammar/answer-form.ts";
import type { AnswerEnd, AnswerStep, EngineReport, ShownLogProb } from "../engine/port.ts";
import type { AnswerDelta, TokenStep } from "../policy/completion.ts";
import type { ContentLogprob, FinishedDelta, TokenLogprob, TurnDelta } from "./port.ts";

// The API writes impossible tokens so; JSON has no infinity.
const MIN_LOGPROB = -9999;

export type RecorderOptions = {
  readonly logprobs: boolean;
  readonly newCallId: () => string;
};

export class AnswerRecorder {
  readonly #options: RecorderOptions;
  readonly #responseTokens: number[] = [];
  readonly #rolloutLogProbs: number[] = [];
  readonly #callIds: string[] = [];
  /** Tokens whose text has not been shown yet. */
  #pending: ContentLogprob[] = [];
  #inCall = false;
  #steps = 0;
  #end: AnswerEnd | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** How many steps of the answer have come, its end included. */
  get stepCount(): number {
    return this.#steps;
  }

  /** What one step shows the client. */
  accept(step: AnswerStep): TurnDelta[] {
    this.#steps += 1;
    if (step.kind === "end") this.#end = step;
    else if (step.kind === "token") this.#acceptToken(step);
    else this.#showLater(step.logProbs);
    return step.deltas.flatMap((delta) => this.#show(delta));
  }

  /** The answer as a message. @throws {internal} before the last step */
  message(): ChatMessage {
    const { content, calls } = this.#ended();
    const toolCalls = calls.map(({ name, arguments: text }, index): ToolCall => ({
      id: this.#callId(index),
      type: "function",
      function: { name, arguments: text },
    }));
    return { role: "assistant", content, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) };
  }

  /** The last delta. @throws {internal} before the last step */
  finished(): FinishedDelta {
    const { finishReason, reusedTokens, prefilledTokens, report } = this.#ended();
    return {
      kind: "finished",
      finishReason,
      promptTokens: reusedTokens + prefilledTokens,
      cachedTokens: reusedTokens,
      completionTokens: report?.responseCount ?? this.#responseTokens.length,
    };
  }

  /** What training needs of it. `promptTokens` is undefined where the engine encoded the prompt. @throws {internal} before the last step */
  rollout({
    promptTokens,
    seed,
    temperature,
    topP,
    form,
  }: {
    promptTokens: readonly number[] | undefined;
    seed: number;
    temperature: number;
    topP: number;
    form: AnswerForm;
  }): Rollout {
    const { masked, report } = this.#ended();
    const sampling = { seed, temperature, topP, masked, ...(masked ? { form } : {}) };
    if (report !== undefined) return { ...toTokens(report), sampling, ...this.#unusable(report) };
    invariant(promptTokens !== undefined, "an encoded prompt expected of an engine that reports no tokens, got none");
    return { promptTokens: [...promptTokens], responseTokens: this.#responseTokens, rolloutLogProbs: this.#rolloutLogProbs, sampling };
  }

  #acceptToken(step: TokenStep): void {
    this.#responseTokens.push(step.tokenId);
    this.#rolloutLogProbs.push(step.logProb);
    if (!step.special) this.#showLater([step]);
  }

  /** What is no content has no place in `logprobs.content`. */
  #showLater(logProbs: readonly ShownLogProb[]): void {
    if (!this.#options.logprobs || this.#inCall) return;
    this.#pending.push(...logProbs.map((each) => ({ ...toLogprob(each), top_logprobs: each.topLogProbs.map(toLogprob) })));
  }

  #unusable({ unusable: reason, responseCount }: EngineReport): Pick<Rollout, "unusable"> {
    const { promptTokens } = this.finished();
    return reason === undefined ? {} : { unusable: { reason, promptTokens, responseTokens: responseCount } };
  }

  #show(delta: AnswerDelta): TurnDelta[] {
    switch (delta.kind) {
      case "content":
        return [{ kind: "content", text: delta.text, ...this.#takePending() }];
      case "call:opened":
        this.#inCall = true;
        this.#pending = []; // the tokens that open a call are no content
        return [{ kind: "call", index: delta.index, id: this.#callId(delta.index), name: delta.name }];
      case "call:arguments":
        return [{ kind: "arguments", index: delta.index, text: delta.text }];
      case "call:closed":
        this.#inCall = false;
        return [];
    }
  }

  #takePending(): { logprobs?: ContentLogprob[] } {
    if (!this.#options.logprobs) return {};
    const logprobs = this.#pending;
    this.#pending = [];
    return { logprobs };
  }

  #callId(index: number): string {
    return (this.#callIds[index] ??= this.#options.newCallId());
  }

  #ended(): AnswerEnd {
    invariant(this.#end !== undefined, "an ended answer expected, got one that is still sampled");
    return this.#end;
  }
}

function toTokens({ promptTokens, responseTokens, rolloutLogProbs }: EngineReport): Omit<Rollout, "sampling"> {
  return { promptTokens: [...promptTokens], responseTokens: [...responseTokens], rolloutLogProbs: [...rolloutLogProbs] };
}

function toLogprob({ bytes, logProb }: Omit<ShownLogProb, "topLogProbs">): TokenLogprob {
  return { token: new TextDecoder().decode(bytes), logprob: Math.max(logProb, MIN_LOGPROB), bytes: [...bytes] };
}
