/**
 * A server that speaks OpenAI's chat completions: bounded retries, and where those are used up a pause in which nobody asks it,
 * so that a server that is away costs neither time nor money. Keys go to nobody but the server: redirects are refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { TemplateArguments } from "../../../shared/engine.ts";
import { AppError } from "../../../shared/errors.ts";
import { parseObject } from "../../../shared/speech/calls.ts";
import { backoffMs, retryAfterOf } from "../../feed/retry.ts";
import type { Random } from "../../random.ts";
import { FULL_DIALECT, lesserForm, MOST_TOKENS, requestBody, type Dialect, type Form } from "./dialect.ts";
import { Outage } from "./outage.ts";
import { BALLOT_SCHEMA, type PromptMessage } from "./prompt.ts";

export type Completion = {
  readonly content: string | null;
  readonly refusal: string | null;
  readonly finishReason: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
};

export type ServerOptions = {
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  readonly templateArguments?: TemplateArguments | undefined;
  readonly random: Pick<Random, "next">;
  readonly now: () => number;
  /** Ends what is under way. */
  readonly signal?: AbortSignal;
  /** Of one request, ms. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 60_000;
const ATTEMPTS = 3;
const LONGEST_WAIT_MS = 10_000; // for a Retry-After; a longer one becomes a pause
const MOST_BYTES = 1_000_000;
const SHOWN_CHARS = 200;

/** @see https://platform.openai.com/docs/api-reference/chat/object */
const ChatCompletion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  // What an answer costs is told beside it: where that has another shape, it is the cost that is not known.
  usage: z.object({ prompt_tokens: z.number().int(), completion_tokens: z.number().int() }).nullish().catch(null),
});

type Attempt =
  | { readonly status: "answered"; readonly completion: Completion }
  | { readonly status: "refused"; readonly body: string; readonly httpStatus: number }
  | { readonly status: "failed"; readonly why: string; readonly again: boolean; readonly retryAfterMs: number | undefined };

export class ChatServer {
  readonly #options: ServerOptions;
  readonly #outage = new Outage();
  #dialect: Dialect = FULL_DIALECT;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** When it may be asked again, ms. */
  get pausedUntil(): number {
    return this.#outage.until;
  }

  /**
   * One completion. @param meter counts the requests that it took, repeated ones included
   * @throws {judge/unavailable} where the server is away; {upstream/invalid} where it will not have this request
   */
  async complete(messages: readonly PromptMessage[], { seed, meter }: { seed: number; meter: { requests: number } }): Promise<Completion> {
    const { now, model, random, templateArguments } = this.#options;
    const askedAt = now();
    if (askedAt < this.pausedUntil) throw this.pausedFor(this.pausedUntil - askedAt);
    let form: Form = { dialect: this.#dialect, mostTokens: MOST_TOKENS };
    for (let failures = 0; ;) {
      meter.requests += 1;
      const result = await this.#send(
        JSON.stringify(requestBody(form, { model, messages, seed, schema: BALLOT_SCHEMA, templateArguments })),
      );
      if (result.status === "answered") {
        this.#outage.end();
        this.#dialect = form.dialect; // what the server takes, it has shown
        return result.completion;
      }
      if (result.status === "refused") {
        form = this.#lesser(form, result);
        continue;
      }
      failures += 1;
      const waitMs = result.retryAfterMs ?? backoffMs(failures, random.next());
      if (!result.again || failures >= ATTEMPTS || waitMs > LONGEST_WAIT_MS) {
        this.#outage.extend({ askedAt, now: now(), toldMs: result.retryAfterMs });
        throw this.#unavailable(result.why);
      }
      await sleep(waitMs, undefined, { signal: this.#options.signal });
    }
  }

  /** Why nothing is asked now. */
  pausedFor(ms: number): AppError {
    return this.#unavailable(`a pause; it is asked again in ${Math.ceil(ms / 1_000)} s`);
  }

  /** Without what the server refused. @throws {upstream/invalid} where it is the request itself */
  #lesser(sent: Form, { body, httpStatus }: Extract<Attempt, { status: "refused" }>): Form {
    const next = lesserForm(sent, body);
    if (next !== undefined) return next;
    throw new AppError("upstream/invalid", `${this.#where()}: 200 expected, got ${httpStatus} ${body.slice(0, SHOWN_CHARS)}`);
  }

  async #send(body: string): Promise<Attempt> {
    const { url, key, signal, timeoutMs = TIMEOUT_MS } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(`${url.replace(/\/+$/, "")}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
        body,
        redirect: "error",
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      return readAttempt(response, await textOf(response), this.#options.now());
    } catch (error) {
      if (signal?.aborted === true)
        throw new AppError("engine/closed", `${this.#where()}: a running trainer expected, got a stop`, { cause: error });
      const why = deadline.aborted ? `nothing within ${timeoutMs} ms` : causeOf(error);
      return { status: "failed", why, again: true, retryAfterMs: undefined };
    }
  }

  #unavailable(why: string): AppError {
    return new AppError("judge/unavailable", `${this.#where()}: an answer expected, got ${why}`);
  }

  #where(): string {
    return `judge ${this.#options.model} at ${this.#options.url}`;
  }
}

function readAttempt({ status, headers }: Response, text: string, now: number): Attempt {
  if (status === 200) return { status: "answered", completion: readCompletion(text) };
  const retryAfterMs = retryAfterOf(headers.get("retry-after"), now);
  const why = `${status} ${text.slice(0, SHOWN_CHARS)}`;
  if (status === 408 || status === 409 || status === 429 || status >= 500) return { status: "failed", why, again: true, retryAfterMs };
  // A wrong key or model is not cured by asking again at once; once somebody has put it right, what waits is judged.
  if (status === 401 || status === 403 || status === 404) return { status: "failed", why, again: false, retryAfterMs };
  return { status: "refused", body: text, httpStatus: status };
}

/** An answer of another shape is one without a text: a vote that failed. */
function readCompletion(text: string): Completion {
  const parsed = ChatCompletion.safeParse(parseObject(text));
  const choice = parsed.success ? parsed.data.choices[0] : undefined;
  const usage = parsed.success ? parsed.data.usage : undefined;
  return {
    content: choice === undefined ? text : (choice.message.content ?? null),
    refusal: choice?.message.refusal ?? null,
    finishReason: choice?.finish_reason ?? "unknown",
    promptTokens: usage?.prompt_tokens ?? null,
    completionTokens: usage?.completion_tokens ?? null,
  };
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw new Error(`an answer of more than ${MOST_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
