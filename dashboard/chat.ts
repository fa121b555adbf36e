/** An answer in the playground, as it is written: the chunks of the Chat Completions stream put together. */
import type { ChatMessage, ToolCall } from "../shared/chat.ts";
import { request } from "./api.ts";

export type Answering = {
  readonly agent: string;
  readonly messages: readonly ChatMessage[];
  /** Null: what answers users now, kept and learned from. */
  readonly version: number | null;
  /** The conversation's name. */
  readonly session: string;
};

type Assistant = Extract<ChatMessage, { role: "assistant" }>;
type Delta = {
  content?: string | null;
  tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[];
};
type Chunk = { choices?: { delta: Delta }[]; error?: { message: string } };

/** @throws {ApiError} and what the stream says went wrong */
export async function chat(
  { agent, messages, version, session }: Answering,
  onPartial: (message: Assistant) => void,
): Promise<{ message: Assistant; version: number }> {
  const response = await request("POST", `/api/agents/${agent}/playground`, {
    version,
    session_id: session,
    messages,
    stream: true,
    temperature: 0,
  });
  let content = "";
  const calls: ToolCall[] = [];
  const message = (): Assistant => ({
    role: "assistant",
    content: content === "" ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  });
  for await (const data of dataOf(response)) {
    if (data === "[DONE]") break;
    const { choices, error } = JSON.parse(data) as Chunk;
    if (error !== undefined) throw new Error(error.message);
    for (const { delta } of choices ?? []) {
      content += delta.content ?? "";
      for (const part of delta.tool_calls ?? []) addCall(calls, part);
    }
    onPartial(structuredClone(message()));
  }
  return { message: message(), version: Number(response.headers.get("x-policy-version")) };
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
