/**
 * What a client sees of an answer that takes several turns: their text and calls in order, results of the calls that are run on this side,
 * and one end. Calls are numbered through; text of a later turn is a paragraph of its own. Pure.
 */
import type { ChatMessage, ToolCall } from "../../shared/chat.ts";
import type { ToolOutcome } from "../tools/outcome.ts";
import type { ContentLogprob, FinishedDelta, TurnDelta } from "./port.ts";
import type { OwnCall } from "./step-ledger.ts";

type Assistant = Extract<ChatMessage, { role: "assistant" }>;

/** What stands between the texts of two turns of one answer, wherever they are one text. */
export const PARAGRAPH = "\n\n";

export class ShownAnswer {
  /** Calls of the turns before. */
  #before = 0;
  #calls = 0;
  #text = "";
  #turnText = "";
  #step = 0;
  #held: { text: string; logprobs: ContentLogprob[] } | undefined;
  #usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
  #end: Pick<FinishedDelta, "finishedAt"> = {};

  /** @param runnerOf the label of who runs a call here, undefined where the client does */
  accept(
    delta: Exclude<TurnDelta, FinishedDelta | { kind: "failed" | "result" | "step" }>,
    runnerOf: (name: string) => string | undefined,
  ): TurnDelta[] {
    switch (delta.kind) {
      case "content":
        return this.#say(delta);
      case "call": {
        this.#calls += 1;
        const runner = runnerOf(delta.name);
        return [{ ...delta, index: this.#before + delta.index, ...(runner === undefined ? {} : { runner }) }];
      }
      case "arguments":
        return [{ ...delta, index: this.#before + delta.index }];
    }
  }

  result(position: number, { status, text }: ToolOutcome): TurnDelta {
    return { kind: "result", index: this.#before + position, output: text, failed: status !== "answered" };
  }

  /** Takes a turn's usage into account, and when it ended. */
  count({ promptTokens, cachedTokens, completionTokens, finishedAt }: FinishedDelta): void {
    const { promptTokens: prompt, cachedTokens: cached, completionTokens: completion } = this.#usage;
    this.#usage = {
      promptTokens: prompt + promptTokens,
      cachedTokens: cached + cachedTokens,
      completionTokens: completion + completionTokens,
    };
    this.#end = finishedAt === undefined ? {} : { finishedAt };
  }

  get completionTokens(): number {
    return this.#usage.completionTokens;
  }

  nextStep(): TurnDelta {
    this.#step += 1;
    this.#before += this.#calls;
    this.#calls = 0;
    this.#text = this.#soFar();
    this.#turnText = "";
    this.#held = undefined;
    return { kind: "step" };
  }

  /** The end of all its turns. */
  finished(finishReason: FinishedDelta["finishReason"]): FinishedDelta {
    return { kind: "finished", finishReason, ...this.#usage, ...this.#end };
  }

  /** The answer as the client will send it back. @param calls those that the client runs */
  message(calls: readonly ToolCall[]): Assistant {
    const text = this.#soFar();
    const content = text === "" && calls.length > 0 ? null : text;
    return { role: "assistant", content, ...(calls.length === 0 ? {} : { tool_calls: [...calls] }) };
  }

  #soFar(): string {
    return this.#turnText === "" || this.#text.trim() === "" ? this.#text + this.#turnText : this.#text + PARAGRAPH + this.#turnText;
  }

  /** White space before the text of a later turn waits for it: alone it is no paragraph. */
  #say(delta: Extract<TurnDelta, { kind: "content" }>): TurnDelta[] {
    if (this.#step === 0) {
      this.#turnText += delta.text;
      return [delta];
    }
    const text = (this.#held?.text ?? "") + delta.text;
    const logprobs = [...(this.#held?.logprobs ?? []), ...(delta.logprobs ?? [])];
    if (this.#turnText === "" && text.trim() === "") {
      this.#held = { text, logprobs };
      return [];
    }
    this.#held = undefined;
    this.#turnText += text;
    return [{ kind: "content", text, ...(delta.logprobs === undefined ? {} : { logprobs }) }];
  }
}

export function callsOf(answer: ChatMessage): readonly ToolCall[] {
  return answer.role === "assistant" ? (answer.tool_calls ?? []) : [];
}

/** The calls of an answer that are left to the client. */
export function otherCalls(answer: ChatMessage, own: readonly OwnCall[]): ToolCall[] {
  return callsOf(answer).filter((_, position) => !own.some((each) => each.position === position));
}

/** Whether the policy is to answer again, once the results are there: only where the client has nothing to do first. */
export function goesOn(answer: ChatMessage, own: readonly OwnCall[]): boolean {
  return own.some(({ dropped }) => !dropped) && otherCalls(answer, own).length === 0;
}

/** The answer that a turn's recorded deltas are. */
export function answerOf(deltas: readonly TurnDelta[]): Assistant {
  const calls: { id: string; name: string; text: string }[] = [];
  let content = "";
  for (const delta of deltas) {
    if (delta.kind === "content") content += delta.text;
    if (delta.kind === "call") calls[delta.index] = { id: delta.id, name: delta.name, text: "" };
    const call = delta.kind === "arguments" ? calls[delta.index] : undefined;
    if (call !== undefined && delta.kind === "arguments") call.text += delta.text;
  }
  const toolCalls = calls.map(({ id, name, text }): ToolCall => ({ id, type: "function", function: { name, arguments: text } }));
  return {
    role: "assistant",
    content: content === "" && toolCalls.length > 0 ? null : content,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
}
