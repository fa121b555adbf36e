/**
 * Workers AI through its binding. It tells text only, no ids and no log-probs, and JSON in one piece.
 * @see https://developers.cloudflare.com/workers-ai/configuration/bindings/ `env.AI.run`
 * @see https://developers.cloudflare.com/workers-ai/features/function-calling/
 * @see https://github.com/cloudflare/ai/blob/main/packages/workers-ai-provider/src/streaming.ts calls in pieces, text as numbers; utils.ts a call by name
 * @see https://developers.cloudflare.com/workers-ai/models/llama-3.2-11b-vision-instruct/ the schema of its inputs
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { adapterName, type WorkersAiEngine } from "../../shared/engine.ts";
import type { Env } from "../env.ts";
import type { AnswerDelta } from "../policy/completion.ts";
import { toChunk, WholeCompletion } from "./answer-events.ts";
import { AnswerParts } from "./answer-parts.ts";
import { drawn, namedAlone, toolsOf } from "./bodies.ts";
import { ChatStream } from "./chat-stream.ts";
import { readEvents } from "./event-stream.ts";
import type { EnsureAdapter } from "./openai-engine.ts";
import { Patience } from "./patience.ts";
import { UNKNOWN_PROMPT, type AnswerEnd, type AnswerStep, type Engine, type EngineTurn, type PieceStep } from "./port.ts";
import { reportOf, type Told } from "./report.ts";
import { toAppError, type Upstream, UpstreamRefusal, withRepeats } from "./upstream.ts";

/** The part of the `AI` binding that is used. */
export type AiBinding = {
  run(model: string, inputs: Readonly<Record<string, unknown>>, options: { signal: AbortSignal }): Promise<unknown>;
};

const SILENCE = "Workers AI reports no token ids";
/**
 * The status of a refusal by the code that its message begins with; without one it is the service's own fault. Those of 403 are left out: the
 * binding has no key, and the words say which terms to agree to.
 * @see https://developers.cloudflare.com/workers-ai/platform/errors/
 */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ 3003: 400, 3039: 400, 5004: 400, 5007: 400 },
  ...{ 3006: 413, 3007: 408, 3008: 408, 3042: 404 },
  ...{ 3036: 429, 3040: 429 },
};
const OUT_OF_CAPACITY = /^3040:/; // of the moment; the other 429 is a day's allocation
const MOST_SEED = 9_999_999_999;
const count = z.number().int().min(0);

/** Arguments as an object, or as text of which more may come. */
const Named = z.object({ name: z.string().nullish(), arguments: z.unknown().optional() });
/** A whole call by itself, or a piece of the one that is numbered; a piece without anything closes it. */
const CallPiece = Named.extend({ index: count.nullish(), function: Named.nullish() });
const Piece = z.object({
  /** A number where the text of the piece reads as one. */
  response: z.union([z.string(), z.number()]).nullish(),
  tool_calls: z.array(CallPiece).nullish(),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
  finish_reason: z.string().nullish(),
});
/** Newer models of the catalogue stream chunks of chat completions. */
const ChunkLike = z.object({ choices: z.array(z.unknown()) });
const Held = z.looseObject({ response: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown()), z.boolean()]) });

export function createWorkersAiEngine(env: Env, engine: WorkersAiEngine, ensureAdapter: EnsureAdapter): Engine {
  const upstream = { what: "Workers AI", url: "", headers: {}, timeoutMs: engine.timeoutMs };
  return {
    prepare: async (turn) => {
      checkTurn(turn);
      return {
        answer: (signal) => ({ steps: answer({ env, engine, upstream, ensureAdapter }, turn, signal), prompted: () => UNKNOWN_PROMPT }),
      };
    },
  };
}

/** What it would not do and not say so, or refuse in the words of a schema. @throws {input/unsupported} */
function checkTurn({ sampling: { logprobs, stop }, seed }: EngineTurn): void {
  if (logprobs)
    throw new AppError("input/unsupported", "logprobs: Workers AI reports none; leave it out", { details: { param: "logprobs" } });
  if (stop.length > 0)
    throw new AppError("input/unsupported", "stop: Workers AI knows no stop strings; leave it out", { details: { param: "stop" } });
  if (seed < 1 || seed > MOST_SEED)
    throw new AppError("input/unsupported", `seed: Workers AI takes 1 to ${MOST_SEED}, got ${seed}; choose another or leave it out`, {
      details: { param: "seed" },
    });
}

type Parts = { readonly env: Env; readonly engine: WorkersAiEngine; readonly upstream: Upstream; readonly ensureAdapter: EnsureAdapter };

async function* answer(
  { env, engine, upstream, ensureAdapter }: Parts,
  turn: EngineTurn,
  signal: AbortSignal,
): AsyncGenerator<AnswerStep, void, void> {
  const { policyDigest, adapter } = turn.policy;
  if (adapter !== null) await ensureAdapter(false);
  const { temperature, topP, seed, maxTokens } = drawn(engine, turn);
  const inputs = {
    messages: turn.messages.map(withText),
    ...{ stream: turn.sampling.responseFormat.type === "text", max_tokens: maxTokens, temperature, top_p: topP, seed },
    ...toolsOf(turn),
    ...namedAlone(turn),
    ...formatOf(turn.sampling),
    ...(adapter === null ? {} : { lora: adapterName(policyDigest) }),
  };
  const patience = new Patience(upstream.timeoutMs, signal);
  try {
    const said = await run(env, { engine, inputs, upstream }, patience);
    const stream = new PieceStream(maxTokens);
    if (said instanceof ReadableStream) {
      const events = readEvents(upstream, said, { patience, onDone: () => stream.close() });
      for await (const event of events) yield stream.push(event);
    } else yield stream.pushWhole(said);
    yield stream.end();
  } catch (thrown) {
    throw toAppError(upstream, thrown);
  } finally {
    patience.end();
  }
}

