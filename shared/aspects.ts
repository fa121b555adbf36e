/**
 * What a hint may be about that is no argument of a call: which of two tools is called, whether the user is asked before, and how replies to
 * its results are worded. An aspect stands where a parameter's name stands, in hints, notes and the log alike, with a sign before it that sets it apart.
 */
import type { ToolDefinition } from "./chat.ts";
import type { Parameter } from "./speech/parameters.ts";
import { findTool } from "./speech/calls.ts";
import { COUNT_TOLD, isReplyAspect, isWording, NO_QUESTION, REPLY_ASPECTS, type ReplyAspect } from "./wording.ts";

export const ASPECTS = ["@tool", "@ask", ...REPLY_ASPECTS] as const;
/** `@tool`: the value is the tool that is to be called in the place of the hint's. `@ask`: whether the user is asked before the hint's tool is called. The others: wording.ts. */
export type Aspect = (typeof ASPECTS)[number];

/** Values of `@ask`. */
export const ASK_FIRST = "first";
export const ASK_NEVER = "never";

export type Place = { readonly tool: string; readonly parameter: string; readonly value: string };

export function isAspect(parameter: string): parameter is Aspect {
  return ASPECTS.some((aspect) => aspect === parameter);
}

/** An aspect in the place of a parameter, of which nobody names a value. */
export function aspectParameter(name: string): Parameter | undefined {
  if (!isAspect(name)) return undefined;
  return { name, words: "", ownWords: [], description: "", kind: "text", type: "", allowed: [], required: false, fallback: undefined };
}

/** How replies are worded, the value in the place of the star. */
const MANNERS: Readonly<Record<ReplyAspect, string>> = {
  "@length": "in at most * words",
  "@question": "without a question",
  "@name": "with the name *",
  "@count": "with how many were found",
};

/** As people and policies read it. */
export function aspectText({ tool, parameter, value }: Place): string {
  if (parameter === "@tool") return `Call ${value} in place of ${tool}.`;
  if (isReplyAspect(parameter)) return `Reply to ${tool} ${MANNERS[parameter].replace("*", value)}.`;
  return value === ASK_FIRST ? `Ask before ${tool} is called.` : `Call ${tool} without asking.`;
}

/** What such a text says, or undefined where it is none. */
export function parseAspect(text: string): Place | undefined {
  const [, value, instead] = /^Call (\S+) in place of (\S+)\.$/.exec(text) ?? [];
  if (value !== undefined && instead !== undefined) return { tool: instead, parameter: "@tool", value };
  const [, asked] = /^Ask before (\S+) is called\.$/.exec(text) ?? [];
  if (asked !== undefined) return { tool: asked, parameter: "@ask", value: ASK_FIRST };
  const [, replied, manner = ""] = /^Reply to (\S+) (.+)\.$/.exec(text) ?? [];
  if (replied !== undefined) return parseManner(replied, manner);
  const [, unasked] = /^Call (\S+) without asking\.$/.exec(text) ?? [];
  return unasked === undefined ? undefined : { tool: unasked, parameter: "@ask", value: ASK_NEVER };
}

function parseManner(tool: string, manner: string): Place | undefined {
  const places = REPLY_ASPECTS.flatMap((parameter): Place[] => {
    const [before = "", after] = MANNERS[parameter].split("*");
    if (after === undefined)
      return manner === before ? [{ tool, parameter, value: parameter === "@question" ? NO_QUESTION : COUNT_TOLD }] : [];
    const fits = manner.startsWith(before) && manner.endsWith(after);
    return fits ? [{ tool, parameter, value: manner.slice(before.length, manner.length - after.length) }] : [];
  });
  return places.find(isWording);
}

/**
 * What a correction decides: an argument, whether somebody is asked before a call, what is called in a tool's place. Of two that share a
 * topic the latest counts; a choice between two tools is one topic whichever way round.
 */
export function topicsOf({ tool, parameter, value }: Place): string[] {
  const own = JSON.stringify([tool, parameter]);
  return parameter === "@tool" ? [own, JSON.stringify([parameter, ...[tool, value].toSorted()])] : [own];
}

/** The tools of which what it is about is learned: of two, either. */
export function toolsOf({ tool, parameter, value }: Place): string[] {
  return parameter === "@tool" ? [tool, value] : [tool];
}

/** Whether the tools at hand are those that it is about. */
export function appliesTo({ tool, parameter, value }: Place, tools: readonly ToolDefinition[]): boolean {
  if (findTool(tools, tool) === undefined) return false;
  if (isReplyAspect(parameter)) return isWording({ parameter, value });
  return parameter === "@ask" ? value === ASK_FIRST || value === ASK_NEVER : value !== tool && findTool(tools, value) !== undefined;
}
