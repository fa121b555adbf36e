/** A prompt as tokens, and what is too long or cannot be shown refused before it costs anything. */
import type { ToolDefinition } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import type { Prompt, RenderedPrompt } from "../../shared/tokenizer.ts";
import type { Policy } from "../policy/policy.ts";
import { overflow } from "./context.ts";

/** @throws {input/invalid} where it cannot fit the context */
export function encodeAll(policy: Policy, prompt: Prompt): number[] {
  const { contextTokens } = policy;
  const { tokens, atLeast } = encodeWithin(policy, prompt, contextTokens);
  if (tokens === undefined) throw overflow(prompt, { contextTokens, promptCount: atLeast, got: `at least ${atLeast} in the prompt` });
  return tokens;
}

/** Encodes what may fit `room`; what cannot is seen by its length, and only how many tokens it has at least is told. */
export function encodeWithin(
  { tokenizer, contextTokens, longestTokenBytes }: Policy,
  prompt: Prompt,
  room: number,
): { tokens: number[] | undefined; atLeast: number } {
  // A message, a tool and a parameter take a token at least, and a token is at most `longestTokenBytes` of text. The parts are counted
  // first: what a template does with tens of thousands of them takes longer than anybody waits, and a megabyte takes seconds to encode.
  const parts = prompt.messages.length + (prompt.tools ?? []).reduce((sum, tool) => sum + 1 + parameterCount(tool), 0);
  if (parts > contextTokens) return { tokens: undefined, atLeast: parts };
  const { text, encode } = render(tokenizer, prompt);
  const atLeast = Math.ceil(text.length / longestTokenBytes);
  return { tokens: atLeast > room ? undefined : encode(), atLeast };
}

function parameterCount({ function: { parameters } }: ToolDefinition): number {
  const properties = parameters?.["properties"];
  return typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0;
}

/** @throws {input/unsupported} where the base's chat template fails on the conversation */
function render(tokenizer: Policy["tokenizer"], prompt: Prompt): RenderedPrompt {
  try {
    return tokenizer.renderPrompt(prompt);
  } catch (cause) {
    const param = prompt.tools === undefined || prompt.tools.length === 0 ? "messages" : "tools";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("input/unsupported", `${param}: what the base's chat template can show expected; it says: ${reason}`, {
      details: { param },
      cause,
    });
  }
}