/** The binding's schema wants text in every message; an answer that only calls tools has none. */
function withText<Message extends EngineTurn["messages"][number]>(message: Message): Message & { content: string } {
  return { ...message, content: message.content ?? "" };
}

/** The schema stands by itself, and what is held to one is not streamed. @see https://developers.cloudflare.com/workers-ai/features/json-mode/ */
function formatOf({ responseFormat }: EngineTurn["sampling"]): Record<string, unknown> {
  if (responseFormat.type === "text") return {};
  if (responseFormat.type === "json_object") return { response_format: responseFormat };
  return { response_format: { type: "json_schema", json_schema: responseFormat.schema } };
}

async function run(
  { AI }: Env,
  { engine, inputs, upstream }: { engine: WorkersAiEngine; inputs: Readonly<Record<string, unknown>>; upstream: Upstream },
  patience: Patience,
): Promise<unknown> {
  if (AI === undefined)
    throw new AppError(
      "upstream/invalid",
      'Workers AI: the binding AI expected, got none; add [ai] with binding = "AI" to wrangler.toml and deploy',
    );
  const { signal } = patience;
  const given = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const ask = async (): Promise<unknown> => {
    const asked = AI.run(engine.model, inputs, { signal });
    asked.then((late) => (signal.aborted ? stop(late) : undefined)).catch(() => undefined); // heard below, or too late
    try {
      return await Promise.race([asked, given]);
    } catch (thrown) {
      throw signal.aborted ? thrown : refusalOf(thrown);
    }
  };
  return withRepeats(ask, {
    upstream,
    patience,
    again: (thrown) => thrown instanceof UpstreamRefusal && OUT_OF_CAPACITY.test(thrown.said),
  });
}

/** What is there once nobody waits: a stream would go on, and cost, until it is cancelled. */
async function stop(late: unknown): Promise<void> {
  if (late instanceof ReadableStream) await late.cancel();
}

function refusalOf(thrown: unknown): UpstreamRefusal {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const [, code = ""] = /^(\d{4}):/.exec(said) ?? [];
  return new UpstreamRefusal(STATUSES[code] ?? 500, said);
}

/** Events with `response`, or chunks of a chat completion; or one whole answer of either kind. */
class PieceStream {
  readonly #maxTokens: number;
  readonly #parts = new AnswerParts();
  #chat: ChatStream | undefined;
  #usage: { prompt_tokens: number; completion_tokens: number } | undefined;
  #finishReason: string | undefined;
  #whole = false;
  #calls = 0;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  push(event: unknown): PieceStep {
    if (this.#chat !== undefined || (ChunkLike.safeParse(event).success && this.#usage === undefined && this.#parts.content === ""))
      return (this.#chat ??= new ChatStream()).push(event);
    const parsed = Piece.safeParse(event);
    if (!parsed.success)
      throw new AppError("upstream/invalid", `Workers AI: pieces of an answer expected; ${z.prettifyError(parsed.error)}`);
    const { response, tool_calls: calls, usage, finish_reason: finishReason } = parsed.data;
    this.#usage = usage ?? this.#usage;
    this.#finishReason = finishReason ?? this.#finishReason;
    const text = this.#parts.text(String(response ?? ""));
    return { kind: "piece", deltas: [...text, ...(calls ?? []).flatMap((call) => this.#call(call))], logProbs: [] };
  }

  #call({ index, function: piece, ...whole }: z.infer<typeof CallPiece>): AnswerDelta[] {
    const { name, arguments: given } = piece ?? whole;
    const text = typeof given === "string" || given === null || given === undefined ? given : JSON.stringify(given);
    if (!name && !text) return [];
    // One without a number begins with its name.
    const place = index ?? (name ? this.#calls : Math.max(0, this.#calls - 1));
    this.#calls = Math.max(this.#calls, place + 1);
    return this.#parts.call(place, { name, text: piece ? text : (text ?? "{}") });
  }

  /** The stream has said that it is whole. */
  close(): void {
    this.#whole = true;
  }

  /** Its `response` may be the value that the JSON is of. */
  pushWhole(answer: unknown): PieceStep {
    this.close();
    const chat = WholeCompletion.safeParse(answer);
    if (chat.success) return this.push(toChunk(chat.data));
    const given = Held.safeParse(answer).data;
    return this.push(given === undefined ? answer : { ...given, response: JSON.stringify(given.response) });
  }

  end(): AnswerEnd {
    const report = (told: Told) => reportOf(told, { silence: SILENCE, distortion: undefined });
    if (this.#chat !== undefined) return this.#chat.end(report);
    // Counts, a reason and [DONE] each come last, and not every model sends them all; a stream without any was cut off.
    if (this.#usage === undefined && this.#finishReason === undefined && !this.#whole)
      throw new AppError("upstream/failed", "Workers AI ended its answer without an end; try again");
    const { prompt_tokens: promptCount, completion_tokens: responseCount } = this.#usage ?? {};
    const deltas = this.#parts.finish();
    const { content, calls } = this.#parts;
    // Most do not say why they ended: one that has all the tokens that it may have was cut.
    const cut = this.#finishReason === "length" || (responseCount ?? 0) >= this.#maxTokens;
    const finishReason = this.#parts.finishReason(cut ? "length" : "stop");
    const told = { promptTokens: undefined, responseTokens: [], logProbs: [], promptCount, responseCount };
    return {
      kind: "end",
      deltas,
      finishReason,
      content,
      calls,
      masked: false,
      reusedTokens: 0,
      prefilledTokens: promptCount ?? 0,
      report: report(told),
    };
  }
}
