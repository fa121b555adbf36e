/**
 * When a default yields: a note in the prompt, or what a version has learned. A default is about what nobody has said: where
 * the policy fills the argument without it, surely or in somebody's own words, that was said. A small policy that has a
 * default, in its prompt or in its weights, may read the user less well.
 */
import { argumentSpan } from "./argument-span.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { argumentText, findTool, sameText } from "./speech/calls.ts";
import { isLeftOpen, isTurnedDown, isUnspokenName, mayBeMeant, wasGiven, wasNamed } from "./speech/given.ts";
import { requestOf } from "./speech/mention.ts";
import { isCountOfAnother, wasCounted } from "./speech/numbers.ts";
import { findParameter, readParameters } from "./speech/parameters.ts";
import { writtenForm } from "./speech/spoken.ts";
import { ORDINALS, wasAskedFor } from "./speech/wanted.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** An answer as sampled; `logProbs` are natural, one for each token. */
export type WrittenAnswer = {
  readonly tokens: readonly number[];
  readonly logProbs: ArrayLike<number>;
  /** Its first call, or undefined where it makes none that can be read. */
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | undefined;
};

/** An argument. */
export type Place = { readonly tool: string; readonly parameter: string };

/** The argument that something is a default for, and what the policy had made up for it when it was corrected. */
export type DefaultFor = Place & { readonly corrected: readonly string[] };

/** The conversation that was answered. */
export type Heard = { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] };

/** A default with its value, as text. */
export type ValuedDefault = DefaultFor & { readonly value: string };

/** As a version carries it; one that is not held only yields. */
export type CarriedDefault = ValuedDefault & {
  /** What the base makes up there, where that is known. */
  readonly byBase?: readonly string[] | undefined;
  readonly held?: false | undefined;
};

/**
 * What a policy is believed to have heard that has not learned a default: `words`, only what somebody's words have or may mean, since what it makes up is not
 * known; `sure`, what it is sure of, too; `filled`, what it fills in, since it leaves the argument out where nobody speaks of it.
 */
export type Trust = "words" | "sure" | "filled";

/** What an answer without a default is, and of which conversation. */
type Unlearned = { readonly without: WrittenAnswer; readonly heard: Heard; readonly trust?: Trust };

const MORE_LIKELY_THAN_NOT = Math.log(0.5); // each token of the argument, the one that begins it included

/**
 * Whether what was said overrules a default: the policy, asked without it, calls the same tool and tells another value than under it; or the user
 * asks by its name for another option than the default, turns it down ("not KLM"), or leaves it open ("any airline"), whatever the policy makes of that.
 */
export function yields(
  tokenizer: Tokenizer,
  about: DefaultFor & { readonly value?: string },
  { under, ...said }: { under: Pick<WrittenAnswer, "call"> } & Unlearned,
): boolean {
  if (under.call?.name !== about.tool) return false;
  const { tool, parameter, value } = about;
  if (value !== undefined && isOverruled({ tool, parameter, value }, { under, heard: said.heard }))
    return holds({ tool, parameter, value }, under);
  const [used, own] = [under.call.arguments[about.parameter], said.without.call?.arguments[about.parameter]];
  return JSON.stringify(own) !== JSON.stringify(used) && tells(tokenizer, about, said);
}

/** Whether the user asks by its name for another option, turns the default's value down, or leaves open what it is to be. */
function isOverruled(
  { tool, parameter, value }: Omit<ValuedDefault, "corrected">,
  { under, heard }: { under: Pick<WrittenAnswer, "call">; heard: Heard },
): boolean {
  const asked = askedOption({ tool, parameter }, { args: under.call?.arguments ?? {}, heard });
  if (asked !== undefined) return asked !== value;
  const owner = findTool(heard.tools, tool);
  const read = owner && findParameter(owner, parameter);
  return read !== undefined && (isTurnedDown(heard.messages, { parameter: read, value }) || isLeftOpen(heard.messages, read));
}

