/**
 * HTTP to an engine or to the host of its adapters. What it answers becomes an error of ours with the words of theirs; a call is
 * made again only where nothing of its answer has come and nothing was begun that costs anything.
 */
import { z } from "zod";
import { abortedByReader, AppError, type ErrorCode, type ErrorDetails } from "../../shared/errors.ts";
import { SECRET_PREFIX } from "../../shared/engine.ts";
import type { Env } from "../env.ts";
import { Patience } from "./patience.ts";

export type Upstream = {
  /** As errors name it, to clients too: never an address. */
  readonly what: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Of an error in a stream that gives itself no status; 500 where nothing else is said. */
  readonly uncodedStatus?: number;
};

export type Call = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: BodyInit;
  /** `unbegun`, of a POST where nothing else is said: only where the upstream says that it has not begun. `always`, of the others: twice is as once. */
  readonly again?: "always" | "unbegun" | "never";
};

/** What an upstream answered that is not a success, before it becomes an error of ours. */
export class UpstreamRefusal extends Error {
  readonly status: number;
  readonly said: string;

  constructor(status: number, said: string) {
    super(`${status}: ${said}`);
    this.status = status;
    this.said = said;
  }
}

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 100; // doubled, with full jitter
/** Not ready, or overloaded: the same call may succeed in a moment. 521 and 523 are Cloudflare's for a server that took no connection. */
const UNBEGUN_STATUSES: ReadonlySet<number> = new Set([429, 503, 521, 523]);
const GATEWAY_STATUS = 502; // a server before the engine's: what it passed on may have been read
const MOST_SAID = 300;
const TOO_LONG = /context (length|size|window)|maximum model length|too long/i;

/** @throws {upstream/invalid} for a secret that the Worker does not have */
export function connect(env: Env, to: { what: string; url: string; keySecret?: string | undefined; timeoutMs: number }): Upstream {
  const { what, url, keySecret, timeoutMs } = to;
  const headers: Record<string, string> = keySecret === undefined ? {} : { authorization: `Bearer ${secretOf(env, keySecret)}` };
  return { what, url, headers, timeoutMs };
}

const SLOWEST_BYTES_PER_MS = 2_000;

/** The same with time for a file of so many bytes, which it answers once it has all. */
export function patientFor(upstream: Upstream, bytes: number): Upstream {
  return { ...upstream, timeoutMs: upstream.timeoutMs + Math.ceil(bytes / SLOWEST_BYTES_PER_MS) };
}

/** The answer of a call that succeeded, its body unread. @throws {UpstreamRefusal} and what `unanswered` makes of a failed connection */
export function request(upstream: Upstream, call: Call, patience: Patience): Promise<Response> {
  const again = (thrown: unknown): boolean => mayRepeat(call, thrown);
  return withRepeats(() => attemptOnce(upstream, call, patience), { upstream, patience, again });
}

/** What is asked once, and once more while `again` says that what was thrown allows it. @throws as `request` */
export async function withRepeats<Answer>(
  ask: () => Promise<Answer>,
  { upstream, patience, again }: { upstream: Upstream; patience: Patience; again: (thrown: unknown) => boolean },
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (thrown) {
      if (!again(thrown) || attempt === ATTEMPTS || patience.over)
        throw thrown instanceof UpstreamRefusal ? thrown : unanswered(upstream, patience, thrown);
    }
    await scheduler.wait(Math.random() * FIRST_DELAY_MS * 2 ** attempt);
  }
}

/** A whole JSON answer, checked. @throws {upstream/…} */
export async function requestJson<Value>(
  upstream: Upstream,
  call: Call,
  { schema, signal }: { schema: z.ZodType<Value>; signal?: AbortSignal | undefined },
): Promise<Value> {
  const patience = new Patience(upstream.timeoutMs, signal);
  try {
    const response = await request(upstream, call, patience).catch((thrown: unknown) => {
      throw toAppError(upstream, thrown);
    });
    const text = await response.text().catch((thrown: unknown) => {
      throw unanswered(upstream, patience, thrown);
    });
    const parsed = schema.safeParse(parseLoosely(text));
    if (!parsed.success)
      throw new AppError("upstream/invalid", `${upstream.what}: ${call.path}: ${z.prettifyError(parsed.error)}, got ${cut(text)}`);
    return parsed.data;
  } finally {
    patience.end();
  }
}

export function jsonBody(body: unknown): string {
  return JSON.stringify(body);
}

