/** Whether prompts that are yet to come leave room for an answer: those of a suite's case, and those under an agent's instructions. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { Env } from "../env.ts";
import { invalid } from "../openai/refuse.ts";
import { fitContext } from "./context.ts";
import { encodeAll, encodeWithin } from "./encoded-prompt.ts";
import type { EngineTurn } from "./port.ts";
import { ownPolicy } from "./stored-policy.ts";

const SHORT_PROMPT = 500; // characters of instructions and tools, which leave room in any context that somebody would serve

type Bound = Pick<Env, "ARTIFACTS" | "BASE_DIGEST">;

/**
 * @param least what the answer has to hold
 * @throws {input/invalid} where the prompt leaves no room for an answer, naming what to shorten, or none for what is expected of it
 */
export async function checkRoom(
  env: Bound,
  { messages, tools, least }: Pick<EngineTurn, "messages" | "tools"> & { least: string },
): Promise<void> {
  const policy = await ownPolicy(env);
  const promptCount = encodeAll(policy, { messages, tools, addGenerationPrompt: true }).length;
  const left = fitContext({ messages, tools }, { promptCount, answerLimit: undefined, contextTokens: policy.contextTokens });
  const { length: expected } = policy.tokenizer.encode(least);
  if (expected > left)
    throw invalid(
      "expect",
      `at most ${left} tokens expected, which a prompt of ${promptCount} leaves of ${policy.contextTokens} tokens of context, got ${expected}`,
    );
}

/**
 * Whether a user's first word could still be answered under an agent's instructions, with its own tools in the prompt.
 * @throws {input/invalid} where it could not, naming the longer of the two
 */
export async function checkInstructions(
  env: Bound,
  { instructions, tools }: { instructions: string; tools: readonly ToolDefinition[] },
): Promise<void> {
  const toolCharacters = JSON.stringify(tools).length;
  if (instructions.length + toolCharacters <= SHORT_PROMPT) return;
  const messages: ChatMessage[] = [
    { role: "system", content: instructions },
    { role: "user", content: "Hello" },
  ];
  const policy = await ownPolicy(env);
  const { contextTokens } = policy;
  const { tokens, atLeast } = encodeWithin(policy, { messages, tools, addGenerationPrompt: true }, contextTokens);
  const promptCount = tokens?.length ?? atLeast;
  if (promptCount < contextTokens) return;
  const got = `${tokens === undefined ? "at least " : ""}${promptCount} with a first word of a user's${tools.length > 0 ? " and the agent's tools" : ""}`;
  throw invalid(
    toolCharacters > instructions.length ? "tools" : "instructions",
    `at most ${contextTokens} tokens of context expected, room for an answer among them, got ${got}; shorten them`,
  );
}
