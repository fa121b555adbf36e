/** Calls of the edge over HTTP, under `/trainer/v1` with a trainer key. Answers are parsed; failures carry what was asked and what came. */
import { z } from "zod";
import { AppError, codeOfStatus } from "../../shared/errors.ts";
import { LEASE_HEADER } from "../../shared/lease.ts";
import { parseBody } from "../../shared/speech/calls.ts";
import { retryAfterOf } from "./retry.ts";

export type ClientOptions = {
  readonly edge: string;
  readonly key: string;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** The token of the lease under which lines are moved. */
  readonly lease?: number;
};

export type CallOptions = {
  readonly method?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly timeoutMs?: number;
  /** Of the answer. */
  readonly mostBytes?: number;
};

export const CALL_TIMEOUT_MS = 30_000;
const MOST_ANSWER_BYTES = 268_435_456; // a page of the feed has 100 events of 2 MB at most

type Received = { readonly status: number; readonly retryAfterMs: number | undefined; readonly bytes: Uint8Array<ArrayBuffer> };

export class Transport {
  readonly #options: ClientOptions;
  readonly #root: string;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#root = `${options.edge.replace(/\/$/, "")}/trainer/v1`;
  }

  /** @throws {upstream/unreachable}, {upstream/invalid} for too long an answer, {lease/lost}, the code of another status than 2xx, or why it was told to stop */
  async call(path: string, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const what = `${options.method ?? "GET"} ${path}`;
    const { status, retryAfterMs, bytes } = await this.#receive(path, { what, options });
    if (status >= 200 && status < 300) return bytes;
    if (status === 409 && codeOf(bytes) === "lease/lost") throw new AppError("lease/lost", `${what}: ${textOf(bytes).slice(0, 300)}`);
    throw new AppError(codeOfStatus(status), `${what}: 2xx expected, got ${status} ${textOf(bytes).slice(0, 300)}`, {
      details: { status, ...(retryAfterMs !== undefined && { retryAfterMs }) },
    });
  }

  /** @throws {upstream/invalid} for an answer of another shape, and what `call` throws */
  async callJson<T>(schema: z.ZodType<T>, path: string, options?: CallOptions): Promise<T> {
    const parsed = schema.safeParse(parseBody(textOf(await this.call(path, options))));
    if (parsed.success) return parsed.data;
    throw new AppError("upstream/invalid", `${path}: the contract's shape expected, got ${z.prettifyError(parsed.error)}`);
  }

  async #receive(path: string, { what, options }: { what: string; options: CallOptions }): Promise<Received> {
    const { signal, fetch: send = fetch } = this.#options;
    const { method = "GET", body, timeoutMs = CALL_TIMEOUT_MS, mostBytes = MOST_ANSWER_BYTES } = options;
    const deadline = AbortSignal.timeout(timeoutMs);
    let received: Omit<Received, "bytes"> & { readonly bytes: Received["bytes"] | undefined };
    try {
      const response = await send(`${this.#root}${path}`, {
        method,
        headers: this.#headersFor(body),
        ...(body === undefined ? {} : { body }),
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      const retryAfterMs = retryAfterOf(response.headers.get("retry-after"), Date.now());
      // Here, too, the edge may go away: a body that breaks off is an edge that was not reached.
      const bytes = await readBody(response, mostBytes);
      received = { status: response.status, retryAfterMs, bytes };
    } catch (cause) {
      // Why it was told to stop is what there is to say: a lease that another trainer has now is no stop of this one.
      if (signal?.aborted === true && signal.reason instanceof AppError) throw signal.reason;
      if (signal?.aborted === true) throw new AppError("engine/closed", `${what}: a running trainer expected, got a stop`, { cause });
      const got = cause instanceof Error ? cause.message : String(cause);
      throw new AppError("upstream/unreachable", `${what}: an answer expected, got ${got}`, { cause });
    }
    const { bytes } = received;
    if (bytes === undefined) throw new AppError("upstream/invalid", `${what}: an answer of at most ${mostBytes} bytes expected, got more`);
    return { ...received, bytes };
  }

  #headersFor(body: CallOptions["body"]): Record<string, string> {
    const { key, lease } = this.#options;
    return {
      authorization: `Bearer ${key}`,
      ...(lease === undefined ? {} : { [LEASE_HEADER]: String(lease) }),
      ...(body === undefined ? {} : { "content-type": typeof body === "string" ? "application/json" : "application/octet-stream" }),
    };
  }
}

/** Undefined where there is more than is to be held. */
async function readBody({ body }: Response, mostBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const ErrorBody = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

function codeOf(bytes: Uint8Array): string | undefined {
  return ErrorBody.safeParse(parseBody(textOf(bytes))).data?.error.code;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
