/** What fits the embedded policy's context, and what to shorten where a prompt does not: the part that takes most of it. */
import { AppError } from "../../shared/errors.ts";
import type { Prompt } from "../../shared/tokenizer.ts";
import type { TurnSampling } from "../session/port.ts";

type Parts = Pick<Prompt, "messages" | "tools">;
type PartName = "instructions" | "tools" | "conversation";

const SHORTEN = {
  instructions: { param: "messages", advice: "the instructions take most of it: shorten the agent's, or the system message" },
  tools: { param: "tools", advice: "the tools take most of it: shorten what they say, or offer fewer" },
  conversation: { param: "messages", advice: "shorten the conversation" },
} as const satisfies Record<PartName, { param: string; advice: string }>;

/** How many tokens the answer may have: as asked for, else what is left. @throws {input/invalid} with the counts */
export function fitContext(
  parts: Parts,
  { promptCount, answerLimit, contextTokens }: { promptCount: number; answerLimit: TurnSampling["answerLimit"]; contextTokens: number },
): number {
  const left = contextTokens - promptCount;
  if (left < 1) throw overflow(parts, { contextTokens, promptCount, got: `${promptCount} in the prompt and room for an answer` });
  if (answerLimit === undefined) return left;
  const { param, tokens, rest = false } = answerLimit;
  if (tokens <= left || rest) return Math.min(tokens, left);
  throw new AppError(
    "input/invalid",
    `${param}: at most ${left} expected, which a prompt of ${promptCount} leaves of ${contextTokens} tokens of context, got ${tokens}; lower it or leave it out`,
    { details: { param, code: "context_length_exceeded", promptTokens: promptCount, contextTokens, answerTokens: tokens } },
  );
}

export function overflow(
  parts: Parts,
  { contextTokens, promptCount, got }: { contextTokens: number; promptCount: number; got: string },
): AppError {
  const { param, advice } = SHORTEN[longestPart(parts)];
  return new AppError("input/invalid", `${param}: at most ${contextTokens} tokens of context expected, got ${got}; ${advice}`, {
    details: { param, code: "context_length_exceeded", promptTokens: promptCount, contextTokens },
  });
}

/** By characters: a part that takes most of a prompt does so in tokens, too. */
function longestPart({ messages, tools = [] }: Parts): PartName {
  const lengthOf = (isOf: (role: string) => boolean): number => JSON.stringify(messages.filter(({ role }) => isOf(role))).length;
  const lengths: [PartName, number][] = [
    ["conversation", lengthOf((role) => role !== "system")],
    ["instructions", lengthOf((role) => role === "system")],
    ["tools", JSON.stringify(tools).length],
  ];
  return lengths.reduce((longest, part) => (part[1] > longest[1] ? part : longest))[0];
}
