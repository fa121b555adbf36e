/**
 * Tinker's service over HTTP: requests that answer with a future, and futures that are asked until they are there. Shapes are those of
 * the published SDK (https://github.com/thinking-machines-lab/tinker, src/tinker/types and src/tinker/resources) as its versions up
 * to 0.24 send them, in JSON; 0.25 sends forward and forward_backward as protobuf alone. Protocol-tested: never run against the service itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { AppError, type ErrorCode } from "../../shared/errors.ts";
import { parseBody } from "../../shared/speech/calls.ts";
import { backoffMs } from "../feed/retry.ts";

/** As the SDK has it; TINKER_BASE_URL names another. */
const SERVICE = "https://tinker.thinkingmachines.dev/services/tinker-prod";
const CALL_TIMEOUT_MS = 60_000;
const ATTEMPTS = 8;
/** Of a request that is as good as lost when it is late. */
const ONCE_TIMEOUT_MS = 10_000;
/** A request timeout; an overloaded service; proxies. */
const AGAIN: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** What a service that reads protobuf alone may answer to JSON. */
const NOT_SPOKEN: ReadonlySet<number> = new Set([400, 404, 415]);
const PASSES: ReadonlySet<string> = new Set(["/api/v1/forward", "/api/v1/forward_backward"]);
const SPOKEN = "; JSON is spoken here, as the SDK has it up to 0.24: a service that takes the protobuf of 0.25 alone cannot be trained on";

const RETRIEVE = "/api/v1/retrieve_future";
/** Of one future: a service without room keeps requests waiting for hours. */
const PATIENCE_MS = 12 * 3_600_000;

/** The service packs an archive when it is first asked for, and answers 503 until it has. */
const PACKING = 503;
const PACK_LOOKS = 20;
const PACK_MS = 30_000;

/** An answer that came whole. */
type Answer = { readonly status: number; readonly location: string | null; readonly text: string };
const SHOWN_CHARS = 300;

const Future = z.object({ request_id: z.string() });
const Pending = z.object({ type: z.literal("try_again") });
const Failed = z.object({ error: z.string(), category: z.string().optional() });

export type TinkerOptions = {
  /** From the environment, never from an argument: whoever lists processes reads arguments. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly fetch?: typeof fetch;
  /** Between two looks at a future, ms. */
  readonly pollMs?: number;
  /** How long a future is waited for, ms. */
  readonly patienceMs?: number;
  /** Between two looks at an archive, ms. */
  readonly packMs?: number;
};

export class TinkerClient {
  readonly #root: string;
  readonly #key: string;
  readonly #send: typeof fetch;
  readonly #pollMs: number;
  readonly #patienceMs: number;
  readonly #packMs: number;

  /** @throws {auth/missing} without TINKER_API_KEY */
  constructor({ environment, fetch: send = fetch, pollMs = 1_000, patienceMs = PATIENCE_MS, packMs = PACK_MS }: TinkerOptions) {
    const key = environment["TINKER_API_KEY"];
    if (key === undefined || key === "")
      throw new AppError("auth/missing", "TINKER_API_KEY: a key of the service in the environment expected, got none");
    this.#key = key;
    this.#root = (environment["TINKER_BASE_URL"] ?? SERVICE).replace(/\/+$/, "");
    this.#send = send;
    this.#pollMs = pollMs;
    this.#patienceMs = patienceMs;
    this.#packMs = packMs;
  }

