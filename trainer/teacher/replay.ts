/** Contexts from turns that the agent really had: the user's own words, replayed under context + note. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { escapeRegExp } from "../../shared/regexp.ts";
import { argumentText, findTool, sameText } from "../../shared/speech/calls.ts";
import { wasOffered, wasSaid } from "../../shared/speech/mention.ts";
import { findParameter, isPlain, readParameters } from "../../shared/speech/parameters.ts";
import { writtenForm } from "../../shared/speech/spoken.ts";
import type { Context, Correction } from "./contexts.ts";
import { sayFact } from "./phrases.ts";
import type { Random } from "../random.ts";
import { makeValue } from "./values.ts";

/** A turn as it was prompted and what the policy called, in the order of the answer. */
export type ReplayTurn = {
  readonly turnId: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly called: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[];
  /** How many tokens its engine read, where it says no more of them. */
  readonly stated?: number;
};

/**
 * What a replayed turn teaches about the correction. The user was silent where the call left the argument out or used
 * the schema's default, and spoke where their words name the value. Any other value may have been said in other words,
 * offered, or made up: nothing is taught where whose it is cannot be told. A `corrected` turn never teaches that the
 * value it used was meant, since its user said that it was not.
 */
export function replayContext(
  turn: ReplayTurn,
  { tool, parameter, hint }: Correction,
  { corrected = false }: { corrected?: boolean } = {},
): Context | undefined {
  const { turnId: origin, messages, tools } = turn;
  const call = turn.called.findLast(({ name }) => name === tool.function.name);
  if (call === undefined) return { kind: "other", origin, messages, tools, tool: turn.called[0]?.name ?? "" };
  const shown = findTool(tools, call.name);
  // Another version of the tool may not have the parameter.
  if (shown === undefined || findParameter(shown, parameter.name) === undefined) return undefined;
  const used = call.arguments[parameter.name];
  const silent: Context = { kind: "silent", origin, messages, tools, tool: call.name };
  if (corrected || used === undefined) return silent;
  const stated = argumentText(used);
  if (wasSaid(messages, { parameter, value: stated, args: call.arguments }))
    return sameText(stated, hint.value) ? undefined : { ...silent, kind: "stated", stated };
  const untouched = parameter.fallback !== undefined && sameText(stated, parameter.fallback);
  return untouched && !wasOffered(messages, { parameter, value: stated, args: call.arguments }) ? silent : undefined;
}

/** The same turn with one more sentence, in which the user states another value: the counter-case of a real request. */
export function withStatement(context: Context, { tool, parameter, hint }: Correction, random: Random): Context | undefined {
  const stated = makeValue(parameter, random, [hint.value]);
  const last = context.messages.findLastIndex(({ role }) => role === "user");
  const message = context.messages[last];
  if (stated === undefined || message?.role !== "user") return undefined;
  const content = `${message.content} ${sayFact({ parameter, value: stated }, random, { plain: isPlain(tool, parameter) })}`;
  const messages = context.messages.map((each, index) => (index === last ? { ...message, content } : each));
  return { ...context, kind: "stated", messages, stated };
}

/**
 * The turn's conversation read again with other values of the other arguments, wherever somebody said them, and other
 * numbers: the agent's real users, asking for other things. None where the history holds calls, which would keep the old
 * values.
 */
export function reread(context: Context, turn: ReplayTurn, { tool, parameter }: Correction, random: Random): Context | undefined {
  if (context.messages.some((message) => message.role === "tool")) return undefined;
  const call = turn.called.findLast(({ name }) => name === tool.function.name);
  const swaps = readParameters(tool).flatMap((each) => {
    const said = call?.arguments[each.name];
    if (each.name === parameter.name || typeof said !== "string" || writtenForm(said) !== undefined || each.kind === "boolean") return [];
    const other = said.length < SHORTEST_SWAPPED ? undefined : makeValue(each, random, [said]);
    return other === undefined ? [] : [{ said: new RegExp(`(?<!\\p{L})${escapeRegExp(said)}(?!\\p{L})`, "giu"), other }];
  });
  const swap = (text: string): string =>
    swaps.reduce(
      (rest, { said, other }) => rest.replace(said, (found) => (found === found.toLowerCase() ? other.toLowerCase() : other)),
      text,
    );
  return renumbered(withTexts(context, swap), random);
}

const SHORTEST_SWAPPED = 3; // shorter words stand in other words' places

/** What users and the assistant said, rewritten. */
function withTexts(context: Context, rewrite: (text: string) => string): Context {
  const messages = context.messages.map((message): ChatMessage =>
    message.role === "user" || (message.role === "assistant" && message.content !== null && message.tool_calls === undefined)
      ? { ...message, content: rewrite(message.content ?? "") }
      : message,
  );
  return { ...context, messages };
}

/**
 * The same conversation with other numbers and clock times in it, each the same wherever it stands; ISO dates stay. One
 * request does not show which of its numbers is whose: over several readings only the corrected argument keeps its value.
 */
function renumbered(context: Context, random: Random): Context {
  const clocks = new Map<string, string>();
  const retime = (text: string): string =>
    text.replace(/(?<![\w:./-])\d{1,2}(?::\d\d)?\s?[ap]\.?m\b/gi, (said) => {
      const known = clocks.get(said) ?? sayClock(random);
      clocks.set(said, known);
      return known;
    });
  const others = new Map<string, string>();
  const other = (number: string): string => {
    const known = others.get(number) ?? String(SMALLEST + random.below(NUMBERS));
    others.set(number, known);
    return known;
  };
  // "1st" and "4" may become "9th" and "9": from four to twenty every number takes the same ending.
  const renumber = (text: string): string =>
    text.replace(
      /(?<![\w:./-])(\d{1,2})(st|nd|rd|th)?(?![\w:/-]|\.\d|\s?[ap]\.?m\b)/gi,
      (_, number: string, ending?: string) => `${other(number)}${ending === undefined ? "" : "th"}`,
    );
  return withTexts(context, (text) => renumber(retime(text)));
}

/** `7 pm`, `11:15 am`, `6:30 in the evening`: an hour is the number that is most easily taken for a count. */
function sayClock(random: Random): string {
  const [hour, minute] = [1 + random.below(12), random.pick(["15", "30", "45"])];
  return random.pick([
    `${hour} ${random.pick(["am", "pm"])}`,
    `${hour}:${minute} ${random.pick(["am", "pm"])}`,
    `${hour}:${minute} in the ${random.pick(["morning", "afternoon", "evening"])}`,
  ]);
}

const SMALLEST = 4;
const NUMBERS = 17;
