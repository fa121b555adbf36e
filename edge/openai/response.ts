/** The whole answer of a turn as one `chat.completion`. */
import type { ToolCall } from "../../shared/chat.ts";
import type { ExecutedTool } from "../../shared/executed-tool.ts";
import { fromErrorRecord } from "../../shared/errors.ts";
import type { ContentLogprob, FinishedDelta, TurnDelta } from "../session/port.ts";
import { type ChatPiece, ChatView } from "./chat-view.ts";
import { endless } from "./deltas.ts";
import { toLogprobs, toUsage, type Envelope, type Logprobs, type Usage } from "./wire.ts";

export type Completion = Envelope & {
  readonly object: "chat.completion";
  readonly choices: readonly {
    readonly index: 0;
    readonly message: {
      readonly role: "assistant";
      readonly content: string | null;
      readonly refusal: null;
      readonly annotations: readonly never[];
      readonly tool_calls?: readonly ToolCall[];
      /** What was run on this side. Not of OpenAI's API, where clients leave it alone. */
      readonly executed_tools?: readonly ExecutedTool[];
    };
    readonly logprobs: Logprobs | null;
    readonly finish_reason: FinishedDelta["finishReason"];
  }[];
  readonly usage: Usage;
  readonly service_tier: "default";
};

type Collected = {
  content: string;
  calls: { id: string; name: string; text: string }[];
  executed: ExecutedTool[];
  logprobs: ContentLogprob[] | undefined;
};

/** Collects an answer. @throws what the turn failed with, {upstream/failed} where it ends without an end */
export async function collectCompletion(
  deltas: AsyncIterable<TurnDelta>,
  { envelope, logprobs }: { envelope: Envelope; logprobs: boolean },
): Promise<Completion> {
  const collected: Collected = { content: "", calls: [], executed: [], logprobs: logprobs ? [] : undefined };
  const view = new ChatView();
  for await (const delta of deltas) {
    if (delta.kind === "failed") throw fromErrorRecord(delta.error);
    for (const piece of view.accept(delta)) {
      if (piece.kind === "finished") return toCompletion(envelope, collected, piece);
      collect(collected, piece);
    }
  }
  throw endless();
}

function collect(collected: Collected, delta: Exclude<ChatPiece, FinishedDelta>): void {
  switch (delta.kind) {
    case "content":
      collected.content += delta.text;
      collected.logprobs?.push(...(delta.logprobs ?? []));
      break;
    case "call":
      collected.calls[delta.index] = { id: delta.id, name: delta.name, text: "" };
      break;
    case "arguments": {
      const call = collected.calls[delta.index];
      if (call !== undefined) call.text += delta.text;
      break;
    }
    case "executed":
      if (delta.tool.status !== "in_progress") collected.executed.push(delta.tool);
  }
}

function toCompletion(envelope: Envelope, { content, calls, executed, logprobs }: Collected, finished: FinishedDelta): Completion {
  const toolCalls = calls.map(({ id, name, text }): ToolCall => ({ id, type: "function", function: { name, arguments: text } }));
  const message = {
    role: "assistant" as const,
    content: content === "" && toolCalls.length > 0 ? null : content,
    refusal: null,
    annotations: [],
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(executed.length === 0 ? {} : { executed_tools: executed }),
  };
  return {
    ...envelope,
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: toLogprobs(logprobs), finish_reason: finished.finishReason }],
    usage: toUsage(finished),
    service_tier: "default",
  };
}
