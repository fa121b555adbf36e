/** An answer of an engine elsewhere as it grows: text and calls, from the pieces in which it comes. */
import { AppError } from "../../shared/errors.ts";
import { parseObject } from "../../shared/speech/calls.ts";
import type { AnswerDelta, EndStep, WrittenCall } from "../policy/completion.ts";

type FinishReason = EndStep["finishReason"];

type Told<Value> = Value | null | undefined;
/** What is told beside its number: an id, on the first piece or on all; its name, on the first one; and more of its arguments. */
type CallPiece = { id?: Told<string>; name?: Told<string>; text?: Told<string> };
type OpenCall = { readonly index: number; readonly name: string; id: string | undefined; text: string };

export class AnswerParts {
  readonly #calls: OpenCall[] = [];
  #content = "";
  #open = false;

  text(text: string): AnswerDelta[] {
    this.#content += text;
    return text === "" ? [] : [{ kind: "content", text }];
  }

  /**
   * A piece of the call that the engine numbers `index`; the first one names it. Some engines number all calls of an answer alike: then a
   * name under another id begins the next one or, where there are no ids, a name behind arguments that are whole. An id without a name begins
   * none, as some engines make one up for every piece; a piece of nothing says nothing. @throws {upstream/invalid}
   */
  call(index: number, { id: told, name: named, text }: CallPiece): AnswerDelta[] {
    if (!named && !text) return [];
    const [id, name] = [told === "" ? undefined : (told ?? undefined), named ?? ""];
    const last = this.#calls.at(-1);
    const next = last === undefined || last.index !== index || (name !== "" && isOther(last, id));
    const deltas = next ? this.#begin(index, { id, name }) : [];
    const call = this.#calls.at(-1);
    if (call === undefined) return deltas;
    call.id ??= id;
    if (!text) return deltas;
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

  #begin(index: number, { id, name }: { id: string | undefined; name: string }): AnswerDelta[] {
    const open = this.#calls.at(-1)?.index;
    // One that was closed before: by its id or, without ids, by a number that is not the open one's.
    const again = this.#calls.some((call) => call.index === index && (id === undefined ? index !== open : call.id === id));
    if (name === "" || again)
      throw new AppError(
        "upstream/invalid",
        `the agent's engine: a call that begins with its name and comes in one go expected, got call ${index}`,
      );
    const closed = this.finish();
    this.#calls.push({ index, name, id, text: "" });
    this.#open = true;
    return [...closed, { kind: "call:opened", index: this.#calls.length - 1, name }];
  }
}

/** Whether a name belongs to another call than the open one, which has the same number. */
function isOther(open: OpenCall, id: string | undefined): boolean {
  if (open.id !== undefined) return id !== undefined && id !== open.id;
  return parseObject(open.text) !== undefined;
}
