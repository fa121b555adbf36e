/** The shapes of answers on the wire, as the Chat Completions API has them. */
import type { ContentLogprob, FinishedDelta } from "../session/port.ts";

/** What every object of one answer states. */
export type Envelope = {
  readonly id: string;
  /** Seconds. */
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
};

export type Usage = {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: number };
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number;
    readonly audio_tokens: number;
    readonly accepted_prediction_tokens: number;
    readonly rejected_prediction_tokens: number;
  };
};

export type Logprobs = { readonly content: readonly ContentLogprob[]; readonly refusal: null };

export function toUsage({ promptTokens, cachedTokens, completionTokens }: FinishedDelta): Usage {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
  };
}

export function toLogprobs(content: readonly ContentLogprob[] | undefined): Logprobs | null {
  return content === undefined ? null : { content, refusal: null };
}

/** Names the policy version that answered: `v3-` and the first digits of its digest. */
export function fingerprint({ policyVersion, policyDigest }: { policyVersion: number; policyDigest: string }): string {
  return `v${policyVersion}-${policyDigest.slice(0, 12)}`;
}
