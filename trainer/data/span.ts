/** Where in an answer's tokens one argument of a call stands. */
import type { Tokenizer } from "../../shared/tokenizer.ts";

/**
 * Token range [from, to) of `"parameter": value`, with the separator before it: the first token of the range decides
 * whether the argument comes at all. Undefined where the call has no such argument.
 */
export function argumentSpan(tokenizer: Tokenizer, answer: readonly number[], parameter: string): { from: number; to: number } | undefined {
  const ends = answer.map((_, index) => tokenizer.decode(answer.slice(0, index + 1)).length);
  const text = tokenizer.decode(answer);
  const name = `${JSON.stringify(parameter)}: `;
  const start = text.indexOf(name);
  if (start < 0) return undefined;
  const [value = ""] = /^(?:"(?:[^"\\]|\\.)*"|[^,}]*)/.exec(text.slice(start + name.length)) ?? [];
  const end = start + name.length + value.length;
  const from = ends.findIndex((reach) => reach > start - SEPARATOR.length);
  const to = ends.findIndex((reach) => reach >= end);
  return { from, to: to < 0 ? answer.length : to + 1 };
}

const SEPARATOR = ", ";
