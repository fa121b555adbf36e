/** The answer of a turn as server-sent events of `chat.completion.chunk`, each sent as soon as it is known. */
import { fromErrorRecord, toErrorRecord, type ErrorRecord } from "../../shared/errors.ts";
import { errorBody } from "../http-errors.ts";
import type { TurnDelta } from "../session/port.ts";
import { type ChatPiece, ChatView } from "./chat-view.ts";
import { endless, type Deltas } from "./deltas.ts";
import { toLogprobs, toUsage, type Envelope } from "./wire.ts";

export type ChunkOptions = { readonly envelope: Envelope; readonly includeUsage: boolean };

/** How long a stream is silent before it says that it is there. That a client has gone is seen by writing to it. */
const SILENCE_MS = 2_000;

/**
 * Events, given as text, as the body of an answer. The consumer's cancel ends them and `source`, what they are made of. While nothing
 * comes, comments do, which clients pass over: an engine that thinks for long must not go on for nobody.
 */
export function streamEvents(events: AsyncGenerator<string, void, void>, source: Pick<Deltas, "cancel">): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string, void>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= events.next();
        const event = await untilSilence(next);
        if (event === undefined) return controller.enqueue(encoder.encode(": waiting\n\n"));
        next = undefined;
        if (event.done === true) controller.close();
        else controller.enqueue(encoder.encode(event.value));
      },
      async cancel() {
        // First: a generator that waits for the next delta cannot be returned from.
        await source.cancel();
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Undefined where nothing comes for so long. */
async function untilSilence<Value>(next: Promise<Value>): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), SILENCE_MS)));
  try {
    return await Promise.race([next, silence]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
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
