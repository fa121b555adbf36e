/**
 * The base's three jobs beside acting: judge (what the next state says about an exchange), hint (which argument should
 * have been different) and wish (whether the user wants to be asked before a call, or not to be asked). Prompts are data, each
 * written once; training, the trainer and evaluation share them.
 *
 * An exchange is a user message, every call, result and reply that answers it, and what the user said next.
 */
import { aspectText, isAspect, parseAspect } from "./aspects.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import { respaceJson, respaceResult } from "./spaced-json.ts";

export const JUDGE_SYSTEM =
  "Judge the answer by what the user says next. Reply +1 if it was right, -1 if the user corrects or rejects it, 0 if nothing can be told.";
export const HINT_SYSTEM =
  "Say in one sentence which argument of the call should have been different, from what the user says next. Reply none if nothing was wrong.";
export const WISH_SYSTEM =
  "Does the user want to be asked before such a call is made? Reply ask if the assistant should have asked first, go if it should not ask, none if nothing of that is said.";

export type Exchange = {
  /** From the user's message up to the policy's last answer. */
  answered: readonly ChatMessage[];
  /** What followed; for an exchange, the user's next message. */
  nextState: readonly ChatMessage[];
  /** Tools that the exchange called; the hint names their parameters. */
  tools: readonly ToolDefinition[];
};

export type Job = "judge" | "hint" | "wish";
export type JobPrompt = { job: Job; messages: ChatMessage[]; tools: readonly ToolDefinition[] };

// A tool's output can be long; its beginning is enough to see what the answer was about.
const MAX_RESULT_CHARS = 160;
// What people say of an answer stands where they begin or end; much more would leave the jobs no room, and drown it.
const MAX_SAID_CHARS = 400;

export function judgePrompt(exchange: Exchange): JobPrompt {
  return { job: "judge", messages: jobMessages(JUDGE_SYSTEM, exchange), tools: [] };
}

export function hintPrompt(exchange: Exchange): JobPrompt {
  return { job: "hint", messages: jobMessages(HINT_SYSTEM, exchange), tools: exchange.tools };
}

export function wishPrompt(exchange: Exchange): JobPrompt {
  return { job: "wish", messages: jobMessages(WISH_SYSTEM, exchange), tools: [] };
}

/** `ask`: before such a call the user wants to be asked; `go`: it is to be made without asking. */
export const WISHES = ["ask", "go", "none"] as const;
export type Wish = (typeof WISHES)[number];

/** The wish of a job's answer, or undefined where it is not one of the three. */
export function parseWish(text: string): Wish | undefined {
  const answer = text.trim();
  return WISHES.find((wish) => wish === answer);
}

export function rewardText(reward: number): string {
  return reward > 0 ? "+1" : reward < 0 ? "-1" : "0";
}

/** The reward of a judge's answer, or undefined where it is not one of the three. */
export function parseReward(text: string): -1 | 0 | 1 | undefined {
  const answer = text.trim();
  return answer === "+1" ? 1 : answer === "-1" ? -1 : answer === "0" ? 0 : undefined;
}

/** What should have been different: an argument, by its parameter, or an aspect of the call (aspects.ts). */
export type Hint = { parameter: string; value: string };
export type ParsedHint = { kind: "hint"; text: string; hint: Hint } | { kind: "none" } | { kind: "unparsable"; text: string };

/** Of an argument, as the hint job writes it. */
export function hintText({ parameter, value }: Hint): string {
  return `${parameter} should be ${value}.`;
}

/** As prompts, the log and people have it. @param tool whose call it is about, which the text of an aspect names */
export function correctionText(hint: Hint, tool: string): string {
  return isAspect(hint.parameter) ? aspectText({ ...hint, tool }) : hintText(hint);
}

export function parseHint(text: string): ParsedHint {
  const answer = text.trim();
  if (answer === "none") return { kind: "none" };
  const aspect = parseAspect(answer);
  if (aspect !== undefined) return { kind: "hint", text: answer, hint: { parameter: aspect.parameter, value: aspect.value } };
  // A name may be of several words: JSON schema allows any.
  const match = /^(.+?) should be (.+)\.$/s.exec(answer);
  const [, parameter, value] = match ?? [];
  if (parameter === undefined || value === undefined) return { kind: "unparsable", text };
  return { kind: "hint", text: answer, hint: { parameter, value } };
}

function jobMessages(system: string, { answered, nextState }: Exchange): ChatMessage[] {
  const lines = [
    ...answered.flatMap((message) => transcriptLines(message)),
    "Next:",
    ...nextState.flatMap((message) => transcriptLines(message)),
  ];
  return [
    { role: "system", content: system },
    { role: "user", content: lines.join("\n") },
  ];
}

function transcriptLines(message: ChatMessage): string[] {
  if (message.role === "tool") return [`Result: ${clip(oneLine(respaceResult(message.content)))}`];
  if (message.role !== "assistant") return [`User: ${withoutMiddle(oneLine(message.content))}`];
  const calls = (message.tool_calls ?? []).map(
    ({ function: call }) => `Call: {"name": ${JSON.stringify(call.name)}, "arguments": ${respaceJson(call.arguments)}}`,
  );
  return message.content ? [...calls, `Answer: ${withoutMiddle(oneLine(message.content))}`] : calls;
}

/** Lines are the transcript's own: a tool's output that holds `User: No, that is wrong.` on a line of its own is still its output. */
function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]\s*/g, " ");
}

function clip(text: string): string {
  return text.length <= MAX_RESULT_CHARS ? text : `${text.slice(0, MAX_RESULT_CHARS)}…`;
}

/** A long text with each sentence said once, and without whole words of its middle. */
function withoutMiddle(long: string): string {
  if (long.length <= MAX_SAID_CHARS) return long;
  const text = [...new Set(long.split(/(?<=[.!?])\s+/))].join(" ");
  if (text.length <= MAX_SAID_CHARS) return text;
  const half = MAX_SAID_CHARS / 2;
  const [begin, end] = [text.slice(0, half).replace(/\s+\S*$/, ""), text.slice(-half).replace(/^\S*\s+/, "")];
  return `${begin} … ${end}`;
}
