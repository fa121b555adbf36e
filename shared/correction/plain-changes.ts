/** What words change in a call where they hold nothing else: values, with or without the names of their parameters, and words that mean nothing by themselves. */
import type { ToolDefinition } from "../chat.ts";
import type { Hint } from "../jobs.ts";
import { argumentText } from "../speech/calls.ts";
import { findParameter } from "../speech/parameters.ts";
import { knownForms } from "../speech/spoken.ts";
import { sameStem, wordsOf } from "../speech/words.ts";
import { type Called, correctionsAllowed } from "./chosen.ts";

const BETWEEN = new Set(
  "please thanks but and with use using make it that change to instead in at on by via for the a an be should is rather of them only just always say".split(
    " ",
  ),
);

/** @param beside words of the kind that may stand beside values here @returns one value for each changed parameter; none where that is not plain */
export function plainChanges(words: string, called: Called, beside: ReadonlySet<string> = new Set()): Hint[] {
  const changes = correctionsAllowed(words, called);
  const isOne = changes.every((change) => !changes.some((other) => other !== change && isEither(change, other, called.tool)));
  const isTold = (word: string): boolean => BETWEEN.has(word) || beside.has(word) || changes.some((change) => isOf(word, change, called));
  return isOne && wordsOf(words).every(isTold) ? changes : [];
}

/** Whether the words may mean the one or the other: two values for one parameter, or one value for two ("to Milan": a city, or who lives there). */
function isEither(change: Hint, other: Hint, tool: ToolDefinition): boolean {
  const isTruth = findParameter(tool, change.parameter)?.kind === "boolean";
  return change.parameter === other.parameter || (!isTruth && change.value === other.value);
}

/** Whether the word is one of the change: of its value, of what that is for, or of the value in whose place it is ("3 instead of 2"). */
function isOf(word: string, { parameter: name, value }: Hint, { tool, call }: Called): boolean {
  const topic = findParameter(tool, name)?.words ?? "";
  return [topic, ...knownForms(value), ...knownForms(argumentText(call?.arguments[name]))]
    .flatMap(wordsOf)
    .some((own) => sameStem(own, word));
}
