/** Which parameters of a response exist, and what becomes of each; see edge/openai/parameters.ts. */
import { FIXED_EVERYWHERE, type KnownParameters } from "../openai/parameters.ts";

const HONOURED = [
  "include", "input", "instructions", "max_output_tokens", "metadata", "model", "parallel_tool_calls",
  "previous_response_id", "safety_identifier", "session_done", "session_id", "store", "stream", "stream_options", "temperature",
  "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "turn_type", "user",
]; // prettier-ignore

export const RESPONSE_PARAMETERS: KnownParameters = {
  honoured: new Set(HONOURED),
  fixed: {
    ...FIXED_EVERYWHERE,
    access_programs: { accepted: [null] },
    background: { accepted: [null, false], advice: "set stream to true to see the answer as it comes" },
    context_management: { accepted: [null, []] },
    conversation: { accepted: [null], advice: "use previous_response_id" },
    image: { accepted: [null] },
    max_tool_calls: { accepted: [null], advice: "it limits built-in tools, which there are none of" },
    prompt: { accepted: [null], advice: "use instructions" },
    reasoning: { accepted: [null, {}, { effort: "none" }] },
  },
};
