/** The stream of a session's answer, line by line, as deltas. */
import { AppError } from "../../shared/errors.ts";
import type { TurnDelta } from "../session/port.ts";

/** An answer to be read once. `cancel` ends it at once, even while the next delta is awaited, when a generator could not be returned from. */
export type Deltas = AsyncIterable<TurnDelta> & { cancel(): Promise<void> };

/** Reads deltas as they come. Ending the iteration early cancels the answer. @throws {upstream/failed} where it breaks off */
export function readDeltas(lines: ReadableStream<Uint8Array>): Deltas {
  const reader = lines.getReader();
  return { cancel: () => cancel(reader), [Symbol.asyncIterator]: () => iterate(reader) };
}

async function* iterate(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<TurnDelta, void, void> {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await readOrFail(reader);
      if (done) break;
      const parts = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      // The session writes these lines from the same type.
      for (const line of parts) yield JSON.parse(line) as TurnDelta;
    }
    if (rest !== "") throw new AppError("upstream/failed", "the session's answer broke off within a line");
  } finally {
    await cancel(reader);
  }
}

async function cancel(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  await reader.cancel().catch(() => undefined); // already over, or gone: nothing is left to stop
}

async function readOrFail(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (cause) {
    throw new AppError("upstream/failed", "the session's answer broke off; send the request again", { cause });
  }
}

/** Deltas stopped without `finished` or `failed`. */
export function endless(): AppError {
  return new AppError("upstream/failed", "the session's answer ended without an end; send the request again");
}
