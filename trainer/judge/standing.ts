/**
 * Whether a correction tells a default. Where the user had spoken of the argument before the call, the correction mends
 * a misreading or a changed mind; learned as a default it would be wrong in every other conversation.
 */
import type { Hint } from "../../shared/jobs.ts";
import { findTool } from "../../shared/speech/calls.ts";
import type { Signal } from "../data/exchange.ts";
import { choosesTool, wasSaid, wordsBy } from "../../shared/speech/mention.ts";
import { findParameter, humanise } from "../../shared/speech/parameters.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { heldText, lastCall } from "../../shared/correction/ground.ts";
import { ORDER_VERBS } from "../../shared/correction/orders.ts";

/** What the user had said of the argument when the call was made, for people; undefined where nothing. */
export function spokenBefore(
  { turn, exchange }: Pick<Signal, "turn" | "exchange">,
  { hint, toolName }: { hint: Hint; toolName: string },
): string | undefined {
  const tool = findTool(exchange.tools, toolName);
  if (hint.parameter === "@tool" && choosesTool(wordsBy(exchange.answered, "user"), hint.value))
    return `the request already named ${hint.value}: misread, not a default`;
  const parameter = tool === undefined ? undefined : findParameter(tool, hint.parameter);
  if (parameter === undefined) return undefined;
  const call = lastCall(exchange, toolName);
  const said = (value: string): boolean => wasSaid(turn.payload.messages, { parameter, value, args: call?.arguments ?? {} });
  if (said(hint.value)) return `the request already said ${hint.parameter} = ${hint.value}: misread, not a default`;
  const held = heldText(call, parameter.name);
  return held !== undefined && said(held) ? `the request said ${hint.parameter} = ${held}: another mind, not a default` : undefined;
}

const OPENERS =
  /^\W*(?:(?:ok(?:ay)?|great|good|perfect|nice|thanks|thank you|yes|yeah|sure|alright|now|then|and|please|also|so|well|just|only|simply|can you|could you|will you|would you|i want to|i'd like to|let's)\b\W*)*/i;

/** What else the user asks for, for people: another tool that has such a parameter, too, and whose verb the words open with. */
export function askedElsewhere(
  signal: Pick<Signal, "turn" | "exchange">,
  { hint, toolName }: { hint: Hint; toolName: string },
): string | undefined {
  const other = askedOf(signal, toolName).find((each) => findParameter(each, hint.parameter) !== undefined);
  return other === undefined ? undefined : `a request for ${other.function.name}, which has ${hint.parameter}, too: not about ${toolName}`;
}

/** Whether the words open with the verb of another tool than the one that was called, and not with one that anything is ordered with: "Get the small one" is of no `get_balance`. */
export function opensElsewhere(signal: Pick<Signal, "turn" | "exchange">, called: string): boolean {
  const verb = openingVerb(wordsBy(signal.exchange.nextState, "user")) ?? "";
  return !ORDER_VERBS.has(verb) && askedOf(signal, called).length > 0;
}

/** The other tools that the user's words open with the verb of, and this one does not: "Great, book it for 2 nights" after `find_hotels`. */
function askedOf({ turn, exchange }: Pick<Signal, "turn" | "exchange">, called: string): ToolDefinition[] {
  const verb = openingVerb(wordsBy(exchange.nextState, "user"));
  const verbOf = (name: string): string | undefined => humanise(name).split(" ")[0]?.toLowerCase();
  if (verb === undefined || verb === verbOf(called)) return [];
  return turn.payload.tools.filter(({ function: { name } }) => name !== called && verbOf(name) === verb);
}

/** What words open with, in lower case, after what means nothing: "Great, book it" → `book`. */
export function openingVerb(words: string): string | undefined {
  return /^[\p{L}]+/u.exec(words.replace(OPENERS, ""))?.[0].toLowerCase();
}
