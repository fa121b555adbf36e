/** A turn → what an OpenAI-compatible engine is asked. Every sampling setting is sent: engines take those left out from the model's own defaults. Pure. */
import { type EngineSettings, templateArgumentsOf } from "../../shared/engine.ts";
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

/** Whether the answer is free text that the client wants no log-probs of, and without a thought: all that native routes are used for, which pass on what is written as it is. */
export function isPlainText(engine: EngineSettings, { tools, sampling }: EngineTurn): boolean {
  const thinks = templateArgumentsOf(engine)["enable_thinking"] === true;
  return tools.length === 0 && !sampling.logprobs && !isHeld(sampling, tools) && !thinks;
}

/**
 * What the engine's chat template is given, as vLLM, SGLang and llama.cpp's server take it, beside messages and where they render or encode them
 * alone. Left out where there is nothing to give: other servers refuse members that they do not know.
 * @see https://docs.vllm.ai/en/latest/serving/openai_compatible_server/ `chat_template_kwargs`
 * @see https://docs.sglang.io/docs/advanced_features/thinking_budget; `/v1/tokenize`: https://github.com/sgl-project/sglang/pull/23981
 * @see https://github.com/ggml-org/llama.cpp/pull/13196 builds of June 2025 and later; those before read past it
 */
export function templateMember(engine: EngineSettings): Record<string, unknown> {
  const given = templateArgumentsOf(engine);
  return Object.keys(given).length === 0 ? {} : { chat_template_kwargs: given };
}

export function toolsOf({ tools, sampling: { toolChoice, parallelToolCalls } }: EngineTurn): Record<string, unknown> {
  if (tools.length === 0) return {};
  const choice = typeof toolChoice === "string" ? toolChoice : { type: "function", function: toolChoice };
  return { tools, tool_choice: choice, parallel_tool_calls: parallelToolCalls };
}

/** For llama.cpp's server and Workers AI, which read past a choice by name: one tool that must be called is the same. */
export function namedAlone({ tools, sampling: { toolChoice } }: EngineTurn): Record<string, unknown> {
  if (tools.length === 0) return {};
  if (typeof toolChoice === "string") return { tools: tools.map(spelledOut), tool_choice: toolChoice };
  return { tools: tools.filter((tool) => tool.function.name === toolChoice.name).map(spelledOut), tool_choice: "required" };
}

/** A tool with what it may be without, and what older builds of llama.cpp's server and the schema of Workers AI require. */
function spelledOut<Tool extends EngineTurn["tools"][number]>(tool: Tool): Tool {
  const parameters = { type: "object", properties: {}, ...tool.function.parameters };
  return { ...tool, function: { description: "", ...tool.function, parameters } };
}

function formatOf({ sampling: { responseFormat } }: EngineTurn): Record<string, unknown> {
  if (responseFormat.type === "text") return {};
  if (responseFormat.type === "json_object") return { response_format: responseFormat };
  const { name = "answer", schema, strict } = responseFormat;
  return { response_format: { type: "json_schema", json_schema: { name, schema, ...(strict === undefined ? {} : { strict }) } } };
}
