import { AppError } from "../../shared/errors.ts";
import { MOST_PUBLISH_BYTES } from "../../shared/policy.ts";
import { MAX_ARTIFACT_BYTES } from "../artifacts.ts";
import type { Middleware } from "../env.ts";

const MAX_BODY_BYTES = 1_048_576;
const FILES_PATH = "/trainer/v1/files/";
const PUBLISH_PATH = /^\/trainer\/v1\/agents\/[^/]+\/lines\/[^/]+\/versions$/;

/** Refuses a body over 1 MB, or over what a trainer may upload or publish at once. @throws {input/tooLarge} */
export function bodyLimit(): Middleware {
  return async function bodyLimit(context, next) {
    const maxBytes = mostBytesOf(context.req.path);
    const announced = context.req.header("content-length");
    const { raw } = context.req;
    if (announced !== undefined) refuseOver(maxBytes, Number(announced));
    // What nobody reads needs no measure, and a request of these methods cannot be made with a body.
    else if (raw.method === "GET" || raw.method === "HEAD") await raw.body?.cancel();
    else if (raw.body !== null) context.req.raw = new Request(raw, { method: raw.method, body: await readUpTo(maxBytes, raw.body) });
    await next();
  };
}

function mostBytesOf(path: string): number {
  if (path.startsWith(FILES_PATH)) return MAX_ARTIFACT_BYTES;
  return PUBLISH_PATH.test(path) ? MOST_PUBLISH_BYTES : MAX_BODY_BYTES;
}

/** Reads a body that came in chunks, without a length. */
async function readUpTo(maxBytes: number, body: ReadableStream<Uint8Array>): Promise<Blob> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return new Blob(chunks);
      chunks.push(value);
      bytes += value.length;
      refuseOver(maxBytes, bytes);
    }
  } finally {
    reader.releaseLock();
  }
}

function refuseOver(maxBytes: number, bytes: number): void {
  if (bytes <= maxBytes) return;
  throw new AppError("input/tooLarge", `body: at most ${maxBytes} bytes expected, got ${bytes} or more; send fewer or shorter messages`);
}
