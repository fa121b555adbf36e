/** A turn → what an OpenAI-compatible engine is asked. Every sampling setting is sent: engines take those left out from the model's own defaults. Pure. */
import type { EngineSettings } from "../../shared/engine.ts";
import type { EngineTurn } from "./port.ts";
import { isHeld } from "./report.ts";

type Limits = { readonly answerTokens: number };

/** How the answer is drawn, with a limit where the client set none. */
export function drawn({ answerTokens }: Limits, { sampling, seed }: EngineTurn) {
  const { temperature, topP, stop, answerLimit } = sampling;
  return { temperature, topP, stop, seed, maxTokens: answerLimit?.tokens ?? answerTokens };
}

/** Everything but `model` and what one engine alone knows. */
export function chatBody(engine: Exclude<EngineSettings, { kind: "embedded" }>, turn: EngineTurn): Record<string, unknown> {
  const { temperature, topP, stop, seed, maxTokens } = drawn(engine, turn);
  const { logprobs, topLogprobs } = turn.sampling;
  return {
    messages: turn.messages,
    ...{ temperature, top_p: topP, seed, max_tokens: maxTokens, stream: true, stream_options: { include_usage: true } },
    ...(stop.length === 0 ? {} : { stop }),
    ...toolsOf(turn),
    ...formatOf(turn),
    ...(logprobs ? { logprobs: true, top_logprobs: topLogprobs } : {}),
  };
}

/** Whether the answer is free text that the client wants no log-probs of: all that native routes are used for. */
export function isUntooled({ tools, sampling }: EngineTurn): boolean {
  return tools.length === 0 && !sampling.logprobs && !isHeld(sampling, tools);
}

export function toolsOf({ tools, sampling: { toolChoice, parallelToolCalls } }: EngineTurn): Record<string, unknown> {
  if (tools.length === 0) return {};
  const choice = typeof toolChoice === "string" ? toolChoice : { type: "function", function: toolChoice };
  return { tools, tool_choice: choice, parallel_tool_calls: parallelToolCalls };
}

export function formatOf({ sampling: { responseFormat } }: EngineTurn): Record<string, unknown> {
  if (responseFormat.type === "text") return {};
  if (responseFormat.type === "json_object") return { response_format: responseFormat };
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema: responseFormat.schema, strict: true } } };
}
