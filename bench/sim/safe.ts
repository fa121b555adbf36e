/**
 * A task of several tool calls that nothing in its prompt gives away: a safe whose dial has to be turned the right way at every
 * step, as only the tool's results tell. One wrong turn spoils the whole; the others may still be right.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { Random } from "../../trainer/random.ts";
import type { AnswerCall } from "../../trainer/teacher/answer-text.ts";

export type Safe = {
  readonly name: string;
  readonly tools: readonly ToolDefinition[];
  /** The right direction at each step. */
  readonly code: readonly string[];
  readonly request: readonly ChatMessage[];
};

const DIRECTIONS = ["north", "south", "east"] as const;
const NAMES = ["Amber", "Birch", "Cobalt", "Dune", "Ember", "Fjord", "Grove", "Harbor"] as const;

export const STEPS = 3;

export function drawSafe(random: Random, index: number): Safe {
  const direction = { type: "string", description: "Where to turn it", enum: random.shuffled(DIRECTIONS) };
  const parameters = { type: "object", properties: { direction }, required: ["direction"] };
  const name = NAMES[index % NAMES.length] ?? "Amber";
  return {
    name,
    tools: [{ type: "function", function: { name: "TurnDial", description: "Turn the dial of the safe", parameters } }],
    code: Array.from({ length: STEPS }, () => random.pick(DIRECTIONS)),
    request: [{ role: "user", content: `Open the ${name} safe.` }],
  };
}

/** What the tool says to a call, and whether it was right. */
export function turn({ code }: Safe, step: number, calls: readonly AnswerCall[]): { right: boolean; result: string } {
  const right = calls.length === 1 && calls[0]?.arguments["direction"] === code[step];
  return { right, result: JSON.stringify(right ? { status: "ok" } : { status: "error", error: "nothing clicks" }) };
}
