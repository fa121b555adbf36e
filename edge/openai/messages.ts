/**
 * The message list of a request: each message's shape, and the order that tool calls impose.
 * Content parts become one text and `developer` becomes `system`, so everything behind this file sees one form.
 */
import { z } from "zod";
import type { AssistantMessage, ChatMessage, ToolCall } from "../../shared/chat.ts";
import { assertNever } from "../../shared/assert.ts";
import { MOST_LEVELS } from "../../shared/nesting.ts";
import { parseObject } from "../../shared/speech/calls.ts";
import { invalid } from "./refuse.ts";
import { FunctionName } from "./tools.ts";

/** Why a call cannot be taken back. */
export const UNNAMED_CALL = "the name of a tool expected, got an empty one; leave the call out";

const ONLY_TEXT = "only text parts are supported";
const PARTS = "a string or a list of text parts expected";
const TextPart = z.strictObject({ type: z.literal("text", ONLY_TEXT), text: z.string() });
const Content = z.union([z.string(), z.array(TextPart).min(1)], PARTS);
const Call = z.strictObject({
  id: z.string().min(1),
  type: z.literal("function", "only function calls are supported"),
  function: z.strictObject({
    name: z.string().min(1, UNNAMED_CALL),
    arguments: z.string(),
    /** Added by the stream helper of the `openai` package for Python. */
    parsed_arguments: z.unknown().optional(),
  }),
  /** Of the streamed delta that began the call; clients that add deltas up keep it. */
  index: z.int().optional(),
});

/** What clients send back of an answer beside its words: empty, known here anyway, or what another model said of where its words came from. */
const ECHO = {
  audio: z.null("audio is not supported").optional(),
  function_call: z.null("use tool_calls").optional(),
  /** What the `openai` package's helpers made of the content: null, or the object that it is the JSON of. */
  parsed: z.unknown().optional(),
  annotations: z.array(z.unknown()).nullish(),
  /** The session has what was run on this side itself. */
  executed_tools: z.array(z.unknown()).optional(),
};

/** A part of an answer: frameworks put on it what stood beside it in the message. Another model's refusal is what it said. */
const AnswerPart = z.discriminatedUnion(
  "type",
  [
    TextPart.extend({ role: z.literal("assistant").optional(), refusal: z.null().optional(), ...ECHO }),
    z.strictObject({ type: z.literal("refusal"), refusal: z.string() }),
  ],
  ONLY_TEXT,
);
const AnswerContent = z.union([z.string(), z.array(AnswerPart).min(1)], PARTS);

/**
 * Who of a role speaks. Agent frameworks put it on every message, on answers of ours too, so it is no part of the conversation: with it an
 * answer that is sent back would be another one.
 */
const NAMED = { name: z.string().nullish() };

const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: Content, ...NAMED }),
  z.strictObject({ role: z.literal("developer"), content: Content, ...NAMED }),
  z.strictObject({ role: z.literal("user"), content: Content, ...NAMED }),
  z.strictObject({
    role: z.literal("assistant"),
    content: AnswerContent.nullish(),
    refusal: z.string().nullish(),
    ...NAMED,
    tool_calls: z.array(Call).min(1, "leave it out where there are no calls").nullish(),
    ...ECHO,
  }),
  z.strictObject({ role: z.literal("tool"), content: Content, tool_call_id: z.string().min(1), ...NAMED }),
]);

const MAX_ANSWER_TEXT = 4_000; // characters, as of any words of feedback
const MAX_ANSWER_CALLS = 8;
const MAX_ANSWER_ARGUMENTS = 16_384; // characters, of all calls together

const SuppliedCall = Call.partial({ id: true, type: true }).extend({
  function: Call.shape.function.extend({ name: FunctionName, arguments: z.string().max(MAX_ANSWER_ARGUMENTS) }),
});
const SuppliedCalls = z
  .array(SuppliedCall)
  .min(1, "leave it out where there are no calls")
  .max(MAX_ANSWER_CALLS)
  .superRefine((calls, context) => {
    const total = calls.reduce((sum, { function: { arguments: text } }) => sum + text.length, 0);
    const message = `at most ${MAX_ANSWER_ARGUMENTS} characters of arguments expected in all, got ${total}`;
    if (total > MAX_ANSWER_ARGUMENTS) context.addIssue({ code: "custom", message });
  });

