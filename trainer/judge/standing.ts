/**
 * Whether a correction tells a default. Where the user had spoken of the argument before the call, the correction mends
 * a misreading or a changed mind; learnt as a default it would be wrong in every other conversation.
 */
import type { Hint } from "../../shared/jobs.ts";
import { findTool } from "../../shared/speech/calls.ts";
import type { Signal } from "../data/exchange.ts";
import { choosesTool, wasSaid, wordsBy } from "../../shared/speech/mention.ts";
import { findParameter } from "../../shared/speech/parameters.ts";
import { heldText, lastCall } from "./ground.ts";

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
