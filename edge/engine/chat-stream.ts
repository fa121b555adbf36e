/**
 * Chunks of a streamed chat completion → steps of an answer, with what vLLM adds for training: `prompt_token_ids` on the first chunk and `token_ids` on each choice.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 * @see https://docs.vllm.ai/en/latest/serving/openai_compatible_server/
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { AnswerParts } from "./answer-parts.ts";
import type { AnswerEnd, EngineReport, PieceStep, ShownLogProb } from "./port.ts";
import type { Told } from "./report.ts";

const LogProb = z.object({ token: z.string(), logprob: z.number(), bytes: z.array(z.number().int().min(0).max(255)).nullish() });
const ContentLogProb = LogProb.extend({ top_logprobs: z.array(LogProb).nullish() });
const CallPiece = z.object({
  index: z.number().int().min(0).optional(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const Choice = z.object({
  delta: z.object({ content: z.string().nullish(), tool_calls: z.array(CallPiece).nullish() }).nullish(),
  logprobs: z.object({ content: z.array(ContentLogProb).nullish() }).nullish(),
  token_ids: z.array(z.number().int().min(0)).nullish(),
  finish_reason: z.string().nullish(),
});
const Usage = z.object({
  prompt_tokens: z.number().int().min(0),
  completion_tokens: z.number().int().min(0),
  prompt_tokens_details: z.object({ cached_tokens: z.number().int().min(0).nullish() }).nullish(),
});
const Chunk = z.object({
  choices: z.array(Choice).max(1).default([]),
  usage: Usage.nullish(),
  prompt_token_ids: z.array(z.number().int().min(0)).nullish(),
});

export class ChatStream {
  readonly #alternatives: number | undefined;
  readonly #parts = new AnswerParts();
  readonly #responseTokens: number[] = [];
  readonly #logProbs: number[] = [];
  #promptTokens: readonly number[] | undefined;
  #usage: z.infer<typeof Usage> | undefined;
  #finishReason: "stop" | "length" | undefined;

  /** @param alternatives how many of each token the client asked for; undefined where it asked for no log-probs */
  constructor(alternatives?: number) {
    this.#alternatives = alternatives;
  }

  /** What one chunk adds. @throws {upstream/invalid} for what is no chunk */
  push(event: unknown): PieceStep {
    const parsed = Chunk.safeParse(event);
    if (!parsed.success)
      throw new AppError("upstream/invalid", `the agent's engine: chunks of a chat completion expected; ${z.prettifyError(parsed.error)}`);
    const { choices, usage, prompt_token_ids: promptTokens } = parsed.data;
    this.#promptTokens ??= promptTokens ?? undefined;
    this.#usage = usage ?? this.#usage;
    const [choice] = choices;
    if (choice === undefined) return { kind: "piece", deltas: [], logProbs: [] };
    this.#responseTokens.push(...(choice.token_ids ?? []));
    const logProbs = choice.logprobs?.content ?? [];
    this.#logProbs.push(...logProbs.map(({ logprob }) => logprob));
    const text = this.#parts.text(choice.delta?.content ?? "");
    const calls = (choice.delta?.tool_calls ?? []).flatMap(({ index = 0, id, function: part }) =>
      this.#parts.call(index, { id, name: part?.name, text: part?.arguments }),
    );
    if (choice.finish_reason !== null && choice.finish_reason !== undefined) this.#finishReason = readFinish(choice.finish_reason);
    const shown = this.#alternatives;
    return {
      kind: "piece",
      deltas: [...text, ...calls],
      logProbs: shown === undefined ? [] : logProbs.map((each) => toShown(each, shown)),
    };
  }

  /** The end of an answer that said why it ended. @throws {upstream/failed} where it did not */
  end(report: (told: Told) => EngineReport): AnswerEnd {
    if (this.#finishReason === undefined)
      throw new AppError("upstream/failed", "the agent's engine ended its answer without an end; try again");
    const { prompt_tokens: promptCount, completion_tokens: responseCount, prompt_tokens_details: details } = this.#usage ?? {};
    const told = {
      promptTokens: this.#promptTokens,
      responseTokens: this.#responseTokens,
      logProbs: this.#logProbs,
      promptCount,
      responseCount,
    };
    const reusedTokens = Math.min(details?.cached_tokens ?? 0, promptCount ?? 0);
    const deltas = this.#parts.finish();
    const { content, calls } = this.#parts;
    const finishReason = this.#parts.finishReason(this.#finishReason);
    const counts = { reusedTokens, prefilledTokens: (promptCount ?? 0) - reusedTokens };
    return { kind: "end", deltas, finishReason, content, calls, masked: false, ...counts, report: report(told) };
  }
}

function readFinish(said: string): "stop" | "length" {
  if (said === "length") return "length";
  if (said === "stop" || said === "tool_calls") return "stop";
  throw new AppError("upstream/failed", `the agent's engine: an answer that ends by stop, length or tool_calls expected, got ${said}`);
}

/** llama.cpp's server tells an alternative where none was asked for. */
function toShown({ top_logprobs: top, ...own }: z.infer<typeof ContentLogProb>, alternatives: number): ShownLogProb {
  return { ...toLogProb(own), topLogProbs: (top ?? []).slice(0, alternatives).map(toLogProb) };
}

function toLogProb({ token, logprob, bytes }: z.infer<typeof LogProb>): Omit<ShownLogProb, "topLogProbs"> {
  return { logProb: logprob, bytes: bytes === null || bytes === undefined ? new TextEncoder().encode(token) : Uint8Array.from(bytes) };
}
