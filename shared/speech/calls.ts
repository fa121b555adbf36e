/** Tool calls of an assistant message with their arguments read; what cannot be read is said, never repaired. */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import { canonicalJson } from "../digest.ts";
import { isNestedDeeper } from "../nesting.ts";
import { parseExactly } from "../spaced-json.ts";

export type ReadCall =
  | { readonly status: "read"; readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  | { readonly status: "unreadable"; readonly name: string; readonly text: string };

export type Call = Extract<ReadCall, { status: "read" }>;

export function readCalls(message: ChatMessage): ReadCall[] {
  if (message.role !== "assistant") return [];
  return (message.tool_calls ?? []).map(({ function: { name, arguments: text } }) => {
    const value = parseObject(text);
    return value === undefined ? { status: "unreadable", name, text } : { status: "read", name, arguments: value };
  });
}

/** Calls whose arguments could be read. */
export function readableCalls(message: ChatMessage): Call[] {
  return readCalls(message).filter((call) => call.status === "read");
}

/** Whether two answers say the same: their text but for the space around it, and their calls with the same arguments in whatever order. */
export function sameAnswer(left: ChatMessage, right: ChatMessage): boolean {
  const told = (message: ChatMessage): string => {
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    return canonicalJson([
      (message.content ?? "").trim(),
      calls.map(({ function: { name, arguments: text } }) => [name, canonicalArguments(text)]),
    ]);
  };
  return told(left) === told(right);
}

/** A call's arguments to compare, to the last digit: two account numbers may be one double. */
export function canonicalArguments(text: string): string {
  try {
    return canonicalJson(parseExactly(text));
  } catch {
    return text; // not JSON, so its characters are all there is to compare
  }
}

/** Whether two calls are of one tool and have the same, but for arguments that are open. */
export function sameCall(
  left: Pick<Call, "name" | "arguments">,
  right: Pick<Call, "name" | "arguments">,
  isOpen: (parameter: string) => boolean = () => false,
): boolean {
  const same = (name: string): boolean => canonicalJson(left.arguments[name] ?? null) === canonicalJson(right.arguments[name] ?? null);
  return left.name === right.name && Object.keys({ ...left.arguments, ...right.arguments }).every((name) => isOpen(name) || same(name));
}

/** Whether the conversation has made the call, but for arguments that are open. */
export function wasMade(
  messages: readonly ChatMessage[],
  call: Pick<Call, "name" | "arguments">,
  isOpen?: (parameter: string) => boolean,
): boolean {
  return messages.flatMap(readableCalls).some((made) => sameCall(made, call, isOpen));
}

/** The tool of a message's first call. */
export function firstTool(message: ChatMessage | undefined): string | undefined {
  return message?.role === "assistant" ? message.tool_calls?.[0]?.function.name : undefined;
}

/** An argument as text: strings as they are, anything else as JSON. */
export function argumentText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Whether another argument of the call holds the value: said once, it may have been meant for that one. */
export function heldElsewhere(
  args: Readonly<Record<string, unknown>>,
  { parameter, value }: { parameter: string; value: string },
): boolean {
  return Object.entries(args).some(([name, held]) => name !== parameter && sameText(argumentText(held), value));
}

/** Whether two arguments read the same, in whatever case. */
export function sameText(left: string, right: string): boolean {
  return left.trim().toLowerCase() === right.trim().toLowerCase();
}

export function findTool(tools: readonly ToolDefinition[], name: string): ToolDefinition | undefined {
  return tools.find((tool) => tool.function.name === name);
}

/** The text as a JSON object, or undefined where it is none that can be walked: what a text holds, the depth of no body bounds. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseBody(text);
  return isNestedDeeper(value) ? undefined : value;
}

/** The text as a JSON object of any depth, or undefined where it is none. It inherits nothing: what is asked for by name is there only where the text has it. */
export function parseBody(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? Object.assign(Object.create(null), value) : undefined;
  } catch {
    return undefined;
  }
}
