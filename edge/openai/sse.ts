/** The answer of a turn as server-sent events of `chat.completion.chunk`, each sent as soon as it is known. */
import { fromErrorRecord, toErrorRecord, type ErrorRecord } from "../../shared/errors.ts";
import { errorBody } from "../http-errors.ts";
import type { TurnDelta } from "../session/port.ts";
import { type ChatPiece, ChatView } from "./chat-view.ts";
import { endless } from "./deltas.ts";
import { toLogprobs, toUsage, type Envelope } from "./wire.ts";

export type ChunkOptions = { readonly envelope: Envelope; readonly includeUsage: boolean };

/** Events, given as text, as the body of an answer. The consumer's cancel ends them. */
export function streamEvents(events: AsyncGenerator<string, void, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The events as text. A turn that fails ends with an `error` event and no `[DONE]`, as the API does. */
export async function* toEvents(deltas: AsyncIterable<TurnDelta>, options: ChunkOptions): AsyncGenerator<string, void, void> {
  yield event(chunk(options, { delta: { role: "assistant", content: "", refusal: null } }));
  const view = new ChatView();
  try {
    for await (const delta of deltas) {
      if (delta.kind === "failed") return yield failure(delta.error);
      for (const piece of view.accept(delta)) yield chunkOf(options, piece);
      if (delta.kind === "finished") return yield "data: [DONE]\n\n";
    }
    yield failure(toErrorRecord(endless()));
  } catch (thrown) {
    yield failure(toErrorRecord(thrown));
  }
}

function chunkOf(options: ChunkOptions, delta: ChatPiece): string {
  switch (delta.kind) {
    case "executed":
      return event(chunk(options, { delta: { executed_tools: [delta.tool] } }));
    case "content":
      return event(chunk(options, { delta: { content: delta.text }, logprobs: toLogprobs(delta.logprobs) }));
    case "call": {
      const call = { index: delta.index, id: delta.id, type: "function", function: { name: delta.name, arguments: "" } };
      return event(chunk(options, { delta: { tool_calls: [call] } }));
    }
    case "arguments":
      return event(chunk(options, { delta: { tool_calls: [{ index: delta.index, function: { arguments: delta.text } }] } }));
    case "finished": {
      const last = event(chunk(options, { delta: {}, finishReason: delta.finishReason }));
      return options.includeUsage ? last + event({ ...chunk(options, undefined), usage: toUsage(delta) }) : last;
    }
  }
}

type Choice = { delta: object; logprobs?: object | null; finishReason?: string };

/** One chunk; without a choice it is the one that carries the usage. */
function chunk({ envelope, includeUsage }: ChunkOptions, choice: Choice | undefined): object {
  const choices =
    choice === undefined
      ? []
      : [{ index: 0, delta: choice.delta, logprobs: choice.logprobs ?? null, finish_reason: choice.finishReason ?? null }];
  return { ...envelope, object: "chat.completion.chunk", service_tier: "default", choices, ...(includeUsage ? { usage: null } : {}) };
}

function failure(error: ErrorRecord): string {
  return event(errorBody(fromErrorRecord(error)));
}

function event(payload: object): string {
  return `data: ${JSON.stringify(payload)}\n\n`;
}
