/**
 * The one way out for tools: only to addresses that may be called, with the secret that is for them, without following where the answer
 * points, and for no longer and no more than agreed.
 */
import type { ToolEndpoint } from "../../shared/agent-tools.ts";
import { AppError } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import { checkAddress } from "./address.ts";
import { secretHeader } from "./secret.ts";

export type Destination = Pick<ToolEndpoint, "url" | "secret" | "maxBytes">;

export type ToolEnv = Pick<Env, "TOOLS_ON_LOOPBACK" | "PUBLIC_NETWORK">;

export type Sent = {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** Told of an answer that grows too long, for whoever does not read the body itself. */
  readonly onTooLong?: (error: AppError) => void;
};

/** Whether the operator lets tools be on this machine: for tests, and for tools that run beside a self-hosted edge. */
export function allowsLoopback({ TOOLS_ON_LOOPBACK: flag }: ToolEnv): boolean {
  return flag === "1";
}

/**
 * The answer, whose body breaks off with an error where it grows too long.
 * @throws {upstream/invalid} where it must not be called or answers with a redirect, {upstream/unreachable}, {upstream/timeout} once the signal has fired
 */
export async function guardedFetch(env: ToolEnv, { url: text, secret, maxBytes }: Destination, sent: Sent): Promise<Response> {
  const address = checkAddress(text, { loopback: allowsLoopback(env) });
  if (address.status === "refused") throw new AppError("upstream/invalid", `its address: ${address.reason}`);
  const { url } = address;
  const headers = new Headers({ "user-agent": "nextstate", ...sent.headers });
  if (secret !== undefined) {
    const found = secretHeader(env, secret, url.origin);
    if (found.status === "refused") throw new AppError("upstream/invalid", `its secret: ${found.reason}`);
    headers.set(found.header, found.text);
  }
  const { method = "POST", body = null, signal } = sent;
  const response = await reach(env, new Request(url, { method, headers, body, redirect: "manual", signal }));
  const { status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    throw new AppError("upstream/invalid", `an answer expected, got a redirect (${status}), which is not followed`);
  }
  return response.body === null ? response : new Response(upTo(maxBytes, response.body, sent.onTooLong), response);
}

/** Whether what a tool says holds the secret that it was called with: whoever reads its results must not learn it. */
export function tellsSecret(env: ToolEnv, { url, secret }: Destination, text: string): boolean {
  if (secret === undefined || !URL.canParse(url)) return false;
  const found = secretHeader(env, secret, new URL(url).origin);
  return found.status === "found" && text.includes(found.value);
}

/** Errors of `fetch` may quote what was sent, so none is passed on. */
async function reach({ PUBLIC_NETWORK: network }: ToolEnv, request: Request): Promise<Response> {
  try {
    return await (network === undefined ? fetch(request) : network.fetch(request));
  } catch {
    if (request.signal.aborted) throw timedOut();
    throw new AppError("upstream/unreachable", "it cannot be reached");
  }
}

/** What a call that took too long fails with. */
export function timedOut(): AppError {
  return new AppError("upstream/timeout", "it took too long");
}

function upTo(maxBytes: number, body: ReadableStream<Uint8Array>, onTooLong: Sent["onTooLong"]): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (bytes <= maxBytes) return controller.enqueue(chunk);
        const error = new AppError("upstream/invalid", `at most ${maxBytes} bytes expected, got more`);
        onTooLong?.(error);
        controller.error(error);
      },
    }),
  );
}

/** A body as text. @throws as `guardedFetch`, and {upstream/invalid} where it is not UTF-8 */
export async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  // A stream may go on waiting after its request was aborted.
  const late = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(timedOut()), { once: true }));
  late.catch(() => undefined);
  let text = "";
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late]);
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    reader.cancel().catch(() => undefined); // it is over either way
    if (signal.aborted) throw timedOut();
    if (thrown instanceof AppError) throw thrown;
    const reason =
      thrown instanceof TypeError && /decod|utf/i.test(thrown.message) ? "UTF-8 text expected, got other bytes" : "its answer broke off";
    throw new AppError("upstream/invalid", reason);
  }
}
