/** Sampled tokens read back: text, tool calls, and whether the policy ended its answer by itself. */
import { parseObject } from "../../shared/speech/calls.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";

export type AnswerCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

export type ReadAnswer = {
  readonly text: string;
  readonly calls: readonly AnswerCall[];
  /** An end token came. */
  readonly finished: boolean;
  /** Every tool call could be read. */
  readonly valid: boolean;
};

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";
const GRAM = 4;
const TIMES = 3;

/** Whether calls have tokens of their own. Without, as in Llama's tokenizer, a call is words like any other, and `readAnswer` finds none. */
export function marksCalls({ specialIds }: Pick<Tokenizer, "specialIds">): boolean {
  return specialIds.has(OPEN) && specialIds.has(CLOSE);
}

/** Splits on the special tokens' ids, so text that merely looks like a call stays text. */
export function readAnswer(tokenizer: Tokenizer, tokens: readonly number[]): ReadAnswer {
  const finished = tokenizer.endIds.includes(tokens.at(-1) ?? -1);
  const body = finished ? tokens.slice(0, -1) : tokens;
  const [open, close] = [tokenizer.specialIds.get(OPEN), tokenizer.specialIds.get(CLOSE)];
  const calls: AnswerCall[] = [];
  const text: number[] = [];
  let valid = true;
  for (let index = 0; index < body.length; index += 1) {
    const token = body[index];
    if (token === undefined || token !== open) {
      if (token !== undefined) text.push(token);
      continue;
    }
    const end = body.findIndex((each, at) => at > index && each === close);
    const call = parseCall(tokenizer.decode(body.slice(index + 1, end < 0 ? undefined : end)));
    if (end < 0 || call === undefined) valid = false;
    else calls.push(call);
    index = end < 0 ? body.length : end;
  }
  return { text: tokenizer.decode(text), calls, finished, valid };
}

/** All that was written, for people: calls with their marks, and no end token. */
export function writtenText(tokenizer: Tokenizer, tokens: readonly number[]): string {
  return tokenizer.decode(tokens.filter((token) => !tokenizer.endIds.includes(token)));
}

/** Whether the same four tokens stand in the answer three times over, none in another. */
export function repeats(tokens: readonly number[]): boolean {
  const ends = new Map<string, { end: number; count: number }>();
  for (let start = 0; start + GRAM <= tokens.length; start += 1) {
    const key = tokens.slice(start, start + GRAM).join(",");
    const seen = ends.get(key) ?? { end: 0, count: 0 };
    if (start < seen.end) continue;
    if (seen.count + 1 >= TIMES) return true;
    ends.set(key, { end: start + GRAM, count: seen.count + 1 });
  }
  return false;
}

function parseCall(text: string): AnswerCall | undefined {
  const { name, arguments: args } = parseObject(text) ?? {};
  if (typeof name !== "string" || args === null || typeof args !== "object") return undefined;
  return { name, arguments: { ...args } };
}
