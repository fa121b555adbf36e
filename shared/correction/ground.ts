/**
 * Grounds a hint before anything is learned from it: the parameter is one of the called tool's, the value is of its type,
 * allowed by the schema and written as the call wrote it; the user's own words mention it, or the one that the call had and no
 * other, and name no other parameter instead; and the call did not hold it already, nor the whole name of a person of whom it is a part. Everything else is refused. The verb that an order opens with is no part of it.
 */
import { isAspect } from "../aspects.ts";
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Exchange, Hint } from "../jobs.ts";
import { escapeRegExp } from "../regexp.ts";
import { argumentText, findTool, readableCalls, sameText, type Call } from "../speech/calls.ts";
import { otherThing } from "../speech/counted.ts";
import { inUnitOf } from "../speech/durations.ts";
import { type MentionedValue, mentions, namesTopic, parametersNamed, wordsBy } from "../speech/mention.ts";
import { isWanted } from "../speech/wanted.ts";
import { findParameter, readParameters, typedValue, type Parameter } from "../speech/parameters.ts";
import { nearValues } from "../speech/near.ts";
import { sentencesOf } from "../speech/sentences.ts";
import { writtenForm, type WrittenForm } from "../speech/spoken.ts";
import { wordsOf } from "../speech/words.ts";
import { isPartOrLabel } from "./amounts.ts";
import { withoutOrder } from "./orders.ts";
import { withoutRepairedOptions } from "./repaired.ts";
import { wishfulWords } from "./wishful.ts";

/** An answer with what followed it, and the conversation that it answered. */
export type Followed = {
  readonly exchange: Pick<Exchange, "tools" | "answered" | "nextState">;
  readonly turn: { readonly payload: { readonly messages: readonly ChatMessage[] } };
};

export type Grounded =
  | { readonly status: "grounded"; readonly toolName: string; readonly hint: Hint }
  | { readonly status: "refused"; readonly code: "hint/none" | "hint/held" | "hint/ungrounded"; readonly detail: string };

export type Stands = Extract<Grounded, { status: "grounded" }>;

/** The parameter that a grounded hint is about; undefined where it is about the call as a whole. */
export function parameterOfHint(
  tools: readonly ToolDefinition[],
  { hint, toolName }: Pick<Stands, "hint" | "toolName">,
): Parameter | undefined {
  const tool = findTool(tools, toolName);
  return tool === undefined ? undefined : findParameter(tool, hint.parameter);
}

export function groundHint(hint: Hint, signal: Followed): Grounded {
  const { exchange } = signal;
  const owner = exchange.tools.findLast((tool) => findParameter(tool, hint.parameter) !== undefined);
  const parameter = owner === undefined ? undefined : findParameter(owner, hint.parameter);
  if (isAspect(hint.parameter)) return refuse(`a parameter that is not called like an aspect expected, got ${hint.parameter}`);
  if (owner === undefined || parameter === undefined) return refuse(`no tool called in the exchange has a parameter ${hint.parameter}`);
  const words = inUnitOf(parameter, wishfulWords(wordsBy(exchange.nextState, "user")));
  const value =
    parameter.allowed.length === 0 ? withoutOrder(words, hint.value) : parameter.allowed.find((allowed) => sameText(allowed, hint.value));
  if (value === undefined) return refuse(`${hint.parameter} must be one of ${parameter.allowed.join(", ")}, got ${hint.value}`);
  const held = heldText(lastCall(exchange, owner.function.name), parameter.name);
  const used = held ?? parameter.fallback;
  const fault =
    misfit(parameter, value, { example: exampleOf(parameter, held, signal), tools: exchange.tools }) ??
    unsaid(words, { owner, parameter, value, used });
  if (fault !== undefined) return refuse(fault);
  if (used !== undefined && (sameText(used, value) || isBriefly(value, { parameter, used, words })))
    return { status: "refused", code: "hint/held", detail: `the call already had ${hint.parameter} = ${value}` };
  return { status: "grounded", toolName: owner.function.name, hint: { parameter: parameter.name, value } };
}

/** Why the value is none of the parameter's. */
function misfit(
  parameter: Parameter,
  value: string,
  { example, tools }: { example: string | undefined; tools: readonly ToolDefinition[] },
): string | undefined {
  const { name, kind, type, allowed } = parameter;
  if (typedValue(parameter, value) === undefined) return `${name} must be of type ${type}, got ${value}`;
  if (allowed.length > 0) return undefined;
  const [form, written] = [writtenFormOf(parameter, example), writtenForm(value)];
  if (form !== undefined && written !== form) return `${name} must be a ${form} as in ${example ?? ""}, got ${value}`;
  if ((kind === "place" || kind === "person") && written !== undefined) return `${name} must be a name, got ${value}`;
  if (isClock(parameter) && !/\d/.test(value)) return `${name} must tell the ${kind} in full, got ${value}`;
  if (example !== undefined && CODED.test(example) && !/\d/.test(value)) return `${name} must be written as ${example} is, got ${value}`;
  const lister = written === undefined ? whoLists(value, tools) : undefined;
  return lister === undefined ? undefined : `${value} is a value of ${lister}, not of ${name}`;
}

