/**
 * The chat messages and tools of the OpenAI Chat Completions wire that Nextstate accepts and emits.
 * Content parts are flattened to text at the boundary, so everything behind it sees strings.
 */
import { z } from "zod";

export const ToolCall = z.object({
  id: z.string().min(1),
  type: z.literal("function"),
  /** As the policy wrote them: arguments are not JSON where the call was cut or cannot be read, and old logs have calls without a name. */
  function: z.object({ name: z.string(), arguments: z.string() }),
});
export type ToolCall = z.infer<typeof ToolCall>;

export const AssistantMessage = z.object({
  role: z.literal("assistant"),
  content: z.string().nullable(),
  tool_calls: z.array(ToolCall).optional(),
});
export type AssistantMessage = z.infer<typeof AssistantMessage>;

export const ChatMessage = z.discriminatedUnion("role", [
  z.object({ role: z.literal("system"), content: z.string() }),
  z.object({ role: z.literal("user"), content: z.string() }),
  AssistantMessage,
  z.object({ role: z.literal("tool"), content: z.string(), tool_call_id: z.string() }),
]);
export type ChatMessage = z.infer<typeof ChatMessage>;

/** A JSON schema object; checked for shape where it is used, carried as it came. */
export const JsonSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof JsonSchema>;

export const ToolDefinition = z.object({
  type: z.literal("function"),
  function: z.object({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    description: z.string().optional(),
    parameters: JsonSchema.optional(),
    strict: z.boolean().nullish(),
  }),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/**
 * A message as the policy sees it. `notes` are standing defaults that yield to the user; `hint` is about the turn
 * at hand and is obeyed. Both stand on the last user message only and never come from a client.
 */
export type PromptMessage = ChatMessage & { notes?: readonly string[]; hint?: string };

/** Returns the messages with a hint or notes placed on the last user message. */
export function withGuidance(
  messages: readonly ChatMessage[],
  { hint, notes = [] }: { hint?: string | undefined; notes?: readonly string[] },
): PromptMessage[] {
  const last = messages.findLastIndex((message) => message.role === "user");
  return messages.map((message, index) => {
    if (index !== last) return message;
    return { ...message, ...(notes.length > 0 ? { notes } : {}), ...(hint === undefined ? {} : { hint }) };
  });
}

/** A message with its guidance as words of its content, for chat templates that write no notes or no hints. */
export function spellOutGuidance(
  { notes = [], hint, ...message }: PromptMessage,
  template: { notes: boolean; hint: boolean },
): PromptMessage {
  const spelled = [
    ...(template.notes ? [] : notes.map((note) => `Unless said otherwise: ${note}`)),
    ...(template.hint || hint === undefined ? [] : [`Hint: ${hint}`]),
  ];
  const content = spelled.length === 0 ? message.content : [message.content ?? "", spelled.join("\n")].join("\n\n");
  const written = { ...(template.notes && notes.length > 0 ? { notes } : {}), ...(template.hint && hint !== undefined ? { hint } : {}) };
  return { ...message, content, ...written } as PromptMessage; // the role, and with it what content may be, is the same
}
