/**
 * What llama.cpp's server wants said otherwise than the API says it, so that what is asked for is what it does. Pure.
 * @see https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 */
import { namedAlone } from "./bodies.ts";
import type { EngineTurn } from "./port.ts";

/** Samplers that draw from another distribution than the one its log-probs are of, off whatever the server was started with. */
export const PLAIN_SAMPLING = {
  ...{ top_k: 0, min_p: 0, typical_p: 1, top_n_sigma: -1, repeat_penalty: 1, presence_penalty: 0, frequency_penalty: 0 },
  ...{ dry_multiplier: 0, xtc_probability: 0, dynatemp_range: 0, mirostat: 0, adaptive_target: -1 },
} as const;

/** Members of a chat completion in place of the API's. */
export function llamaChat(turn: EngineTurn): Record<string, unknown> {
  const { responseFormat, logprobs, topLogprobs } = turn.sampling;
  return {
    ...namedAlone(turn),
    ...formatOf(responseFormat),
    // Builds of 2026 report no token's log-prob where no alternatives are asked for; those that nobody asked for are not passed on.
    ...(logprobs && { top_logprobs: Math.max(1, topLogprobs) }),
  };
}

/** Builds of early 2025 read past the schema of `json_schema`; all take it beside `json_object`. */
function formatOf(format: EngineTurn["sampling"]["responseFormat"]): Record<string, unknown> {
  return format.type === "json_schema" ? { response_format: { type: "json_object", schema: format.schema } } : {};
}
