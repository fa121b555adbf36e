/**
 * What a model behind a server is asked: the instructions of instructions.txt, then the request, the answer and the whole next state as one JSON document between two
 * lines that carry its digest. Nobody who writes into the document can write its digest, and nothing in it can end a string.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ChatMessage } from "../../../shared/chat.ts";
import { findTool } from "../../../shared/speech/calls.ts";
import { sha256 } from "../../../shared/digest.ts";
import type { Signal } from "../../data/exchange.ts";

/** Sent as they are, so that the digest of the file is the digest of what was sent. */
const INSTRUCTIONS = readFileSync(new URL("instructions.txt", import.meta.url), "utf8");
/** By which a judgement names them. */
export const INSTRUCTIONS_DIGEST = createHash("sha256").update(INSTRUCTIONS).digest("hex");

/** In the subset that OpenAI's strict mode takes: every member required, none added. */
export const BALLOT_SCHEMA = {
  type: "object",
  additionalProperties: false,
  required: ["why", "vote", "hint"],
  properties: {
    why: { type: "string" },
    vote: { type: "integer", enum: [-1, 0, 1] },
    hint: {
      anyOf: [
        {
          type: "object",
          additionalProperties: false,
          required: ["tool", "parameter", "value"],
          properties: { tool: { type: "string" }, parameter: { type: "string" }, value: { type: "string" } },
        },
        { type: "null" },
      ],
    },
  },
} as const;

const MOST_CHARS = 60_000; // of all messages together, about 15,000 tokens
const LEAST_CHARS = 500; // of one message

export type PromptMessage = { readonly role: "system" | "user"; readonly content: string };

export async function ballotPrompt({ turn, toolResults, exchange }: Signal): Promise<PromptMessage[]> {
  const { messages, answer } = turn.payload;
  const asked = messages.slice(
    Math.max(
      0,
      messages.findLastIndex(({ role }) => role === "user"),
    ),
  );
  const next = [...toolResults, ...exchange.nextState];
  const share = Math.max(LEAST_CHARS, Math.floor(MOST_CHARS / (asked.length + next.length + 1)));
  const quote = (message: ChatMessage): unknown => quoteMessage(message, share);
  const data = quoteJson({
    tools: exchange.tools.map(({ function: { name, description, parameters } }) => ({ name, description, parameters })),
    otherTools: turn.payload.tools.map((tool) => tool.function.name).filter((name) => findTool(exchange.tools, name) === undefined),
    request: asked.map(quote),
    answer: quote(answer),
    nextState: next.map(quote),
  });
  const code = (await sha256(data)).slice(0, 16);
  return [
    { role: "system", content: INSTRUCTIONS },
    { role: "user", content: `DATA ${code}\n${data}\nEND OF DATA ${code}` },
  ];
}

/**
 * JSON in which a chat template finds none of its own marks: `<|im_start|>`, `</s>` and `[INST]` are control tokens to many servers
 * wherever they stand, so their first character is written as its escape. A JSON reader gets the same text back.
 */
export function quoteJson(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replaceAll("<", "\\u003c")
    .replace(/\[(?=\/?[A-Z_]{3,}\])/g, "\\u005b");
}

function quoteMessage(message: ChatMessage, share: number): unknown {
  if (message.role === "tool") return { role: "tool", content: clip(message.content, share) };
  if (message.role !== "assistant") return { role: message.role, content: clip(message.content, share) };
  const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: text } }) => ({ name, arguments: clip(text, share) }));
  return { role: "assistant", content: clip(message.content ?? "", share), ...(calls.length === 0 ? {} : { calls }) };
}

/** Begin and end: what a long output is about, and how it ended. */
function clip(text: string, share: number): string {
  if (text.length <= share) return text;
  const half = Math.floor(share / 2);
  return `${text.slice(0, half)}…(${text.length - 2 * half} characters left out)…${text.slice(-half)}`;
}
