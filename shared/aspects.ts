/**
 * What a hint may be about that is no argument of a call: which of two tools is called, and whether the user is asked before. An
 * aspect stands where a parameter's name stands, in hints, notes and the log alike, with a sign before it that sets it apart.
 */
import type { ToolDefinition } from "./chat.ts";
import type { Parameter } from "./speech/parameters.ts";
import { findTool } from "./speech/calls.ts";

export const ASPECTS = ["@tool", "@ask"] as const;
/** `@tool`: the value is the tool that is to be called in the place of the hint's. `@ask`: whether the user is asked before the hint's tool is called. */
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
  return { name, words: "", description: "", kind: "text", type: "", allowed: [], required: false, fallback: undefined };
}

/** As people and policies read it. */
export function aspectText({ tool, parameter, value }: Place): string {
  if (parameter === "@tool") return `Call ${value} in place of ${tool}.`;
  return value === ASK_FIRST ? `Ask before ${tool} is called.` : `Call ${tool} without asking.`;
}

/** What such a text says, or undefined where it is none. */
export function parseAspect(text: string): Place | undefined {
  const [, value, instead] = /^Call (\S+) in place of (\S+)\.$/.exec(text) ?? [];
  if (value !== undefined && instead !== undefined) return { tool: instead, parameter: "@tool", value };
  const [, asked] = /^Ask before (\S+) is called\.$/.exec(text) ?? [];
  if (asked !== undefined) return { tool: asked, parameter: "@ask", value: ASK_FIRST };
  const [, unasked] = /^Call (\S+) without asking\.$/.exec(text) ?? [];
  return unasked === undefined ? undefined : { tool: unasked, parameter: "@ask", value: ASK_NEVER };
}

/**
 * What a correction decides: an argument, whether somebody is asked before a call, what is called in a tool's place. Of two that share a
 * topic the latest counts; a choice between two tools is one topic whichever way round.
 */
export function topicsOf({ tool, parameter, value }: Place): string[] {
  const own = JSON.stringify([tool, parameter]);
  return parameter === "@tool" ? [own, JSON.stringify([parameter, ...[tool, value].toSorted()])] : [own];
}

/** Whether the tools at hand are those that it is about. */
export function appliesTo({ tool, parameter, value }: Place, tools: readonly ToolDefinition[]): boolean {
  if (findTool(tools, tool) === undefined) return false;
  return parameter === "@ask" ? value === ASK_FIRST || value === ASK_NEVER : value !== tool && findTool(tools, value) !== undefined;
}
