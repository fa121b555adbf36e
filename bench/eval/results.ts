/** What the policy makes of tools' results in the shapes that people's own tools have, written by somebody who had not seen what training draws (`given-results.jsonl`). */
import { z } from "zod";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { plainSystem } from "../../trainer/pretrain/conversation.ts";
import { type EvaluatedPolicy, parseCall } from "./policy.ts";
import { type Share, share } from "./share.ts";

/** One question, one call, one result. `says`: of which a reply should say at least one. */
const GivenResult = z.strictObject({
  kind: z.enum(["object", "list", "text", "nothing", "error"]),
  question: z.string(),
  tool: z.strictObject({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.string()) }),
  arguments: z.record(z.string(), z.string()),
  result: z.string(),
  says: z.array(z.string()),
});
type GivenResult = z.infer<typeof GivenResult>;

const GIVEN = new URL("given-results.jsonl", import.meta.url);
const REPLY_TOKENS = 80;
const NOTHING = /\b(?:no|not|nothing|none|sorry|unable|couldn|didn|unfortunately)\b/i;
const TROUBLE = /\b(?:sorry|fail|failed|error|not|unfortunately|problem|wrong|couldn|unable)\b/i;

/**
 * `told`: whole replies that say something of what the result says, or that there is nothing, or that it failed. `invented`: replies with a
 * number or a name that stands nowhere in the conversation.
 */
export async function evaluateResults(policy: EvaluatedPolicy, encode: Tokenizer["encodePrompt"]) {
  const cases = readJsonLines(GIVEN, GivenResult);
  const tools = cases.map((given) => [definitionOf(given)]);
  const prompts = cases.map((given, index) =>
    encode({ messages: conversationOf(given), tools: tools[index] ?? [], addGenerationPrompt: true }),
  );
  const written = await policy.written("results", prompts, { maxTokens: REPLY_TOKENS, tools });
  const judged = cases.map((given, index) => {
    const answer = written[index];
    const text = answer?.text ?? "";
    const whole = (answer?.tokens.length ?? 0) < REPLY_TOKENS;
    return { kind: given.kind, told: whole && parseCall(text) === undefined && tells(given, text), invented: inventsIn(given, text), text };
  });
  const kinds = [...new Set(cases.map(({ kind }) => kind))];
  return {
    told: share(judged.map(({ told }) => told)),
    invented: share(judged.map(({ invented }) => invented)),
    ...Object.fromEntries(
      kinds.map((kind): [string, Share] => [kind, share(judged.filter((each) => each.kind === kind).map(({ told }) => told))]),
    ),
  };
}

function tells({ kind, says }: GivenResult, reply: string): boolean {
  const text = reply.toLowerCase();
  const said = says.some((each) => text.includes(each.toLowerCase()));
  if (kind === "nothing") return NOTHING.test(reply);
  return kind === "error" ? said || TROUBLE.test(reply) : said;
}

function inventsIn({ question, result, arguments: given }: GivenResult, reply: string): boolean {
  const known = `${question}\n${result}\n${spacedJson(given)}`.toLowerCase();
  const particulars = reply.match(/\d+(?:[.:-]\d+)*|(?<=[a-z,:] )\p{Lu}\p{L}+/gu) ?? [];
  return particulars.some((each) => each !== "I" && !/^\d$/.test(each) && !known.includes(each.toLowerCase()));
}

function definitionOf({ tool }: GivenResult): ToolDefinition {
  const properties = Object.fromEntries(
    Object.entries(tool.parameters).map(([name, description]) => [name, { type: "string", description }]),
  );
  const parameters = { type: "object", properties, required: Object.keys(properties) };
  return { type: "function", function: { name: tool.name, description: tool.description, parameters } };
}

function conversationOf({ question, tool, arguments: given, result }: GivenResult): ChatMessage[] {
  const call = { id: "call_1", type: "function" as const, function: { name: tool.name, arguments: spacedJson(given) } };
  return [
    { role: "system", content: plainSystem() },
    { role: "user", content: question },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", content: result, tool_call_id: "call_1" },
  ];
}