/** An answer that somebody supplies, in the form of an assistant message; ids of calls say nothing and may be left out. */
export const FeedbackAnswer = z
  .strictObject({
    role: z.literal("assistant").optional(),
    content: Content.nullish(),
    tool_calls: SuppliedCalls.nullish(),
  })
  .refine(
    ({ content, tool_calls: calls }) => toAnswerText(content) !== "" || (calls ?? []).length > 0,
    "content or tool_calls expected, got neither",
  )
  .refine(({ content }) => toAnswerText(content).length <= MAX_ANSWER_TEXT, `content: at most ${MAX_ANSWER_TEXT} characters expected`)
  .refine(
    ({ tool_calls: calls }) => (calls ?? []).every(({ function: { arguments: text } }) => parseObject(text) !== undefined),
    `tool_calls: arguments that are a JSON object of at most ${MOST_LEVELS} levels, as text, expected`,
  );

/** The answer in our form, its calls with ids by their place: the same answer given twice is the same. */
export function toAnswer({ content, tool_calls: calls }: z.infer<typeof FeedbackAnswer>): AssistantMessage {
  const text = toAnswerText(content);
  const toolCalls = (calls ?? []).map((call, index) => toToolCall({ ...call, id: `call_${index}`, type: "function" }));
  return { role: "assistant", content: text === "" ? null : text, ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }) };
}

function toAnswerText(content: z.infer<typeof Content> | null | undefined): string {
  return content === null || content === undefined ? "" : toText(content);
}

export const Messages = z.array(Message).min(1, "at least one message expected, got none");
type Message = z.infer<typeof Message>;

/** The conversation in our form. @throws as `checkConversation` */
export function toConversation(messages: readonly Message[]): ChatMessage[] {
  const conversation = messages.map(toChatMessage);
  checkConversation(conversation);
  return conversation;
}

/** The name of a message of the request, or of a member of it, as the client knows it. */
export type Place = (index: number, member?: "content" | "tool_calls" | "tool_call_id") => string;

/** @throws {input/invalid} where calls and results do not match, or the turn is not ours to take */
export function checkConversation(conversation: readonly ChatMessage[], place: Place = ownPlace): void {
  conversation.forEach((message, index) => checkContent(message, index, place));
  checkCalls(conversation, place);
  if (conversation.length === 0) throw invalid(place(0), "a message or the result of a call expected, got none");
  const last = conversation.length - 1;
  if (conversation[last]?.role === "assistant")
    throw invalid(place(last), "the last message must be from user, tool or system, got assistant; answers are not continued");
}

function ownPlace(index: number, member?: string): string {
  return ["messages", index, ...(member === undefined ? [] : [member])].join(".");
}

function toChatMessage(message: Message): ChatMessage {
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", content: toText(message.content) };
    case "user":
      return { role: "user", content: toText(message.content) };
    case "tool":
      return { role: "tool", content: toText(message.content), tool_call_id: message.tool_call_id };
    case "assistant": {
      const said = [message.content, message.refusal].flatMap((each) => (each === null || each === undefined ? [] : [toText(each)]));
      const content = said.length === 0 ? null : said.join("\n");
      return { role: "assistant", content, ...(message.tool_calls ? { tool_calls: message.tool_calls.map(toToolCall) } : {}) };
    }
    default:
      return assertNever(message);
  }
}

function toToolCall({ id, type, function: { name, arguments: text } }: z.infer<typeof Call>): ToolCall {
  return { id, type, function: { name, arguments: text } };
}

function toText(content: z.infer<typeof AnswerContent>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("\n");
}

function checkContent(message: ChatMessage, index: number, place: Place): void {
  if (message.role === "assistant" && message.content === null && message.tool_calls === undefined)
    throw invalid(place(index), "an assistant message needs content or tool_calls, got neither");
  if (message.role === "user" && message.content === "") throw invalid(place(index, "content"), "a user's text expected, got an empty one");
}

/** Every call is answered by exactly one result, before anything else is said. */
function checkCalls(messages: readonly ChatMessage[], place: Place): void {
  let open = new Map<string, string>();
  messages.forEach((message, index) => {
    if (message.role === "tool") return takeResult(open, message.tool_call_id, place(index, "tool_call_id"));
    checkAnswered(open);
    if (message.role === "assistant") open = openCalls(message.tool_calls ?? [], place(index, "tool_calls"));
  });
  checkAnswered(open);
}

/** The ids of calls, each with the place to name where it stays without a result. */
function openCalls(calls: readonly ToolCall[], place: string): Map<string, string> {
  const open = new Map(calls.map(({ id }) => [id, place]));
  if (open.size !== calls.length) throw invalid(place, "distinct ids expected, got one id twice");
  return open;
}

function takeResult(open: Map<string, string>, id: string, place: string): void {
  if (open.delete(id)) return;
  throw invalid(place, `the id of an unanswered call just before expected, got ${id}`);
}

function checkAnswered(open: ReadonlyMap<string, string>): void {
  for (const [id, place] of open) throw invalid(place, `a result for every call, before anything else, expected, got none for ${id}`);
}
