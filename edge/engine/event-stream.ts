/** Server-sent events of an engine, as they come. @see https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { AppError } from "../../shared/errors.ts";
import { Patience } from "./patience.ts";
import { type Call, readError, request, statusOf, unanswered, type Upstream, UpstreamRefusal } from "./upstream.ts";

const MOST_PENDING = 4_194_304; // characters of one event: ids and log-probs of a long answer, not a stream without an end of line

/** The JSON of each event of a call's answer, up to its `[DONE]` or its end. Ending the iteration early ends the call. @throws {upstream/…} {UpstreamRefusal} */
export async function* eventsOf(upstream: Upstream, call: Call, signal: AbortSignal): AsyncGenerator<unknown, void, void> {
  const patience = new Patience(upstream.timeoutMs, signal);
  try {
    const { body } = await request(upstream, call, patience);
    if (body !== null) yield* readEvents(upstream, body, { patience });
  } finally {
    patience.end();
  }
}

/** The events of a body. @param read.onDone told where it ends with `[DONE]` @throws {upstream/…} {UpstreamRefusal} */
export async function* readEvents(
  upstream: Upstream,
  body: ReadableStream<Uint8Array>,
  { patience, onDone }: { patience: Patience; onDone?: () => void },
): AsyncGenerator<unknown, void, void> {
  let begun = false;
  for await (const data of dataOf(upstream, body, patience)) {
    if (data === "[DONE]") return onDone?.();
    const event = parseEvent(upstream, data);
    const said = readError(event);
    // What comes in place of an answer is what a status would have said, had it not been sent.
    if (said !== undefined && !begun) throw new UpstreamRefusal(statusOf(event) ?? upstream.uncodedStatus ?? 500, said);
    begun = true;
    if (said !== undefined) throw new AppError("upstream/failed", `${upstream.what} broke its answer off: ${said}`);
    yield event;
  }
}

async function* dataOf(upstream: Upstream, body: ReadableStream<Uint8Array>, patience: Patience): AsyncGenerator<string, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // Not every body ends with the signal of its call: one of a binding has none.
  patience.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await readOrFail(upstream, reader, patience);
      if (done) break;
      patience.touch();
      const blocks = (pending + decoder.decode(value, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
      pending = blocks.pop() ?? "";
      if (pending.length > MOST_PENDING)
        throw new AppError("upstream/invalid", `${upstream.what}: events of at most ${MOST_PENDING} characters expected, got a longer one`);
      for (const block of blocks) yield* dataLines(block);
    }
    yield* dataLines(pending);
  } finally {
    await reader.cancel().catch(() => undefined); // already over, or gone: nothing is left to stop
  }
}

async function readOrFail(
  upstream: Upstream,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  patience: Patience,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const result = await reader.read().catch((thrown: unknown) => {
    throw unanswered(upstream, patience, thrown);
  });
  if (patience.over) throw unanswered(upstream, patience, patience.signal.reason);
  return result;
}

/** The `data` of an event; comments, which keep a silent stream open, have none. llama.cpp's server has named its errors in the field's place. */
function* dataLines(block: string): Generator<string, void, void> {
  const lines = block.split("\n").flatMap((line) => line.match(/^(?:data|error): ?(.*)/s)?.slice(1) ?? []);
  if (lines.length > 0) yield lines.join("\n");
}

function parseEvent({ what }: Upstream, data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new AppError("upstream/invalid", `${what}: events of JSON expected, got ${data.slice(0, 100)}`, { cause });
  }
}
