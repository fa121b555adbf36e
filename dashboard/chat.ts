/** An answer in the playground, as it is written: the chunks of the Chat Completions stream put together. */
import { API } from "../shared/api-routes.ts";
import type { AssistantMessage, ChatMessage, ToolCall } from "../shared/chat.ts";
import type { ExecutedTool } from "../shared/executed-tool.ts";
import { request } from "./api.ts";

export type Answering = {
  readonly agent: string;
  readonly messages: readonly Said[];
  /** Of that version. */
  readonly line: string;
  /** Null: what answers users now, kept and learned from. */
  readonly version: number | null;
  /** The conversation's name. */
  readonly session: string;
};

/** With what the edge ran itself on the way to it; the edge takes it back as it is. */
export type Answer = AssistantMessage & { readonly executed_tools?: readonly ExecutedTool[] };
/** What is said in the playground. */
export type Said = Exclude<ChatMessage, AssistantMessage> | Answer;

type Delta = {
  content?: string | null;
  executed_tools?: ExecutedTool[];
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
};
type Chunk = { choices?: { delta: Delta }[]; error?: { message: string } };

/** @throws {ApiError} what the stream says went wrong, and what `signal` was aborted with */
export async function chat(
  { agent, line, messages, version, session }: Answering,
  onPartial: (message: Answer) => void,
  signal: AbortSignal,
): Promise<{ message: Answer; version: number; session: string }> {
  const asked = { ...(version === null ? {} : { version, line }), session_id: session, messages, stream: true, temperature: 0 };
  const response = await request(API.playground.at({ agent }), asked, signal);
  let content = "";
  const calls: ToolCall[] = [];
  const executed: ExecutedTool[] = [];
  const message = (): Answer => ({
    role: "assistant",
    content: content === "" ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(executed.length === 0 ? {} : { executed_tools: executed }),
  });
  for await (const data of dataOf(response)) {
    if (data === "[DONE]") break;
    const { choices, error } = JSON.parse(data) as Chunk;
    if (error !== undefined) throw new Error(error.message);
    for (const { delta } of choices ?? []) {
      content += delta.content ?? "";
      for (const part of delta.tool_calls ?? []) addCall(calls, part);
      // What came of a call takes the place of its having begun.
      for (const tool of delta.executed_tools ?? []) executed[tool.index] = tool;
    }
    onPartial(structuredClone(message()));
  }
  const { headers } = response;
  return { message: message(), version: Number(headers.get("x-policy-version")), session: headers.get("x-session-id") ?? "" };
}

function addCall(calls: ToolCall[], { index, id, function: said }: NonNullable<Delta["tool_calls"]>[number]): void {
  const call = (calls[index] ??= { id: id ?? "", type: "function", function: { name: "", arguments: "" } });
  call.function.name += said?.name ?? "";
  call.function.arguments += said?.arguments ?? "";
}

/** The data of server-sent events, as far as our own streams use the format: one line each. */
async function* dataOf(response: Response): AsyncGenerator<string, void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    rest += part.value;
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice("data: ".length);
  }
}
