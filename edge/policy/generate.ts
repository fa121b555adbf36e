/** One answer, token by token: prefill what the cache lacks, then choose, show, and run each token. */
import { abortedByReader } from "../../shared/errors.ts";
import type { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { AnswerReader } from "./answer.ts";
import type { AdapterUse } from "./adapters.ts";
import type { CompletionRequest, CompletionStep, EndStep, TokenLogProb } from "./completion.ts";
import { type Decoder, MAX_ROWS } from "./decoder.ts";
import type { KvSequence } from "./kv-cache.ts";
import { checkWork, MaskWork } from "./mask-work.ts";
import { uniform } from "./philox.ts";
import { type Alternative, chooseToken } from "./sampler.ts";
import { ShownBytes } from "./token-text.ts";

// How much work is done before other answers and the event loop get their turn: about the time of ten tokens at most.
const PREFILL_BLOCKS_PER_PAUSE = 4;
const TOKENS_PER_PAUSE = 4;

export type GenerationParts = {
  readonly decoder: Decoder;
  readonly grammars: AnswerGrammars;
  readonly eosId: number;
  /** Resolves after everything else that was waiting for the event loop has run. */
  readonly pause: () => Promise<void>;
  readonly sequence: KvSequence;
  readonly adapter: AdapterUse | undefined;
  /** First position that the adapter acts on. */
  readonly adaptedFrom: number;
};

/** @throws {session/aborted} once the signal has fired, {input/invalid} where the masks take too much work */
export async function* generate(parts: GenerationParts, request: CompletionRequest): AsyncGenerator<CompletionStep, void, void> {
  const { decoder, grammars, eosId, sequence } = parts;
  const { vocabulary, markers } = grammars;
  const constraint = grammars.constraint(request.tools, request, { once: request.once });
  const answer = new AnswerReader({ vocabulary, markers, stop: request.stop });
  const shown = new ShownBytes(vocabulary.erased);
  const show = ({ tokenId, logProb }: Alternative): TokenLogProb => ({ tokenId, logProb, bytes: shown.of(vocabulary.bytesOf(tokenId)) });
  const work = new MaskWork();
  let masked = false;
  let stopped = false;
  let row = await prefill(parts, request);
  for (let index = 0; index < request.maxTokens && !stopped; index++) {
    const mask = constraint.mask();
    const choice = chooseToken(decoder, row, { ...request, mask, random: () => uniform(request.seed, index) });
    constraint.accept(choice.tokenId);
    checkWork(constraint.work, index + 1);
    const deltas = answer.push(choice.tokenId);
    masked ||= mask !== undefined;
    stopped = choice.tokenId === eosId || answer.stopped;
    const special = vocabulary.isSpecial(choice.tokenId);
    yield { kind: "token", ...show(choice), topLogProbs: choice.top.map(show), masked: mask !== undefined, special, deltas };
    shown.push(vocabulary.bytesOf(choice.tokenId));
    if (stopped || index + 1 === request.maxTokens) break;
    if (work.isDueToPause(constraint.work) || index % TOKENS_PER_PAUSE === 0) await parts.pause();
    checkAlive(parts, request);
    run(parts, [choice.tokenId], 0);
    row = 0;
  }
  yield endStep(answer, { request, sequence, masked, stopped });
}

/** Runs the prompt tokens that the cache lacks. @returns the row that holds the last one's logits */
async function prefill(parts: GenerationParts, request: CompletionRequest): Promise<number> {
  const { promptTokens } = request;
  for (let blocks = 1; ; blocks++) {
    checkAlive(parts, request);
    const from = parts.sequence.tokens.length;
    const tokens = promptTokens.slice(from, from + MAX_ROWS);
    const last = from + tokens.length === promptTokens.length;
    run(parts, tokens, last ? tokens.length - 1 : tokens.length);
    if (last) return tokens.length - 1;
    if (blocks % PREFILL_BLOCKS_PER_PAUSE === 0) await parts.pause();
  }
}

function run({ decoder, sequence, adapter, adaptedFrom }: GenerationParts, tokens: readonly number[], logitsFrom: number): void {
  const start = sequence.tokens.length;
  sequence.reserve(start + tokens.length);
  const rows = tokens.map((token, index) => {
    const position = start + index;
    return { token, position, pages: sequence.table, adapter: position < adaptedFrom ? 0 : (adapter?.table ?? 0) };
  });
  decoder.forward(rows, logitsFrom);
  sequence.tokens.push(...tokens);
}

function checkAlive({ sequence, adapter }: GenerationParts, { signal }: CompletionRequest): void {
  if (signal?.aborted === true) throw abortedByReader(signal.reason);
  sequence.lease.touch();
  adapter?.lease.touch();
}

function endStep(
  answer: AnswerReader,
  { request, sequence, masked, stopped }: { request: CompletionRequest; sequence: KvSequence; masked: boolean; stopped: boolean },
): EndStep {
  const deltas = answer.finish();
  const { calls, content } = answer;
  const finishReason = !stopped ? "length" : calls.length > 0 ? "tool_calls" : "stop";
  const { reusedTokens } = sequence;
  const prefilledTokens = request.promptTokens.length - reusedTokens;
  return { kind: "end", deltas, finishReason, content, calls, masked, reusedTokens, prefilledTokens };
}
