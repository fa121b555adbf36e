/** An answer as a policy writes it, taken apart for people: its words, and the calls that it writes in tags. Where a call cannot be read, it stays text. */
import { isAspect } from "./aspects.ts";
import type { LearnedDefault } from "./learned-defaults.ts";
import { argumentText, parseObject, sameText } from "./speech/calls.ts";

export type AnswerPart = { readonly kind: "words"; readonly text: string } | AnswerCall;
export type AnswerCall = { readonly kind: "call"; readonly name: string; readonly arguments: ReadonlyMap<string, string> };

const CALL = /<tool_call>(.*?)<\/tool_call>/gs;

export function answerParts(text: string): AnswerPart[] {
  const parts: AnswerPart[] = [];
  let from = 0;
  const say = (words: string): void => {
    if (words.trim() !== "") parts.push({ kind: "words", text: words.trim() });
  };
  for (const found of text.matchAll(CALL)) {
    const call = readCall(found[1] ?? "");
    if (call === undefined) continue;
    say(text.slice(from, found.index));
    parts.push(call);
    from = found.index + found[0].length;
  }
  say(text.slice(from));
  return parts;
}

/** Names of the arguments that the call has and no call of the other answer to the same tool has with the same value. */
export function differingFrom(call: AnswerCall, other: readonly AnswerPart[]): Set<string> {
  const same = other.filter((part): part is AnswerCall => part.kind === "call" && part.name === call.name);
  const differs = ([name, value]: [string, string]): boolean => !same.some((each) => each.arguments.get(name) === value);
  return new Set([...call.arguments].filter(differs).map(([name]) => name));
}

/** Where calls of a version's own answer have another value than it has learned: where the user has not said otherwise, the edge holds them to that. */
export function passedOver(answer: string, learned: readonly LearnedDefault[]): { parameter: string; value: string; used: string }[] {
  const calls = answerParts(answer).filter((part) => part.kind === "call");
  return learned.flatMap(({ tool, parameter, value, held }) => {
    if (held === false || isAspect(parameter)) return [];
    return calls.flatMap((call) => {
      const used = call.name === tool ? call.arguments.get(parameter) : undefined;
      return used === undefined || sameText(used, value) ? [] : [{ parameter, value, used }];
    });
  });
}

function readCall(json: string): AnswerCall | undefined {
  const { name, arguments: given } = parseObject(json) ?? {};
  if (typeof name !== "string") return undefined;
  return { kind: "call", name, arguments: new Map(Object.entries(given ?? {}).map(([each, value]) => [each, argumentText(value)])) };
}
