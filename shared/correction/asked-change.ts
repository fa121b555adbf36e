/**
 * What the reply to a question about a call changes in it ("Yes, but insured please"): values with the names of their parameters and no other words, or, after a
 * yes, the one thing that would be heard outright of the call itself (heard.ts). It is heard before anything is done, so the user sees what came of it.
 */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Hint } from "../jobs.ts";
import { argumentText, type Call } from "../speech/calls.ts";
import { findParameter } from "../speech/parameters.ts";
import { knownForms } from "../speech/spoken.ts";
import { sameStem, wordsOf } from "../speech/words.ts";
import { correctionsAllowed } from "./chosen.ts";
import { heardCorrection } from "./heard.ts";

const BETWEEN = new Set(
  "please thanks but and with use using make it that change to instead in at on by via for the a an be should is rather of them only just always say".split(
    " ",
  ),
);

type Asked = { readonly tool: ToolDefinition; readonly call: Pick<Call, "name" | "arguments"> };

/** @param words the reply without the yes or no that it opens with @param asked.before the conversation before the question @returns one value for each changed parameter; none where that is not plain */
export function changesIn(
  words: string,
  { before, tool, call, isAssent }: Asked & { readonly before: readonly ChatMessage[]; readonly isAssent: boolean },
): Hint[] {
  const made = { id: "asked", type: "function" as const, function: { name: call.name, arguments: JSON.stringify(call.arguments) } };
  const answered: ChatMessage[] = [{ role: "assistant", content: null, tool_calls: [made] }];
  const nextState: ChatMessage[] = [{ role: "user", content: words }];
  const outright = heardCorrection({ messages: [...before, ...answered, ...nextState], tools: [tool] });
  if (isAssent && outright !== undefined) return [outright];
  const changes = correctionsAllowed(words, { before, answered, tool });
  const isOne = changes.every((change) => !changes.some((other) => other !== change && isEither(change, other, tool)));
  const isTold = (word: string): boolean => BETWEEN.has(word) || changes.some((change) => isOf(word, change, { tool, call }));
  return isOne && wordsOf(words).every(isTold) ? changes : [];
}

/** Whether the words may mean the one or the other: two values for one parameter, or one value for two ("to Milan": a city, or who lives there). */
function isEither(change: Hint, other: Hint, tool: ToolDefinition): boolean {
  const isTruth = findParameter(tool, change.parameter)?.kind === "boolean";
  return change.parameter === other.parameter || (!isTruth && change.value === other.value);
}

/** Whether the word is one of the change: of its value, of what that is for, or of the value in whose place it is ("3 instead of 2"). */
function isOf(word: string, { parameter: name, value }: Hint, { tool, call }: Asked): boolean {
  const topic = findParameter(tool, name)?.words ?? "";
  return [topic, ...knownForms(value), ...knownForms(argumentText(call.arguments[name]))]
    .flatMap(wordsOf)
    .some((own) => sameStem(own, word));
}
