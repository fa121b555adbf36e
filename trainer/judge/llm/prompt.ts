/**
 * What a model behind a server is asked: the instructions of instructions.txt, then the request, the answer and the whole next state as one JSON document between two
 * lines that carry its digest. Nobody who writes into the document can write its digest, and nothing in it can end a string.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
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
const MOST_MESSAGES = 60; // of the request, and of the next state: each then has some 500 characters
const LEAST_CALL_CHARS = 100;
const MOST_TOOL_CHARS = 20_000; // of tools that are shown whole
const MOST_NAMES = 200; // of other tools

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
  const share = Math.floor(MOST_CHARS / (Math.min(asked.length, MOST_MESSAGES) + Math.min(next.length, MOST_MESSAGES) + 1));
  const quote = (message: ChatMessage): unknown => quoteMessage(message, share);
  const tools = shownTools(exchange.tools);
  const data = quoteJson({
    tools,
    otherTools: ends(
      turn.payload.tools.map((tool) => tool.function.name).filter((name) => !tools.some((shown) => shown.name === name)),
      MOST_NAMES,
    ),
    request: ends(asked, MOST_MESSAGES, quote),
    answer: quote(answer),
    nextState: ends(next, MOST_MESSAGES, quote),
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

type ShownTool = Omit<ToolDefinition["function"], "strict">;

/** Those that there is room for, whole: half a schema says what is not so. */
function shownTools(called: readonly ToolDefinition[]): ShownTool[] {
  const shown: ShownTool[] = [];
  let left = MOST_TOOL_CHARS;
  for (const {
    function: { name, description, parameters },
  } of called) {
    const tool = { name, description, parameters };
    const chars = quoteJson(tool).length;
    if (chars > left) continue;
    left -= chars;
    shown.push(tool);
  }
  return shown;
}

/** The first and the last of what is too many, and how many are missing between them. */
function ends<Each>(list: readonly Each[], most: number, quote: (each: Each) => unknown = (each) => each): unknown[] {
  if (list.length <= most) return list.map(quote);
  const half = Math.floor(most / 2);
  return [...list.slice(0, half).map(quote), `…(${list.length - 2 * half} left out)…`, ...list.slice(-half).map(quote)];
}

/** Within its share, which its calls have a half of. */
function quoteMessage(message: ChatMessage, share: number): unknown {
  if (message.role === "tool") return { role: "tool", content: clip(message.content, share) };
  if (message.role !== "assistant") return { role: message.role, content: clip(message.content, share) };
  const { content, tool_calls: made = [] } = message;
  if (made.length === 0) return { role: "assistant", content: clip(content ?? "", share) };
  const most = Math.floor(share / 2 / LEAST_CALL_CHARS);
  const each = Math.floor(share / 2 / Math.min(made.length, most));
  const calls = ends(made, most, ({ function: { name, arguments: text } }) => ({ name, arguments: clip(text, each) }));
  return { role: "assistant", content: clip(content ?? "", Math.floor(share / 2)), calls };
}

/** Begin and end: what a long output is about, and how it ended. */
function clip(text: string, share: number): string {
  if (text.length <= share) return text;
  const half = Math.floor(share / 2);
  return `${text.slice(0, half)}…(${text.length - 2 * half} characters left out)…${text.slice(-half)}`;
}
