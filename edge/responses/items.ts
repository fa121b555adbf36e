/**
 * Items of the Responses API ↔ messages. Text and calls of one answer are items of their own there and one message
 * here, so neighbouring items of the assistant come together again: an answer that is sent back is recognised.
 */
import { z } from "zod";
import { assertNever } from "../../shared/assert.ts";
import type { ChatMessage, ToolCall } from "../../shared/chat.ts";
import { UNNAMED_CALL } from "../openai/messages.ts";
import { PARAGRAPH } from "../session/shown-answer.ts";

const InputText = z.strictObject({ type: z.literal("input_text"), text: z.string() });
const OutputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  /** Where another model's words came from. */
  annotations: z.array(z.unknown()).nullish(),
  /** Of our own answer, sent back with it. */
  logprobs: z.array(z.unknown()).optional(),
  /** Added by the `parse` helpers of the `openai` package. */
  parsed: z.unknown().optional(),
});
/** Another model's, which is what it said. */
const Refusal = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });
const TextPart = z.discriminatedUnion("type", [InputText, OutputText, Refusal], "only input_text and output_text parts are supported");
const Content = z.union([z.string(), z.array(TextPart).min(1)], "a text or a list of input_text and output_text parts expected");

/** What clients send back of an item of ours, and what says nothing. */
const ECHO = { id: z.string().nullish(), status: z.enum(["in_progress", "completed", "incomplete"]).nullish() };
const Caller = z.strictObject({ type: z.literal("direct", "calls by programs are not supported") });

const Item = z.discriminatedUnion(
  "type",
  [
    z.strictObject({
      type: z.literal("message").optional(),
      role: z.enum(["user", "assistant", "system", "developer"]),
      content: Content,
      /** Whether another model's words were its last ones, and who of a role speaks: neither is part of what was said. */
      phase: z.string().nullish(),
      name: z.string().nullish(),
      ...ECHO,
    }),
    z.strictObject({
      type: z.literal("function_call"),
      call_id: z.string().min(1),
      name: z.string().min(1, UNNAMED_CALL),
      arguments: z.string(),
      caller: Caller.nullish(),
      /** Added by the `parse` helpers of the `openai` package. */
      parsed_arguments: z.unknown().optional(),
      ...ECHO,
    }),
    z.strictObject({
      type: z.literal("function_call_output"),
      call_id: z.string().min(1),
      output: z.union([z.string(), z.array(InputText).min(1)], "a text or a list of input_text parts expected"),
      caller: Caller.nullish(),
      ...ECHO,
    }),
    // What was run on this side; the session has it all itself, so whatever a client has left of it will do.
    z.looseObject({ type: z.literal("mcp_call") }),
    // What another model thought and did not say.
    z.looseObject({ type: z.literal("reasoning") }),
    z.strictObject({ type: z.literal("item_reference"), id: z.string().min(1) }),
  ],
  "message, function_call, function_call_output, mcp_call, reasoning or item_reference expected; other items are not supported",
);
type Item = z.infer<typeof Item>;
/** One that stands there itself; what refers to others is read in `references.ts`. */
export type FullItem = Exclude<Item, { type: "item_reference" }>;
/** One that is a message or a part of one. */
type SpokenItem = Exclude<FullItem, { type: "mcp_call" | "reasoning" }>;

export const Items = z.array(Item).min(1, "at least one item expected, got none");
export const Input = z.union([z.string(), Items], "a text or a list of items expected");

/** An item of a conversation, with the name of its place in the request. */
export type PlacedItem = { readonly item: FullItem; readonly place: string };
export type PlacedMessage = { message: ChatMessage; readonly place: string };

export function toItems(input: string | readonly FullItem[]): PlacedItem[] {
  if (typeof input === "string") return [{ item: { role: "user", content: input }, place: "input" }];
  return input.map((item, index) => ({ item, place: `input.${index}` }));
}

/** The conversation that the items are, each message with the place of its first item. */
export function toMessages(items: readonly PlacedItem[]): PlacedMessage[] {
  const messages: PlacedMessage[] = [];
  let ran = false; // tools, on this side, since the message before
  for (const { item, place } of items) {
    if (item.type === "mcp_call") {
      ran = true;
      continue;
    }
    if (item.type === "reasoning") continue;
    const before = messages.at(-1);
    const joined = before === undefined ? undefined : join(before.message, item, ran);
    ran = false;
    if (before === undefined || joined === undefined) messages.push({ message: toMessage(item), place });
    else before.message = joined;
  }
  return messages;
}

/**
 * Both as one message, where the item goes on with the answer that the message is: calls follow text, text follows calls, and a
 * paragraph follows another where tools were run between them.
 */
function join(before: ChatMessage, item: SpokenItem, ran: boolean): ChatMessage | undefined {
  if (before.role !== "assistant") return undefined;
  const { content, tool_calls: calls = [] } = before;
  if (item.type === "function_call") return { role: "assistant", content, tool_calls: [...calls, toCall(item)] };
  if (item.type === "function_call_output" || item.role !== "assistant") return undefined;
  if (ran && calls.length === 0) return { role: "assistant", content: (content ?? "") + PARAGRAPH + toText(item.content) };
  return calls.length > 0 ? { role: "assistant", content: (content ?? "") + toText(item.content), tool_calls: calls } : undefined;
}

function toMessage(item: SpokenItem): ChatMessage {
  switch (item.type) {
    case "function_call":
      return { role: "assistant", content: null, tool_calls: [toCall(item)] };
    case "function_call_output":
      return { role: "tool", content: toText(item.output), tool_call_id: item.call_id };
    case "message":
    case undefined:
      return { role: item.role === "developer" ? "system" : item.role, content: toText(item.content) };
    default:
      return assertNever(item);
  }
}

function toCall({ call_id: id, name, arguments: text }: Extract<Item, { type: "function_call" }>): ToolCall {
  return { id, type: "function", function: { name, arguments: text } };
}

function toText(content: z.infer<typeof Content>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("\n");
}