/**
 * Whether an answer that was given without a default fills its argument with what somebody has said: its value stands in somebody's
 * words, or the policy is sure of it, since many values have other names ("NYC", "next Friday"). Numbers, truths and what the schema
 * names for those who say nothing are easily made up, and other numbers stand everywhere: there both are asked. The very
 * value that was corrected proves nothing, since the policy had made it up, unless the user asks for it by its name, counts so many ("1 bath"), gives the argument
 * that number or tells the truth outright ("with wifi"). A number that the user only counted another argument's things with is nobody's word for this one.
 */
export function tells(
  tokenizer: Tokenizer,
  { tool, parameter, corrected }: DefaultFor,
  { without, heard: { messages, tools }, trust = "sure" }: Unlearned,
): boolean {
  const args = without.call?.name === tool ? without.call.arguments : {};
  const owner = findTool(tools, tool);
  const read = owner && findParameter(owner, parameter);
  if (args[parameter] === undefined || owner === undefined || read === undefined) return false;
  const said = { parameter: read, value: argumentText(args[parameter]), args };
  if (wasCounted(messages, said) || wasGiven(messages, said)) return true;
  if (isCountOfAnother(messages, { ...said, parameters: readParameters(owner) })) return false;
  if (corrected.includes(said.value)) return wasAskedFor(messages, { ...said, tool }) && isTold({ named: true });
  const named = wasNamed(messages, said);
  return isTold({ named }) && (named || !isUnspokenName(messages, said));

  function isTold({ named }: { named: boolean }): boolean {
    if (trust === "words" && !named && !mayBeMeant(messages, said)) return false;
    const sure = isSureOf(tokenizer, without, parameter);
    const isCommon = writtenForm(said.value) === "number" || said.parameter.kind === "boolean" || said.value === said.parameter.fallback;
    return isCommon ? named && sure : named || sure || trust === "filled";
  }
}

/**
 * The only one of the parameter's options that the user asks for in the request at hand, by its name and for no other argument, by the count ("a 3 star hotel") or
 * as a truth of what it is about ("pets should be allowed"); undefined where there is none, or several.
 */
export function askedOption(
  { tool, parameter }: Place,
  { args, heard: { messages, tools } }: { args: Readonly<Record<string, unknown>>; heard: Heard },
): string | undefined {
  const owner = findTool(tools, tool);
  const read = owner && findParameter(owner, parameter);
  if (owner === undefined || read === undefined) return undefined;
  const others = readParameters(owner).filter(({ name }) => name !== parameter);
  const request = requestOf(messages);
  const [only, ...more] = read.allowed.filter((value) => {
    if (wasCounted(request, { parameter: read, value })) return true;
    // What two parameters list may be said of either, but for a truth, whose own words are said.
    const isShared = read.kind !== "boolean" && others.some(({ allowed }) => allowed.includes(value));
    const said = { parameter: read, value, args: { ...args, [parameter]: value }, tool };
    return !isShared && !ORDINALS.has(value.toLowerCase()) && wasAskedFor(request, said);
  });
  return more.length === 0 ? only : undefined;
}

/** Whether an answer's call has the default's value; truths are `true` in calls and `True` in many schemas. */
export function holds({ tool, parameter, value }: Omit<ValuedDefault, "corrected">, { call }: Pick<WrittenAnswer, "call">): boolean {
  const held = call?.name === tool ? call.arguments[parameter] : undefined;
  return held !== undefined && sameText(argumentText(held), value);
}

/** Whether two defaults are about the same argument. */
export function samePlace(left: Place, right: Place): boolean {
  return left.tool === right.tool && left.parameter === right.parameter;
}

function isSureOf(tokenizer: Tokenizer, { tokens, logProbs }: WrittenAnswer, parameter: string): boolean {
  const span = argumentSpan(tokenizer, tokens, parameter);
  if (span === undefined) return false;
  for (let index = span.from; index < span.to; index += 1) if (!((logProbs[index] ?? Number.NaN) >= MORE_LIKELY_THAN_NOT)) return false;
  return true;
}
