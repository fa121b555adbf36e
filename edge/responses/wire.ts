/** The shapes of answers on the wire, as the Responses API has them. */
import type { Drawn } from "../../shared/sampling.ts";
import type { ContentLogprob, FinishedDelta } from "../session/port.ts";
import type { Truncation } from "../session/shortened.ts";
import type { ResponseParameters, TextFormat } from "./request.ts";
import type { FlatToolChoice, ToolOnWire } from "./tools.ts";

type ItemStatus = "in_progress" | "completed" | "incomplete";

export type OutputText = { type: "output_text"; text: string; annotations: never[]; logprobs: ContentLogprob[] };
export type MessageItem = { type: "message"; id: string; role: "assistant"; status: ItemStatus; content: OutputText[] };
export type CallItem = { type: "function_call"; id: string; call_id: string; name: string; arguments: string; status: ItemStatus };
/** A call that was run on this side, in the form in which clients know such: OpenAI's of remote MCP servers. */
export type ServedCallItem = {
  type: "mcp_call";
  id: string;
  server_label: string;
  name: string;
  arguments: string;
  output: string | null;
  error: { type: "mcp_tool_execution_error"; content: { type: "text"; text: string }[] } | null;
  status: ItemStatus | "failed";
  approval_request_id: null;
};
export type OutputItem = MessageItem | CallItem | ServedCallItem;

export type ResponseUsage = {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
};

/** What a response repeats of its request, with the values that were in force. */
export type ResponseEcho = {
  model: string;
  instructions: string | null;
  previous_response_id: string | null;
  tools: ToolOnWire[];
  tool_choice: FlatToolChoice;
  parallel_tool_calls: boolean;
  temperature: number;
  top_p: number;
  top_logprobs: number;
  max_output_tokens: number | null;
  text: { format: TextFormat; verbosity: "medium" };
  metadata: Record<string, string>;
  store: boolean;
  truncation: Truncation;
  user?: string;
  safety_identifier: string | null;
};

/** What is known of a response before its first token. */
export type ResponseBase = {
  readonly id: string;
  /** Seconds. */
  readonly createdAt: number;
  readonly echo: ResponseEcho;
};

export type ResponseOnWire = ResponseEcho & {
  id: string;
  object: "response";
  created_at: number;
  /** Seconds; null of what did not come to its end, and of records that do not say it. */
  completed_at: number | null;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  error: { code: "server_error"; message: string } | null;
  incomplete_details: { reason: "max_output_tokens" } | null;
  output: OutputItem[];
  usage?: ResponseUsage;
  access_programs: null;
  background: false;
  frequency_penalty: 0;
  max_tool_calls: null;
  presence_penalty: 0;
  reasoning: { effort: null; summary: null };
  service_tier: "default";
};

type Outcome = Pick<ResponseOnWire, "status" | "output"> &
  Partial<Pick<ResponseOnWire, "completed_at" | "error" | "incomplete_details" | "usage">>;

type Part = { item_id: string; output_index: number; content_index: 0 };
type Call = { item_id: string; output_index: number };

/** An event before it is numbered. */
export type UnnumberedEvent =
  | {
      type: "response.created" | "response.in_progress" | "response.completed" | "response.incomplete" | "response.failed";
      response: ResponseOnWire;
    }
  | { type: "response.output_item.added" | "response.output_item.done"; output_index: number; item: OutputItem }
  | ({ type: "response.content_part.added" | "response.content_part.done"; part: OutputText } & Part)
  | ({ type: "response.output_text.delta"; delta: string; logprobs: ContentLogprob[] } & Part)
  | ({ type: "response.output_text.done"; text: string; logprobs: ContentLogprob[] } & Part)
  | ({ type: "response.mcp_call.in_progress" | "response.mcp_call.completed" | "response.mcp_call.failed" } & Call)
  | ({ type: "response.mcp_call_arguments.delta"; delta: string } & Call)
  | ({ type: "response.mcp_call_arguments.done"; arguments: string } & Call)
  | ({ type: "response.function_call_arguments.delta"; delta: string } & Call)
  | ({ type: "response.function_call_arguments.done"; name: string; arguments: string } & Call);
/** `sequence_number` counts from 0. */
export type ResponseEvent = UnnumberedEvent & { sequence_number: number };

export function toResponse({ id, createdAt, echo }: ResponseBase, outcome: Outcome): ResponseOnWire {
  return {
    id,
    object: "response",
    created_at: createdAt,
    completed_at: null,
    ...echo,
    error: null,
    incomplete_details: null,
    access_programs: null,
    background: false,
    frequency_penalty: 0,
    max_tool_calls: null,
    presence_penalty: 0,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    ...outcome,
  };
}

/** What was in force that a request need not say. */
type InForce = { readonly tools: ToolOnWire[]; readonly store: boolean; readonly drawn: Drawn };

export function toEcho(parameters: ResponseParameters, { tools, store, drawn }: InForce): ResponseEcho {
  const { user } = parameters;
  return {
    model: parameters.model,
    instructions: parameters.instructions ?? null,
    previous_response_id: parameters.previous_response_id ?? null,
    tools,
    tool_choice: parameters.tool_choice ?? "auto",
    parallel_tool_calls: parameters.parallel_tool_calls ?? true,
    temperature: drawn.temperature,
    top_p: drawn.topP,
    top_logprobs: parameters.top_logprobs ?? 0,
    max_output_tokens: parameters.max_output_tokens ?? null,
    text: { format: parameters.text?.format ?? { type: "text" }, verbosity: "medium" },
    metadata: parameters.metadata ?? {},
    store,
    truncation: parameters.truncation ?? "disabled",
    ...(user === undefined || user === null ? {} : { user }),
    safety_identifier: parameters.safety_identifier ?? null,
  };
}

export function toResponseUsage({ promptTokens, cachedTokens, completionTokens }: FinishedDelta): ResponseUsage {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + completionTokens,
  };
}
