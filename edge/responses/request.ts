/** POST /v1/responses: the body → what a turn is asked, in the terms of every API, or a refusal that says what to change. */
import { z } from "zod";
import type { ChatMessage } from "../../shared/chat.ts";
import type { ResponseFormat } from "../../shared/grammar/answer-form.ts";
import { checkConversation } from "../openai/messages.ts";
import { invalid } from "../openai/refuse.ts";
import { type AskedTurn, Parameters as ChatParameters, parseParameters, sessionMarksOf, userOf } from "../openai/request.ts";
import { SchemaName, toSchemaFormat } from "../openai/response-format.ts";
import { checkTools } from "../openai/tools.ts";
import { type FullItem, Input, toItems, toMessages } from "./items.ts";
import { RESPONSE_PARAMETERS } from "./parameters.ts";
import { FlatToolChoice, FunctionToolList, toChatChoice, toDefinition } from "./tools.ts";
import type { OutputItem } from "./wire.ts";

const LOGPROBS = "message.output_text.logprobs";
/** What an answer can include, where it is made and where it is read again. */
export const Include = z.array(z.literal(LOGPROBS, `${LOGPROBS} expected; nothing else can be included`));

const TextFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: SchemaName,
    description: z.string().optional(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean().nullish(),
  }),
]);
export type TextFormat = z.infer<typeof TextFormat>;

/** What both APIs call by one name is checked by one schema. */
export const ResponseParameters = ChatParameters.pick({
  model: true,
  parallel_tool_calls: true,
  temperature: true,
  top_p: true,
  top_logprobs: true,
  stream: true,
  store: true,
  user: true,
  safety_identifier: true,
  metadata: true,
  truncation: true,
  session_id: true,
  turn_type: true,
  session_done: true,
}).extend({
  input: Input,
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  tools: FunctionToolList.nullish(),
  tool_choice: FlatToolChoice.nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  text: z.strictObject({ format: TextFormat.optional(), verbosity: z.literal("medium").nullish() }).nullish(),
  include: Include.nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
});
export type ResponseParameters = z.infer<typeof ResponseParameters>;

/** With every item that the input refers to. */
export type FullParameters = Omit<ResponseParameters, "input"> & { readonly input: string | readonly FullItem[] };

/** The response that a request continues: its conversation, but for its instructions, and what it answered. */
export type PreviousResponse = { readonly messages: readonly ChatMessage[]; readonly output: readonly OutputItem[] };

/** @throws {input/invalid} and {input/unsupported} naming the parameter in `details.param` */
export function parseResponseRequest(body: unknown): ResponseParameters {
  const parameters = parseParameters(body, { schema: ResponseParameters, known: RESPONSE_PARAMETERS });
  if ((parameters.top_logprobs ?? 0) > 0 && !includesLogprobs(parameters))
    throw invalid("top_logprobs", `include: ["${LOGPROBS}"] expected beside it`);
  if ((parameters.stream_options ?? undefined) !== undefined && parameters.stream !== true)
    throw invalid("stream_options", "stream: true expected beside it");
  return parameters;
}

/** @throws {input/invalid} where the conversation is none, or a tool or schema is wrong */
export function toAskedTurn(parameters: FullParameters, previous: PreviousResponse | undefined): AskedTurn {
  const { tools, text, metadata, truncation, max_output_tokens: limit } = parameters;
  const definitions = tools?.map(toDefinition);
  checkTools(definitions ?? [], (index) => `tools.${index}`);
  return {
    model: parameters.model,
    messages: toConversation(parameters, previous),
    tools: definitions,
    toolChoice: toChatChoice(parameters.tool_choice ?? undefined),
    parallelToolCalls: parameters.parallel_tool_calls ?? true,
    responseFormat: toResponseFormat(text?.format),
    seed: undefined,
    temperature: parameters.temperature ?? undefined,
    topP: parameters.top_p ?? undefined,
    stop: [],
    answerLimit: limit === undefined || limit === null ? undefined : { param: "max_output_tokens", tokens: limit },
    logprobs: includesLogprobs(parameters),
    topLogprobs: parameters.top_logprobs ?? 0,
    store: parameters.store ?? undefined,
    user: userOf(parameters),
    truncation: truncation ?? "disabled",
    metadata: metadata ?? {},
    sessionId: parameters.session_id ?? undefined,
    ...sessionMarksOf(parameters),
  };
}

/** Instructions are of this request alone: those of the response before do not carry over, as in the API. */
function toConversation({ instructions, input }: FullParameters, previous: PreviousResponse | undefined): ChatMessage[] {
  const { messages = [], output = [] } = previous ?? {};
  const known = messages.map((message) => ({ message, place: "previous_response_id" }));
  const answered = output.map((item) => ({ item, place: "input" })); // what lacks a result of it is the input
  const system: ChatMessage[] = (instructions ?? "") === "" ? [] : [{ role: "system", content: instructions ?? "" }];
  const placed = [
    ...system.map((message) => ({ message, place: "instructions" })),
    ...known,
    ...toMessages([...answered, ...toItems(input)]),
  ];
  const conversation = placed.map(({ message }) => message);
  checkConversation(conversation, (index) => placed[index]?.place ?? "input");
  return conversation;
}

function toResponseFormat(format: TextFormat | undefined): ResponseFormat {
  if (format === undefined) return { type: "text" };
  return format.type === "json_schema" ? toSchemaFormat(format, "text.format.schema") : format;
}

function includesLogprobs({ include }: Pick<ResponseParameters, "include">): boolean {
  return (include ?? []).length > 0;
}
