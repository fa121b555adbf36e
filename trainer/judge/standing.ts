/**
 * Whether a correction tells a default. Where the user had spoken of the argument before the call, the correction mends
 * a misreading or a changed mind; learnt as a default it would be wrong in every other conversation.
 */
import type { ChatMessage } from "../../shared/chat.ts";
import type { Hint } from "../../shared/jobs.ts";
import { findTool, heldElsewhere } from "../data/calls.ts";
import type { Signal } from "../data/exchange.ts";
import { mentions, namesTopic, wordsBy } from "../data/mention.ts";
import { findParameter } from "../data/parameters.ts";
import { writtenForm } from "../data/spoken.ts";
import { heldText, lastCall } from "./ground.ts";

/** What the user had said of the argument when the call was made, for people; undefined where nothing. */
export function spokenBefore(
  { turn, exchange }: Pick<Signal, "turn" | "exchange">,
  { hint, toolName }: { hint: Hint; toolName: string },
): string | undefined {
  const tool = findTool(exchange.tools, toolName);
  const parameter = tool === undefined ? undefined : findParameter(tool, hint.parameter);
  if (parameter === undefined) return undefined;
  const call = lastCall(exchange, toolName);
  const words = requestWords(turn.payload.messages);
  // A truth or a number is in the words of many requests; it is this argument's only where they name it.
  const telling = (value: string): boolean => parameter.kind !== "boolean" && writtenForm(value) !== "number";
  const said = (value: string): boolean =>
    mentions(words, { parameter, value }) &&
    (telling(value) || namesTopic(words, parameter, { whole: parameter.kind === "boolean" })) &&
    !heldElsewhere(call?.arguments ?? {}, { parameter: parameter.name, value });
  if (said(hint.value)) return `the request already said ${hint.parameter} = ${hint.value}: misread, not a default`;
  const held = heldText(call, parameter.name);
  return held !== undefined && said(held) ? `the request said ${hint.parameter} = ${held}: another mind, not a default` : undefined;
}

/** What the user said for this call: since the call before it. */
function requestWords(messages: readonly ChatMessage[]): string {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const request = messages.slice(0, asked + 1);
  const settled = request.findLastIndex((message) => message.role === "assistant" && (message.tool_calls ?? []).length > 0);
  // "one" is a pronoun more often than a number.
  return wordsBy(request.slice(settled + 1), "user").replace(/\bone\b/gi, "");
}
