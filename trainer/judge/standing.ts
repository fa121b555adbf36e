/**
 * Whether a correction tells a default. Where the user had spoken of the argument before the call, the correction mends
 * a misreading or a changed mind; learned as a default it would be wrong in every other conversation.
 */
import type { Hint } from "../../shared/jobs.ts";
import { type Call, heldElsewhere, readableCalls, sameCall, sameText } from "../../shared/speech/calls.ts";
import type { Signal } from "../data/exchange.ts";
import { choosesTool, mentions, requestOf, wasSaid, wordsBy } from "../../shared/speech/mention.ts";
import { findParameter, humanise } from "../../shared/speech/parameters.ts";
import { writtenForm } from "../../shared/speech/spoken.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { heldText, lastCall, parameterOfHint } from "../../shared/correction/ground.ts";
import { isForGood } from "../../shared/correction/once.ts";
import { ORDER_VERBS } from "../../shared/correction/orders.ts";
import { countedBy } from "../../shared/speech/counted.ts";

/** What the user had said of the argument when the call was made, for people; undefined where nothing. */
export function spokenBefore(
  { turn, exchange }: Pick<Signal, "turn" | "exchange">,
  { hint, toolName }: { hint: Hint; toolName: string },
): string | undefined {
  if (hint.parameter === "@tool" && choosesTool(wordsBy(exchange.answered, "user"), hint.value))
    return `the request already named ${hint.value}: misread, not a default`;
  const parameter = parameterOfHint(exchange.tools, { hint, toolName });
  if (parameter === undefined) return undefined;
  const { messages, call } = beforeCorrections(turn.payload.messages, { call: lastCall(exchange, toolName), parameter: parameter.name });
  const args = call?.arguments ?? {};
  const words = wordsBy(requestOf(messages), "user");
  // "For three days" is said of the argument that counts days, whatever that is called.
  const said = (value: string): boolean =>
    wasSaid(messages, { parameter, value, args }) ||
    (writtenForm(value) === "number" &&
      !heldElsewhere(args, { parameter: parameter.name, value }) &&
      countedBy(words, value, parameter) === "own");
  // A number of more than a digit that the call held it had from the request, where that has it and no other use for it.
  const took = (value: string): boolean =>
    said(value) ||
    (writtenForm(value) === "number" &&
      value.length > 1 &&
      mentions(words, { parameter, value }) &&
      !heldElsewhere(args, { parameter: parameter.name, value }) &&
      countedBy(words, value, parameter) !== "other");
  if (said(hint.value)) return `the request already said ${hint.parameter} = ${hint.value}: misread, not a default`;
  const held = heldText(call, parameter.name);
  // Who says what is to be from now on has another mind for good.
  if (held === undefined || isForGood(wordsBy(exchange.nextState, "user")) || !took(held)) return undefined;
  return `the request said ${hint.parameter} = ${held}: another mind, not a default; "from now on" makes it one`;
}

type Called = { readonly messages: readonly ChatMessage[]; readonly call: Call | undefined };

/**
 * The request that the call came of, and how it was called first: who corrects a call, and then the correction, has had no mind but the last. A
 * correction is what the user said between two calls of the tool that are the same but for the argument.
 */
function beforeCorrections(messages: readonly ChatMessage[], { call, parameter }: { call: Call | undefined; parameter: string }): Called {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const earlier = messages.slice(0, at);
  const first = call === undefined ? undefined : earlier.flatMap(readableCalls).findLast(({ name }) => name === call.name);
  const isSame = call !== undefined && first !== undefined && sameCall(first, call, (name) => name === parameter);
  if (!isSame || sameText(heldText(first, parameter) ?? "", heldText(call, parameter) ?? "")) return { messages, call };
  const request = earlier.slice(
    0,
    earlier.findLastIndex((message) => readableCalls(message).some((each) => each.name === first.name)),
  );
  return beforeCorrections(request, { call: first, parameter });
}

const OPENERS =
  /^\W*(?:(?:ok(?:ay)?|great|good|perfect|nice|thanks|thank you|yes|yeah|sure|alright|now|next|then|and|please|also|so|well|just|only|simply|can you|could you|will you|would you|i want to|i'd like to|let's)\b\W*)*/i;

/** What else the user asks for, for people: another tool that has such a parameter, too, and whose verb the words open with. */
export function askedElsewhere(
  signal: Pick<Signal, "turn" | "exchange">,
  { hint, toolName }: { hint: Hint; toolName: string },
): string | undefined {
  const other = askedOf(signal, toolName).find((each) => findParameter(each, hint.parameter) !== undefined);
  return other === undefined ? undefined : `a request for ${other.function.name}, which has ${hint.parameter}, too: not about ${toolName}`;
}

// "Play it on the TV", "order the large one instead": who speaks of what was done, or against it, asks for no other.
const OF_WHAT_WAS_DONE = /^\p{L}+ (?:it|that|this|them|those|these|me|us|one|only|just)\b/iu;
const AGAINST_IT =
  /\b(?:no|not|never|nope|wrong|instead|rather|should|actually|meant|always|again|other|different|change|said|asked|told|want(?:ed)?|prefer|from now on|ones?)\b|n't\b/i;

const NEXT = /^\W*(?:(?:ok(?:ay)?|great|good|perfect|nice|thanks|thank you)\b\W*)*(?:and )?(?:now|next)\b,? (?!time\b)\p{L}/iu;

/** What else the user asks the called tool for, for people: "Ship a parcel to Ann with UPS" after one to Bob. It opens with the tool's verb, or with "now", and with what it is done to. */
export function askedAgain({ exchange }: Pick<Signal, "exchange">, toolName: string): string | undefined {
  const words = wordsBy(exchange.nextState, "user");
  const verb = humanise(toolName).split(" ")[0]?.toLowerCase();
  const opens = NEXT.test(words) || (openingVerb(words) === verb && verb !== undefined);
  if (!opens || AGAINST_IT.test(words) || OF_WHAT_WAS_DONE.test(words.replace(OPENERS, ""))) return undefined;
  return `a new request for ${toolName}: not about the last one`;
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
