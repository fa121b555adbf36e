/**
 * Reads the inside of `<tool_call>…</tool_call>`, `{"name": …, "arguments": {…}}`, as it is written. The markers are
 * token ids, seen by the caller; text that looks like a marker is text. Broken JSON is passed on verbatim, never repaired; what has not come
 * as far as its arguments is no call, and nothing of it is passed on.
 */
import { parseObject } from "../../shared/speech/calls.ts";
import type { AnswerDelta, WrittenCall } from "./completion.ts";

const HEAD = /^\s*\{\s*"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"arguments"\s*:\s*(?=\S)/s;

export class CallReader {
  readonly #index: number;
  #text = "";
  #name: string | undefined;
  /** Where the part of `#text` begins that has not been passed on. */
  #from = 0;
  #arguments = "";

  constructor(index: number) {
    this.#index = index;
  }

  push(text: string): AnswerDelta[] {
    this.#text += text;
    const deltas: AnswerDelta[] = [];
    if (this.#name === undefined) {
      const head = parseHead(this.#text);
      if (head === undefined) return [];
      this.#name = head.name;
      this.#from = head.length;
      deltas.push({ kind: "call:opened", index: this.#index, name: head.name });
    }
    // The last brace may be the call's own rather than the arguments'.
    return [...deltas, ...this.#passOn(this.#text.length - trailingBrace(this.#text.slice(this.#from)))];
  }

  /** Ends the call, undefined where it is none. `closed`: the end marker came; otherwise the answer broke off inside. */
  finish(closed: boolean): { deltas: AnswerDelta[]; call: WrittenCall } | undefined {
    if (this.#name === undefined) return undefined;
    const braceLength = trailingBrace(this.#text.slice(this.#from));
    const complete = closed && braceLength > 0;
    const deltas = this.#passOn(this.#text.length - (complete ? braceLength : 0));
    const valid = complete && parseObject(this.#arguments) !== undefined;
    deltas.push({ kind: "call:closed", index: this.#index, valid });
    return { deltas, call: { name: this.#name, arguments: this.#arguments, valid } };
  }

  #passOn(to: number): AnswerDelta[] {
    const text = this.#text.slice(this.#from, to);
    this.#from = Math.max(this.#from, to);
    this.#arguments += text;
    return text === "" ? [] : [{ kind: "call:arguments", index: this.#index, text }];
  }
}

function parseHead(text: string): { name: string; length: number } | undefined {
  const [head = "", quoted = ""] = HEAD.exec(text) ?? [];
  const name = parseJson(quoted);
  return typeof name === "string" && name !== "" ? { name, length: head.length } : undefined;
}

/** Length of a closing brace at the end, white space after it included. */
function trailingBrace(text: string): number {
  return /\}\s*$/.exec(text)?.[0].length ?? 0;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // JSON has no undefined, so this says "does not parse"
  }
}
