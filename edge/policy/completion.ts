/** A completion of the embedded policy: what is asked, and the steps that it comes in. */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { HeldForm } from "../../shared/grammar/answer-form.ts";
import type { AdapterFiles } from "../../shared/policy.ts";

/** Reads a stored file by digest and checks its bytes against it; belongs to the request that passes it. */
export type ReadFile = (digest: string) => Promise<Uint8Array<ArrayBuffer>>;

export type CompletionRequest = HeldForm & {
  readonly promptTokens: readonly number[];
  /** Names base + adapter; adapters and KV caches are kept under it. */
  readonly policyDigest: string;
  readonly adapter: AdapterFiles | null;
  readonly readFile: ReadFile;
  /** At least 1; promptTokens.length + maxTokens is at most the context. */
  readonly maxTokens: number;
  /** 0 takes the most likely token, the lowest id among equals. */
  readonly temperature: number;
  /** In (0, 1]. */
  readonly topP: number;
  /** Safe integer. With equal prompt, policy and sampling settings, equal seeds give equal tokens on any host. */
  readonly seed: number;
  readonly stop: readonly string[];
  /** How many alternatives to report per token, 0..20. */
  readonly topLogProbs: number;
  /** What can be called: a call fits the schema of its tool. */
  readonly tools: readonly ToolDefinition[];
  /** Whether a tool is as one answer called it: no other will want its grammar. */
  readonly once?: boolean;
  /** The conversation whose KV cache is continued; one answer at a time extends it, others start cold. */
  readonly cacheKey: string;
  readonly signal?: AbortSignal | undefined;
};

/** ln p of a token; `bytes` are its UTF-8 bytes, which alone need not be a character. */
export type TokenLogProb = { readonly tokenId: number; readonly bytes: Uint8Array; readonly logProb: number };

/** What a client sees of an answer, piece by piece. Calls are numbered from 0. */
export type AnswerDelta =
  | { readonly kind: "content"; readonly text: string }
  | { readonly kind: "call:opened"; readonly index: number; readonly name: string }
  | { readonly kind: "call:arguments"; readonly index: number; readonly text: string }
  /** `valid`: the call was closed and its arguments are a JSON object. */
  | { readonly kind: "call:closed"; readonly index: number; readonly valid: boolean };

/** A call as the model wrote it; `arguments` is verbatim, broken or not. */
export type WrittenCall = { readonly name: string; readonly arguments: string; readonly valid: boolean };

/**
 * One sampled token, stop tokens included. Log-probs are natural, of the distribution sampled from: temperature
 * and token mask applied, top_p truncation not; at temperature 0 those of temperature 1.
 */
export type TokenStep = TokenLogProb & {
  readonly kind: "token";
  readonly topLogProbs: readonly TokenLogProb[];
  /** Whether a token mask narrowed this choice. */
  readonly masked: boolean;
  /** Whether it is one of the tokenizer's special tokens, which are never shown. */
  readonly special: boolean;
  readonly deltas: readonly AnswerDelta[];
};

/** The last step of every answer that was not aborted. */
export type EndStep = {
  readonly kind: "end";
  /** Text that was held back, released now. */
  readonly deltas: readonly AnswerDelta[];
  readonly finishReason: "stop" | "length" | "tool_calls";
  /** The whole text; null where the answer is calls alone. */
  readonly content: string | null;
  readonly calls: readonly WrittenCall[];
  readonly masked: boolean;
  /** Prompt tokens found in the KV cache, and those computed now; they add up to the prompt. */
  readonly reusedTokens: number;
  readonly prefilledTokens: number;
};

export type CompletionStep = TokenStep | EndStep;
