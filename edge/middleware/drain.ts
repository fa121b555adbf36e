import type { Middleware } from "../env.ts";

/** Most that is read of a body nobody wants; whoever sends more sees the connection close. */
const MAX_DRAINED_BYTES = 67_108_864;
/** The same of time, ms: who sends a byte now and then holds no connection open. */
const MAX_DRAINING_MS = 5_000;

/**
 * Reads what is left of a refused request's body. A client that is still sending when the connection closes sees a
 * broken pipe instead of the answer that tells it what was wrong.
 */
export function drainBody(): Middleware {
  return async function drainBody(context, next) {
    await next();
    const { body } = context.req.raw;
    // Also a body that was read in part: whoever found it too long stopped there.
    if (body !== null && !body.locked) await drain(body);
  };
}

async function drain(body: ReadableStream<Uint8Array>): Promise<void> {
  const reader = body.getReader();
  const giveUp = (): void => void reader.cancel().catch(() => undefined); // ends the read that is under way
  const timer = setTimeout(giveUp, MAX_DRAINING_MS);
  try {
    for (let bytes = 0; bytes <= MAX_DRAINED_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
    await reader.cancel();
  } catch {
    // The client is gone, and so is whoever the answer was for.
  } finally {
    clearTimeout(timer);
  }
}