// "CC-100", "B12": no name stands in such a place.
const CODED = /^\p{Lu}+[-_]?\d{2,}$/u;

// "src/a.py" asks for no option "py".
const PATHS =
  /(?:https?:\/\/|[.~]\/|(?<![\p{L}\p{N}])\/)[^\s,;]+|(?<![\p{L}\p{N}_.-])[\p{L}\p{N}_.-]{1,80}\/[\p{L}\p{N}_./-]{0,200}\.\p{Ll}\w{0,4}\b|(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]{2,40}\.\p{Ll}[\p{Ll}\d]{0,3}\b/gu;

/** Why the user's words do not ask for it. */
function unsaid(
  words: string,
  { owner, parameter, value, used }: { owner: ToolDefinition; parameter: Parameter; value: string; used: string | undefined },
): string | undefined {
  const whole = parameter.allowed.length > 0 ? undefined : wholeName(words, value);
  if (whole !== undefined) return `the user's words say ${whole}, of which ${value} is a part`;
  const told = withoutRepairedOptions(parameter.allowed.length > 0 ? words.replaceAll(PATHS, " ") : words, parameter.allowed);
  if (
    !isWanted(told, { parameter, value }, parameter.allowed) &&
    !deniesOnly(words, parameter, used) &&
    !nearValues(told, parameter.kind, used).includes(value)
  )
    return `the user's words do not ask for ${parameter.name} = ${value}`;
  if (isPartOrLabel(words, { parameter, value })) return `in the user's words ${value} is a part of more, or a name`;
  const other = isCountable(parameter, value) ? saidOfAnother(words, { parameter, value }) : undefined;
  if (other !== undefined) return `the user's words are about ${other}, not ${parameter.name}`;
  const named = parametersNamed(words, readParameters(owner));
  if (named.length > 0 && !named.some(({ name }) => name === parameter.name))
    return `the user's words name ${named.map(({ name }) => name).join(", ")}, not ${parameter.name}`;
  return undefined;
}

/** The other thing that every sentence with the number speaks of the number of. */
function saidOfAnother(words: string, said: MentionedValue & { parameter: Parameter }): string | undefined {
  const things = sentencesOf(words)
    .filter((sentence) => mentions(sentence, said))
    .map((sentence) => otherThing(sentence, said.parameter));
  return things.includes(undefined) ? undefined : things[0];
}

function isCountable({ kind }: Parameter, value: string): boolean {
  return kind !== "boolean" && writtenForm(value) === "number";
}

/**
 * Whether the words are about the value that the call used and about no other that the schema lists ("Anything but Economy!"): who
 * rejects an answer by naming what it had wants another, whichever.
 */
function deniesOnly(words: string, parameter: Parameter, used: string | undefined): boolean {
  if (used === undefined || parameter.kind === "boolean" || !parameter.allowed.some((value) => sameText(value, used))) return false;
  // "Not that one" is about no number.
  if (writtenForm(used) === "number" && !namesTopic(words, parameter)) return false;
  const named = parameter.allowed.filter((value) => mentions(words, { parameter, value }));
  if (named.length === 0 || named.some((value) => !sameText(value, used))) return false;
  const sentences = words.replace(TOPIC, "$<topic>,").split(/[.!?\n]/);
  const about = sentences
    .map((sentence) => sentence.replace(BARE_NO, ""))
    .filter((sentence) => mentions(sentence, { parameter, value: used }));
  return about.some((sentence) => AGAINST.test(sentence) && !APPROVES.test(sentence));
}

/** A topic that a question of a word or two puts before what is said of it: "Standard? Never again." */
const TOPIC = /(?<=^|[.!?\n]\s*)(?<topic>[\p{L}\p{N}'-]+(?: [\p{L}\p{N}'-]+)?)\?(?=[^\S\n])/gu;
/** "No, the carrier should be DHL" is against the answer, and for DHL; "No Economy!" is not. */
const BARE_NO = /^\W*(?:(?:no|nope|nah)\b[^\p{L}\p{N}]*)*(?:no|nope|nah)\b\s*[,;:–-]\s*|^\W*no no\b\W*/iu;
const AGAINST =
  /\b(?:not|no|nobody|never|nope|wrong|any\w*|every\w*|but|hate|despise|dislike|again|sick|tired|fed up|stop|instead|other|else|different|avoid\w*|cannot|bad|mistake|why|enough|fan|terrible|awful|horrible|sucks|nothing|seriously|really|too \w+)\b|n't\b/i;
