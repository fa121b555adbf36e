/**
 * Free text by the engines' own routes, which tell ids where their chat completions do not.
 * @see https://docs.sglang.ai/basic_usage/sampling_params.html SGLang `/generate`
 * @see https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md llama.cpp `/completion`
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { AnswerParts } from "./answer-parts.ts";
import type { AnswerEnd, EngineReport, PieceStep } from "./port.ts";
import type { Told } from "./report.ts";

const count = z.number().int().min(0);

/** What the two have in common: pieces of text, and counts at the end. */
abstract class TextStream {
  readonly #parts = new AnswerParts();
  protected readonly promptTokens: readonly number[];
  protected readonly responseTokens: number[] = [];
  protected readonly logProbs: number[] = [];
  protected ended: { finishReason: "stop" | "length"; promptCount: number; responseCount: number; cachedCount: number } | undefined;

  constructor(promptTokens: readonly number[]) {
    this.promptTokens = promptTokens;
  }

  /** What one event adds. @throws {upstream/…} */
  abstract push(event: unknown): PieceStep;

  protected piece(text: string): PieceStep {
    return { kind: "piece", deltas: this.#parts.text(text), logProbs: [] };
  }

  /** @throws {upstream/failed} for an answer that did not say why it ended */
  end(report: (told: Told) => EngineReport): AnswerEnd {
    if (this.ended === undefined) throw new AppError("upstream/failed", "the agent's engine ended its answer without an end; try again");
    const { finishReason, promptCount, responseCount, cachedCount } = this.ended;
    const told = {
      promptTokens: this.promptTokens,
      responseTokens: this.responseTokens,
      logProbs: this.logProbs,
      promptCount,
      responseCount,
    };
    const reusedTokens = Math.min(cachedCount, promptCount);
    const counts = { reusedTokens, prefilledTokens: promptCount - reusedTokens };
    const { content, calls } = this.#parts;
    return { kind: "end", deltas: [], finishReason, content, calls, masked: false, ...counts, report: report(told) };
  }
}

const Generated = z.object({
  text: z.string().nullish(),
  meta_info: z.object({
    finish_reason: z.object({ type: z.string(), message: z.string().nullish() }).nullish(),
    prompt_tokens: count,
    completion_tokens: count,
    cached_tokens: count.nullish(),
    // [ln p, id, text or null]
    output_token_logprobs: z.array(z.tuple([z.number(), count]).rest(z.unknown())).nullish(),
  }),
});

/** SGLang's events hold all so far, or with `--incremental-streaming-output` what is new; how many tokens there are tells which. */
export class GenerateStream extends TextStream {
  #text = "";

  push(event: unknown): PieceStep {
    const { text, meta_info: meta } = parse(Generated, event);
    const pairs = meta.output_token_logprobs ?? [];
    const whole = pairs.length === meta.completion_tokens;
    const news = whole ? pairs.slice(this.responseTokens.length) : pairs;
    this.responseTokens.push(...news.map(([, id]) => id));
    this.logProbs.push(...news.map(([logProb]) => logProb));
    const finish = meta.finish_reason;
    if (finish !== null && finish !== undefined) this.#finish(finish, meta);
    const said = text ?? "";
    const added = whole && said.startsWith(this.#text) ? said.slice(this.#text.length) : said;
    this.#text += added;
    return this.piece(added);
  }

  #finish({ type, message }: { type: string; message?: string | null | undefined }, meta: z.infer<typeof Generated>["meta_info"]): void {
    if (type !== "stop" && type !== "length")
      throw new AppError("upstream/failed", `the agent's engine gave the answer up: ${message ?? type}`);
    const { prompt_tokens: promptCount, completion_tokens: responseCount, cached_tokens: cachedCount } = meta;
    this.ended = { finishReason: type, promptCount, responseCount, cachedCount: cachedCount ?? 0 };
  }
}

const Completed = z.object({
  content: z.string(),
  tokens: z.array(count).default([]),
  stop: z.boolean(),
  stop_type: z.string().optional(),
  completion_probabilities: z.array(z.object({ id: count, logprob: z.number() })).default([]),
  tokens_evaluated: count.optional(),
  tokens_predicted: count.optional(),
  truncated: z.boolean().optional(),
  timings: z.object({ cache_n: count.optional() }).optional(),
});

/**
 * llama.cpp's events hold what is new, the token that ends an answer included. Of a character that several tokens make up, all but the last are
 * counted and not reported.
 */
export class CompletionStream extends TextStream {
  push(event: unknown): PieceStep {
    const piece = parse(Completed, event);
    this.#checkUncut(piece);
    // The last event may hold all of the answer's tokens again.
    if (!piece.stop) {
      this.responseTokens.push(...piece.tokens);
      this.logProbs.push(...piece.completion_probabilities.map(({ logprob }) => logprob));
      return this.piece(piece.content);
    }
    this.ended = {
      finishReason: piece.stop_type === "limit" ? "length" : "stop",
      promptCount: piece.tokens_evaluated ?? 0,
      responseCount: piece.tokens_predicted ?? 0,
      cachedCount: piece.timings?.cache_n ?? 0,
    };
    return this.piece(piece.content);
  }

  /** Builds that shift their context answer what is left of a conversation that does not fit, and forget its beginning while they answer. */
  #checkUncut({ tokens_evaluated: read, truncated }: z.infer<typeof Completed>): void {
    const sent = this.promptTokens.length;
    if (read !== undefined && read < sent)
      throw new AppError("input/invalid", `the agent's engine: a conversation that fits its context expected, got ${sent} tokens`, {
        details: { param: "messages", code: "context_length_exceeded" },
      });
    if (truncated === true)
      throw new AppError("upstream/failed", "the agent's engine forgot the beginning of the conversation; start it with a larger context");
  }
}

function parse<Value>(schema: z.ZodType<Value>, event: unknown): Value {
  const parsed = schema.safeParse(event);
  if (parsed.success) return parsed.data;
  throw new AppError("upstream/invalid", `the agent's engine: pieces of a completion expected; ${z.prettifyError(parsed.error)}`);
}
