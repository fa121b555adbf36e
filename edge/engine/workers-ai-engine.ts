/**
 * Workers AI through its binding. It tells text only, no ids and no log-probs, and JSON in one piece.
 * @see https://developers.cloudflare.com/workers-ai/configuration/bindings/ `env.AI.run`
 * @see https://developers.cloudflare.com/workers-ai/features/function-calling/
 * @see https://github.com/cloudflare/ai/blob/main/packages/workers-ai-provider/src/streaming.ts calls in pieces, text as numbers
 * @see https://developers.cloudflare.com/workers-ai/models/llama-3.2-11b-vision-instruct/ the schema of its inputs
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { adapterName, type WorkersAiEngine } from "../../shared/engine.ts";
import type { Env } from "../env.ts";
import type { AnswerDelta } from "../policy/completion.ts";
import { toChunk, WholeCompletion } from "./answer-events.ts";
import { AnswerParts } from "./answer-parts.ts";
import { drawn, spelledOut, toolsOf } from "./bodies.ts";
import { ChatStream } from "./chat-stream.ts";
import { readEvents } from "./event-stream.ts";
import type { EnsureAdapter } from "./openai-engine.ts";
import { Patience } from "./patience.ts";
import { UNKNOWN_PROMPT, type AnswerEnd, type AnswerStep, type Engine, type EngineTurn, type PieceStep } from "./port.ts";
import { reportOf, type Told } from "./report.ts";
import { toAppError, unanswered, type Upstream } from "./upstream.ts";

/** The part of the `AI` binding that is used. */
export type AiBinding = { run(model: string, inputs: Readonly<Record<string, unknown>>): Promise<unknown> };

const SILENCE = "Workers AI reports no token ids";
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
    ...toolsOf({ ...turn, tools: turn.tools.map(spelledOut) }),
    ...formatOf(turn.sampling),
    ...(adapter === null ? {} : { lora: adapterName(policyDigest) }),
  };
  const patience = new Patience(upstream.timeoutMs, signal);
  try {
    const said = await run(env, { engine, inputs, upstream }, patience);
    const stream = new PieceStream(maxTokens);
    if (said instanceof ReadableStream) for await (const event of readEvents(upstream, said, patience)) yield stream.push(event);
    else yield stream.pushWhole(said);
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
  const asked = AI.run(engine.model, inputs).catch((cause: unknown) => {
    throw new AppError("upstream/failed", `Workers AI refused the request: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  // The binding takes no signal: what comes too late is thrown away.
  const given = new Promise<never>((_, reject) =>
    patience.signal.addEventListener("abort", () => reject(unanswered(upstream, patience, patience.signal.reason))),
  );
  return Promise.race([asked, given]);
}

/** Events with `response`, or chunks of a chat completion; or one whole answer of either kind. */
class PieceStream {
  readonly #maxTokens: number;
  readonly #parts = new AnswerParts();
  #chat: ChatStream | undefined;
  #usage: { prompt_tokens: number; completion_tokens: number } | undefined;
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
    const { response, tool_calls: calls, usage } = parsed.data;
    this.#usage = usage ?? this.#usage;
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

  /** Its `response` may be the value that the JSON is of. */
  pushWhole(answer: unknown): PieceStep {
    this.#whole = true;
    const chat = WholeCompletion.safeParse(answer);
    if (chat.success) return this.push(toChunk(chat.data));
    const given = Held.safeParse(answer).data;
    return this.push(given === undefined ? answer : { ...given, response: JSON.stringify(given.response) });
  }

  end(): AnswerEnd {
    const report = (told: Told) => reportOf(told, { silence: SILENCE, distortion: undefined });
    if (this.#chat !== undefined) return this.#chat.end(report);
    // These events do not say why the answer ended; a stream without counts was cut off.
    if (this.#usage === undefined && !this.#whole)
      throw new AppError("upstream/failed", "Workers AI ended its answer without an end; try again");
    const { prompt_tokens: promptCount, completion_tokens: responseCount } = this.#usage ?? {};
    const deltas = this.#parts.finish();
    const { content, calls } = this.#parts;
    const finishReason = this.#parts.finishReason((responseCount ?? 0) >= this.#maxTokens ? "length" : "stop");
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