const APPROVES =
  /\b(?:is|are|was|were|sounds?|looks?|it's|that's) (?:(?!(?:not|no|never|hardly) )\w+ )?(?:ok|okay|fine|right|good|great|perfect|correct|alright|all right|enough)\b/i;

const OF_PERSONS = /\b(?:who|whom|person|people)\b/i;
const MOST_CORRECTING = 4; // words: "Dana, please" corrects

/** "Ask me before it goes to Dana" where the call had "Dana Wirth": somebody who is spoken of briefly is the same, unless one is told from another. */
function isBriefly(value: string, { parameter, used, words }: { parameter: Parameter; used: string; words: string }): boolean {
  const isPerson = parameter.kind === "person" || OF_PERSONS.test(parameter.description);
  if (!isPerson || wordsOf(words).length <= MOST_CORRECTING || /\b(?:other|another|different|not|no|only|just)\b/i.test(words))
    return false;
  const [own, whole] = [wordsOf(value), wordsOf(used)];
  return own.length > 0 && own.every((word, at) => word === whole[at]) && !namesTopic(words, parameter);
}

/** The last call of the tool in the exchange. */
export function lastCall({ answered }: Pick<Exchange, "answered">, tool: string): Call | undefined {
  return answered.flatMap(readableCalls).findLast(({ name }) => name === tool);
}

/** What a call held for the parameter, as text. */
export function heldText(call: Call | undefined, parameter: string): string | undefined {
  const held = call?.arguments[parameter];
  return held === undefined ? undefined : argumentText(held);
}

/** A value that shows how the parameter is written: what the call held, else the schema's default, else for a date any that the conversation has. */
export function exampleOf(
  { kind, fallback }: Pick<Parameter, "kind" | "fallback">,
  held: string | undefined,
  { turn }: Pick<Followed, "turn">,
): string | undefined {
  const example = held ?? fallback;
  if (example !== undefined || kind !== "date") return example;
  const said = turn.payload.messages.map(({ content }) => content ?? "").join("\n");
  return /\b\d{4}-\d\d-\d\d\b/.exec(said)?.[0];
}

/** "In Celsius, please." */
const OPENING = /^(?:in|on|at|for|with|by|to|from|the|an?)\s+/i;

/** The parameter that has the value among those that its schema lists, with or without what a sentence puts before it. */
function whoLists(value: string, tools: readonly ToolDefinition[]): string | undefined {
  const bare = value.replace(OPENING, "");
  const lists = (allowed: readonly string[]): boolean => allowed.some((each) => sameText(each, value) || sameText(each, bare));
  return tools.flatMap(readParameters).find(({ kind, allowed }) => kind !== "boolean" && lists(allowed))?.name;
}

/** `Taraji P. Henson` for `Taraji P.`: the words of one message that a value stands in as the beginning of a longer name, in whatever script that goes on; "I" goes on with the sentence. */
function wholeName(words: string, value: string): string | undefined {
  const initial = /(?:^|\s)\p{Lu}\.?$/u.test(value) ? "\\.?" : "";
  const name = new RegExp(
    `(?<!\\p{L})${escapeRegExp(value.replace(/\.$/, ""))}${initial}(?:[\\p{Lo}\\p{M}]+|[^\\S\\n]+(?!I\\b)[\\p{Lu}\\p{Lo}][\\p{L}\\p{M}'-]*)`,
    "u",
  );
  return /^\p{Lu}/u.test(value) ? name.exec(words)?.[0] : undefined;
}

/** Whether a part of a value would be taken for the whole: "March" of "March 8th". */
function isClock({ kind, allowed }: Pick<Parameter, "kind" | "allowed">): boolean {
  return allowed.length === 0 && (kind === "date" || kind === "time");
}

/** The form in which values of a number, date or time are written, as the example is; undefined where any form may do. */
export function writtenFormOf(
  { kind, allowed }: Pick<Parameter, "kind" | "allowed">,
  example: string | undefined,
): WrittenForm | undefined {
  const form = example === undefined ? undefined : writtenForm(example);
  return allowed.length === 0 && form === kind ? form : undefined;
}

function refuse(detail: string): Grounded {
  return { status: "refused", code: "hint/ungrounded", detail };
}