/** What a client is told of a refusal. Faults of its own request are its own; everything else is the engine's. */
export function toAppError({ what }: Upstream, thrown: unknown): unknown {
  if (!(thrown instanceof UpstreamRefusal)) return thrown;
  const { status, said } = thrown;
  const tooLong = saysTooLong(thrown);
  const details: ErrorDetails = tooLong ? { param: "messages", code: "context_length_exceeded" } : {};
  // What is said of a key quotes parts of it.
  if (isAboutKey(status)) return new AppError("upstream/failed", `${what} refused its key (${status})`, { cause: thrown });
  return new AppError(codeOf(status, tooLong), `${what} ${saying(status)}: ${said}`, { details, cause: thrown });
}

/** Whether what is refused is a conversation of more tokens than the context has. */
export function saysTooLong({ said }: UpstreamRefusal): boolean {
  return TOO_LONG.test(said);
}

/** @throws nothing: it makes the error of a connection that failed, was silent for too long, or was given up by its reader */
export function unanswered({ what, timeoutMs }: Upstream, patience: Patience, cause: unknown): AppError {
  if (patience.given) return abortedByReader(cause);
  if (patience.timedOut)
    return new AppError("upstream/timeout", `${what}: an answer or more of it within ${timeoutMs} ms expected, got silence`, { cause });
  return new AppError("upstream/unreachable", `${what}: a connection that lasts expected, got none, or one that broke; try again`, {
    cause,
  });
}

async function attemptOnce({ url, headers }: Upstream, { method, path, body }: Call, patience: Patience): Promise<Response> {
  const sent = { ...headers, ...(typeof body === "string" ? { "content-type": "application/json" } : {}) };
  const response = await fetch(`${url}${path}`, {
    method,
    headers: sent,
    signal: patience.signal,
    redirect: "manual", // what a key is sent to is decided by whoever set it
    ...(body === undefined ? {} : { body }),
  });
  if (response.ok) return response;
  throw new UpstreamRefusal(response.status, await readSaid(response));
}

/**
 * workerd says "Network connection lost." of a connection that was refused as of one that broke once the call had been read, so what
 * costs something, an answer of a model or a slot, is not asked for again after either.
 */
function mayRepeat({ method, again = method === "POST" ? "unbegun" : "always" }: Call, outcome: unknown): boolean {
  if (again === "never") return false;
  if (!(outcome instanceof UpstreamRefusal)) return again === "always";
  return UNBEGUN_STATUSES.has(outcome.status) || (outcome.status === GATEWAY_STATUS && again === "always");
}

function codeOf(status: number, tooLong: boolean): ErrorCode {
  if (status === 400 || status === 413 || status === 422 || tooLong) return "input/invalid";
  return status === 404 || status < 400 ? "upstream/invalid" : "upstream/failed";
}

function isAboutKey(status: number): boolean {
  return status === 401 || status === 403;
}

function saying(status: number): string {
  if (status === 400 || status === 413 || status === 422) return "refused the request";
  return `answered ${status}`;
}

const Said = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
  z
    .object({ errors: z.array(z.object({ message: z.string() })).min(1) })
    .transform(({ errors }) => errors.map((each) => each.message).join("; ")),
]);

/** The words of an error, wherever the server puts them. */
export function readError(value: unknown): string | undefined {
  const said = Said.safeParse(value);
  return said.success ? cut(said.data) : undefined;
}

const Coded = z.object({ code: z.number().int().min(400).max(599) });
const Status = z.union([z.object({ error: Coded }).transform(({ error }) => error.code), Coded.transform(({ code }) => code)]);

/** The status that an error in a stream gives itself. */
export function statusOf(value: unknown): number | undefined {
  return Status.safeParse(value).data;
}

async function readSaid(response: Response): Promise<string> {
  const text = await response.text().catch(() => "");
  return readError(parseLoosely(text)) ?? (text === "" ? "nothing" : cut(text));
}

function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // not JSON: its words are what it says
  }
}

function cut(text: string): string {
  return text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID)}…`;
}

function secretOf(env: Env, name: string): string {
  const bindings: Readonly<Record<string, unknown>> = { ...env };
  const value = name.startsWith(SECRET_PREFIX) ? bindings[name] : undefined;
  if (typeof value === "string" && value !== "") return value;
  throw new AppError("upstream/invalid", `Worker secret ${name}: a value expected, got none; set it with wrangler secret put ${name}`);
}
