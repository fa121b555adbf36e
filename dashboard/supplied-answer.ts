/** An answer as somebody writes down that it should have been: reply and calls in fields, and what is wrong in them. */
import type { AssistantMessage } from "../shared/chat.ts";
import { pretty } from "./format.ts";

export type CallForm = { readonly name: string; readonly args: string };
export type AnswerForm = { readonly reply: string; readonly calls: readonly CallForm[] };

/** Begins as the answer that was given: most of it is mostly right. */
export function answerFormOf({ content, tool_calls: calls = [] }: AssistantMessage): AnswerForm {
  return {
    reply: content ?? "",
    calls: calls.map(({ function: { name, arguments: args } }) => ({ name, args: pretty(args) })),
  };
}

/** What is wrong with a call's arguments. */
export function argumentsProblem(args: string): string | undefined {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? undefined : "an object expected: {…}";
  } catch (error) {
    return `JSON expected: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** As `answer` of a feedback; undefined while it is none. */
export function suppliedAnswer({ reply, calls }: AnswerForm): object | undefined {
  if (reply.trim() === "" && calls.length === 0) return undefined;
  if (calls.some((call) => call.name === "" || argumentsProblem(call.args) !== undefined)) return undefined;
  return {
    content: reply.trim() === "" ? null : reply,
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(({ name, args }) => ({ function: { name, arguments: compact(args) } })) }),
  };
}

/** What was laid out for people goes back as a policy writes it. */
function compact(args: string): string {
  return JSON.stringify(JSON.parse(args));
}
