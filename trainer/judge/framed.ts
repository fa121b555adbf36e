/**
 * What somebody says of a value with the value itself taken out: "not xoldx, xvaluex please". Whether words correct anything is told by what stands around a value,
 * whatever the value is (correction-model in reaction-file.ts).
 */
import { escapeRegExp } from "../../shared/regexp.ts";
import { topicWords } from "../../shared/speech/mention.ts";
import type { Parameter } from "../../shared/speech/parameters.ts";
import { knownForms, writtenForm } from "../../shared/speech/spoken.ts";

/** Stands for the value that is wanted by how it is written, for the one that the call had, for what the argument is called, and for any other number. */
export const FRAME = {
  choice: "xvaluex",
  count: "xvaluecountx",
  time: "xvaluetimex",
  old: "xoldx",
  unit: "xunitx",
  number: "xnumberx",
} as const;

export const NUMBER = /(?<![\p{L}\p{N}])\d[\d.,:]*(?<![.,:])/gu;

export type Framed = {
  readonly parameter: Pick<Parameter, "name" | "words" | "description" | "kind">;
  readonly value: string;
  /** What the call had, or would have had. */
  readonly held: string | undefined;
};

export function framed(words: string, { parameter, value, held }: Framed): string {
  const isTruth = parameter.kind === "boolean";
  const valued = isTruth ? words : without(words, knownForms(value), frameOf(value));
  const olds = isTruth || held === undefined ? valued : without(valued, knownForms(held), FRAME.old);
  return without(olds, topicWords(parameter), FRAME.unit).replaceAll(NUMBER, FRAME.number);
}

/** The stand-in for a value of such a form. */
export function frameOf(value: string): string {
  const form = writtenForm(value);
  return form === "number" ? FRAME.count : form === undefined ? FRAME.choice : FRAME.time;
}

/** The text with a stand-in for each of the phrases, in whatever case, ending of a plural included. */
function without(text: string, phrases: readonly string[], frame: string): string {
  const longest = phrases.filter((phrase) => phrase !== "").toSorted((a, b) => b.length - a.length);
  if (longest.length === 0) return text;
  const any = longest.map((phrase) => escapeRegExp(phrase).replaceAll(/[\s_]+/g, "[\\s_-]+")).join("|");
  return text.replaceAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?:s|es)?(?![\\p{L}\\p{N}])`, "giu"), frame);
}