  /** Answered at once. */
  async post<T>(schema: z.ZodType<T>, path: string, body: object): Promise<T> {
    return parse(schema, path, await this.#json(path, body));
  }

  /** Answered by a future, which is waited for. @throws {upstream/invalid} with what the service says where it fails; {upstream/timeout} */
  async run<T>(schema: z.ZodType<T>, path: string, body: object): Promise<T> {
    const { request_id } = await this.post(Future, path, body);
    const since = Date.now();
    for (let troubles = 0; ;) {
      const { answer, instead } = await this.#look(request_id);
      if (answer === undefined) {
        if (Date.now() - since > this.#patienceMs)
          throw new AppError(
            "upstream/timeout",
            `tinker ${path}: a result within ${this.#patienceMs / 3_600_000} h expected, got ${instead}`,
          );
        troubles = instead === "408" ? 0 : troubles + 1;
        await sleep(Math.max(this.#pollMs, troubles === 0 ? 0 : this.#backoff(troubles)));
        continue;
      }
      const failed = Failed.safeParse(answer);
      if (failed.success)
        throw new AppError(
          "upstream/invalid",
          `tinker ${path}: a result expected, got ${failed.data.category ?? "failure"}: ${failed.data.error}`,
        );
      if (!Pending.safeParse(answer).success) return parse(schema, path, answer);
      await sleep(this.#pollMs);
    }
  }

  /** Asked once, whatever comes of it. */
  async send(path: string, body: object): Promise<void> {
    const asked = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(ONCE_TIMEOUT_MS) };
    await (await this.#send(`${this.#root}${path}`, { ...asked, headers: this.#headers() })).arrayBuffer();
  }

  /** The bytes behind a signed address, which a redirect or a JSON answer gives once there is one: ten minutes are waited for it. */
  async download(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const answer = await this.#packed(path);
    const address = answer.status === 302 ? answer.location : parse(z.object({ url: z.url() }), path, toJson(path, answer)).url;
    if (address === null) throw new AppError("upstream/invalid", `tinker ${path}: an address in its redirect expected, got none`);
    const archive = await this.#send(address, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS * ATTEMPTS) });
    if (!archive.ok) throw new AppError("upstream/failed", `tinker ${path}: an archive expected, got ${archive.status}`);
    return new Uint8Array(await archive.arrayBuffer());
  }

  async #packed(path: string): Promise<Answer> {
    for (let look = 1; ; look += 1) {
      const answer = await this.#request(path, { method: "GET", redirect: "manual" }, PACKING);
      if (answer.status !== PACKING) return answer;
      if (look >= PACK_LOOKS) throw refusal(path, answer);
      await sleep(this.#packMs);
    }
  }

  /**
   * One look at a future: its answer, or what came instead of one. 408 says that it is not there yet, as `try_again` does, and is so often said
   * as it takes; an overloaded service, a lost connection or what is no JSON says nothing of the future, which goes on.
   * @see https://github.com/thinking-machines-lab/tinker/blob/main/src/tinker/lib/api_future_impl.py
   */
  async #look(request_id: string): Promise<{ answer?: unknown; instead: string }> {
    const came = await this.#once(RETRIEVE, { method: "POST", body: JSON.stringify({ request_id }) });
    if ("nothing" in came) return { instead: String(came.nothing) };
    const { status, text } = came;
    if (isOk(status)) return { answer: parseBody(text), instead: `${status} ${text.slice(0, SHOWN_CHARS)}` };
    if (status < 500 && status !== 408 && status !== 429) throw refusal(RETRIEVE, came);
    return { instead: String(status) };
  }

  async #json(path: string, body: object): Promise<unknown> {
    return toJson(path, await this.#request(path, { method: "POST", body: JSON.stringify(body) }));
  }

  /** A request that the service has not taken is sent again: sequence numbers make it the same one. @param known a status that its caller waits for itself */
  async #request(path: string, init: RequestInit, known?: number): Promise<Answer> {
    for (let attempt = 0; ; attempt += 1) {
      const came = await this.#once(path, init);
      const last = attempt + 1 >= ATTEMPTS;
      if ("nothing" in came) {
        if (last)
          throw new AppError("upstream/unreachable", `tinker ${path}: an answer expected, got ${String(came.nothing)}`, {
            cause: came.nothing,
          });
      } else if (isOk(came.status) || came.status === 302 || came.status === known) return came;
      else if (last || !AGAIN.has(came.status)) throw refusal(path, came);
      await sleep(this.#backoff(attempt));
    }
  }

  /** What came of one request: an answer, or why none did; one that broke off is none. */
  async #once(path: string, init: RequestInit): Promise<Answer | { readonly nothing: unknown }> {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    try {
      const response = await this.#send(`${this.#root}${path}`, { ...init, headers: this.#headers(), signal });
      return { status: response.status, location: response.headers.get("location"), text: await response.text() };
    } catch (nothing) {
      return { nothing };
    }
  }

  #backoff(attempt: number): number {
    return Math.min(backoffMs(attempt, 1), this.#pollMs * 2 ** attempt);
  }

  #headers(): Record<string, string> {
    return { "x-api-key": this.#key, "content-type": "application/json", accept: "application/json" };
  }
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

function refusal(path: string, { status, text }: Answer): AppError {
  const spoken = PASSES.has(path) && NOT_SPOKEN.has(status) ? SPOKEN : "";
  return new AppError(codeOf(status), `tinker ${path}: 2xx expected, got ${status} ${text.slice(0, SHOWN_CHARS)}${spoken}`);
}

/** What the service refuses it will refuse again. */
function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return "auth/forbidden";
  return AGAIN.has(status) || status >= 500 ? "upstream/failed" : "upstream/invalid";
}

function toJson(path: string, { status, text }: Answer): unknown {
  const parsed = parseBody(text);
  if (parsed === undefined)
    throw new AppError("upstream/invalid", `tinker ${path}: a JSON object expected, got ${status} ${text.slice(0, SHOWN_CHARS)}`);
  return parsed;
}

function parse<T>(schema: z.ZodType<T>, path: string, answer: unknown): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new AppError("upstream/invalid", `tinker ${path}: the published shape expected, got ${z.prettifyError(parsed.error)}`);
}
