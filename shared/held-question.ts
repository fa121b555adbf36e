/**
 * Questions in which a policy has made up what a version has learned otherwise: "A table for 2, is that right?" Who says yes to it has been
 * heard, so it is the question that is held: the policy's own, with what was learned in the place of what it made up.
 */
import { asks } from "./asking.ts";
import { findTool } from "./speech/calls.ts";
import { mayBeMeant, wasNamed } from "./speech/given.ts";
import { mentions, wordsBy } from "./speech/mention.ts";
import { findParameter, type Parameter, valueIn } from "./speech/parameters.ts";
import { numberWord, writtenForm } from "./speech/spoken.ts";
import type { CarriedDefault, Heard } from "./yielding.ts";

/** A question as it is to be, and what stood there. */
export type HeldQuestion = { readonly text: string; readonly madeUp: string };

/**
 * The question with the default's value; undefined where the text asks nothing, or names no other value that nobody has named, or names it
 * twice. Which other values there are is what the policy had made up when it was corrected, and what the schema lists. What a tool has told stays: it is so.
 */
export function heldQuestion(
  { tool, parameter: name, value, corrected, held }: CarriedDefault,
  { text, heard: { messages, tools } }: { text: string; heard: Heard },
): HeldQuestion | undefined {
  const owner = findTool(tools, tool);
  const parameter = owner && findParameter(owner, name);
  if (owner === undefined || parameter === undefined || parameter.kind === "boolean" || held === false || !asks(text)) return undefined;
  if (valueIn(owner, { parameter: name, value }) === undefined || mentions(text, { parameter, value })) return undefined;
  const others = new Set([...corrected, ...parameter.allowed.filter((option) => writtenForm(option) !== "number")]);
  const told = wordsBy(messages, "tool");
  const [only, ...more] = [...others].filter((other) => {
    const said = { parameter, value: other, args: {} };
    if (other === value || !mentions(text, said) || mentions(told, said)) return false;
    return !wasNamed(messages, said) && !mayBeMeant(messages, said);
  });
  if (only === undefined || more.length > 0) return undefined;
  const replaced = replaceOnly(text, { parameter, madeUp: only, value });
  return replaced === undefined ? undefined : { text: replaced, madeUp: only };
}

/** The text with the only mention of a value replaced; what is a part of a date or of an hour mentions no number. */
function replaceOnly(
  text: string,
  { parameter, madeUp, value }: { parameter: Parameter; madeUp: string; value: string },
): string | undefined {
  const forms = [madeUp, (writtenForm(madeUp) === "number" && numberWord(madeUp)) || madeUp].map((form) =>
    form.replaceAll(/[^\p{L}\p{N}\s]/gu, "\\$&"),
  );
  const places = [
    ...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[:./-])(?:${forms.join("|")})(?![\\p{L}\\p{N}]|[:./-]\\p{N})`, "giu")),
  ];
  const [found, ...others] = places.filter(({ index, 0: said }) => {
    const [before = ""] = /\S*\s*$/u.exec(text.slice(0, index)) ?? [];
    const [after = ""] = /^\s*\S*\s*\S*/u.exec(text.slice(index + said.length)) ?? [];
    return mentions(`${before}${said}${after}`, { parameter, value: madeUp });
  });
  if (found === undefined || others.length > 0) return undefined;
  return `${text.slice(0, found.index)}${value}${text.slice(found.index + found[0].length)}`;
}
