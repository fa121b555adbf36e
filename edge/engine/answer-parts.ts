/** An answer of an engine elsewhere as it grows: text and calls, from the pieces in which it comes. */
import { AppError } from "../../shared/errors.ts";
import { parseObject } from "../../shared/speech/calls.ts";
import type { AnswerDelta, EndStep, WrittenCall } from "../policy/completion.ts";

type FinishReason = EndStep["finishReason"];

export class AnswerParts {
  readonly #calls: { index: number; name: string; text: string }[] = [];
  #content = "";
  #open = false;

  text(text: string): AnswerDelta[] {
    this.#content += text;
    return text === "" ? [] : [{ kind: "content", text }];
  }

  /** A piece of the call that the engine numbers `index`; the first one names it. @throws {upstream/invalid} */
  call(index: number, { name, text = "" }: { name?: string | null | undefined; text?: string | null | undefined }): AnswerDelta[] {
    const last = this.#calls.at(-1);
    const deltas = last?.index === index ? [] : this.#begin(index, name);
    const call = this.#calls.at(-1);
    if (call === undefined || text === null || text === "") return deltas;
    call.text += text;
    return [...deltas, { kind: "call:arguments", index: this.#calls.length - 1, text }];
  }

  /** What is closed when no more pieces come. */
  finish(): AnswerDelta[] {
    const last = this.#calls.at(-1);
    if (!this.#open || last === undefined) return [];
    this.#open = false;
    return [{ kind: "call:closed", index: this.#calls.length - 1, valid: parseObject(last.text) !== undefined }];
  }

  get calls(): readonly WrittenCall[] {
    return this.#calls.map(({ name, text }) => ({ name, arguments: text, valid: parseObject(text) !== undefined }));
  }

  get content(): string | null {
    return this.#content === "" && this.#calls.length > 0 ? null : this.#content;
  }

  /** Engines say `stop` where a call was asked for by name; the API says that there are calls. */
  finishReason(said: "stop" | "length"): FinishReason {
    return said === "stop" && this.#calls.length > 0 ? "tool_calls" : said;
  }

  #begin(index: number, name: string | null | undefined): AnswerDelta[] {
    if (name === undefined || name === null || name === "" || this.#calls.some((call) => call.index === index))
      throw new AppError(
        "upstream/invalid",
        `the agent's engine: a call that begins with its name and comes in one go expected, got call ${index}`,
      );
    const closed = this.finish();
    this.#calls.push({ index, name, text: "" });
    this.#open = true;
    return [...closed, { kind: "call:opened", index: this.#calls.length - 1, name }];
  }
}
