/** POST /v1/chat/completions: the body → a request in our own terms, or a refusal that says what to change. */
import { z, type ZodType } from "zod";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { type Drawn, Temperature, TopP } from "../../shared/sampling.ts";
import { parseWith } from "../http-errors.ts";
import type { TurnSampling } from "../session/port.ts";
import { TRUNCATIONS, type Truncation } from "../session/shortened.ts";
import { checkDepth } from "./depth.ts";
import { isYes, SessionDone, TurnType } from "./headers.ts";
import { Messages, toConversation } from "./messages.ts";
import { CHAT_PARAMETERS, checkParameters, type KnownParameters } from "./parameters.ts";
import { invalid } from "./refuse.ts";
import { ResponseFormatParameter, toResponseFormat } from "./response-format.ts";
import { checkTools, ToolChoiceParameter, Tools } from "./tools.ts";

const MAX_STOPS = 4; // this and the next as the API
const MAX_TOP_LOGPROBS = 20;
const MAX_PAIRS = 16;

export const Parameters = z.object({
  model: z.string().min(1),
  messages: Messages,
  tools: Tools.nullish(),
  tool_choice: ToolChoiceParameter.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  seed: z.int().nullish(),
  temperature: Temperature.nullish(),
  top_p: TopP.nullish(),
  stop: z
    .union([z.string().min(1), z.array(z.string().min(1)).max(MAX_STOPS)], `a text or at most ${MAX_STOPS} texts expected, none empty`)
    .nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(MAX_TOP_LOGPROBS).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() }).nullish(),
  store: z.boolean().nullish(),
  user: z.string().max(256).nullish(),
  safety_identifier: z.string().max(256).nullish(),
  // Counted first: a record of any size would be gone through pair by pair.
  metadata: z
    .record(z.string(), z.unknown())
    .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `at most ${MAX_PAIRS} pairs expected`)
    .pipe(z.record(z.string().max(64), z.string().max(512)))
    .nullish(),
  truncation: z.enum(TRUNCATIONS).nullish(),
  session_id: z.string().nullish(),
  turn_type: TurnType.nullish(),
  session_done: SessionDone.nullish(),
  response_format: ResponseFormatParameter.nullish(),
});
type Parameters = z.infer<typeof Parameters>;

/** What a request asks of a turn, whichever API it came by. */
export type AskedTurn = Omit<TurnSampling, "toolChoice" | keyof Drawn> & {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  /** These two: undefined where the request does not say; the agent's setting then counts. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  /** Undefined where the request names none: the agent's own then apply. */
  readonly tools: readonly ToolDefinition[] | undefined;
  /** As asked for; `toToolChoice` resolves it once the agent's tools are known. */
  readonly toolChoice: z.infer<typeof ToolChoiceParameter> | undefined;
  /** False: nothing but digests is kept. Undefined where the request does not say: the agent's setting then counts. */
  readonly store: boolean | undefined;
  /** Whom the client says it speaks for, not yet scoped to its key. */
  readonly user: string | undefined;
  readonly truncation: Truncation;
  readonly metadata: Readonly<Record<string, string>>;
  /** `session_id`, not yet checked; what metadata says beside it is free in form. */
  readonly sessionId: string | undefined;
  /** What the body says where the headers say nothing. */
  readonly turnKind: "main" | "side" | undefined;
  readonly closes: boolean | undefined;
};

export type ChatRequest = AskedTurn & { readonly stream: boolean; readonly includeUsage: boolean };

/** @throws {input/invalid} and {input/unsupported} naming the parameter in `details.param` */
export function parseChatRequest(body: unknown): ChatRequest {
  const parameters = parseParameters(body, { schema: Parameters, known: CHAT_PARAMETERS });
  checkCombinations(parameters);
  checkTools(parameters.tools ?? []);
  return toRequest(parameters);
}

/** The parameters of a body, each of which is known. @throws as `parseChatRequest` */
export function parseParameters<Value>(body: unknown, { schema, known }: { schema: ZodType<Value>; known: KnownParameters }): Value {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new AppError(
      "input/invalid",
      `body: a JSON object expected, got ${body === null ? "null" : Array.isArray(body) ? "a list" : typeof body}`,
    );
  checkDepth(body);
  checkParameters({ ...body }, known);
  // zod's records leave such a member out without a word.
  if ("metadata" in body && isRecord(body.metadata) && Object.hasOwn(body.metadata, "__proto__"))
    throw invalid("metadata", "names other than __proto__ expected, which is no name to JavaScript; call it otherwise");
  return parseWith(schema, body);
}

function checkCombinations(parameters: Parameters): void {
  if (isSet(parameters.max_tokens) && isSet(parameters.max_completion_tokens))
    throw invalid("max_tokens", "one of max_tokens and max_completion_tokens expected, got both");
  if (isSet(parameters.top_logprobs) && parameters.logprobs !== true) throw invalid("top_logprobs", "logprobs: true expected beside it");
  if (isSet(parameters.stream_options) && parameters.stream !== true) throw invalid("stream_options", "stream: true expected beside it");
}

function toRequest(parameters: Parameters): ChatRequest {
  const { stop, metadata, truncation } = parameters;
  return {
    model: parameters.model,
    messages: toConversation(parameters.messages),
    tools: parameters.tools ?? undefined,
    toolChoice: parameters.tool_choice ?? undefined,
    parallelToolCalls: parameters.parallel_tool_calls ?? true,
    responseFormat: toResponseFormat(parameters.response_format),
    seed: parameters.seed ?? undefined,
    temperature: parameters.temperature ?? undefined,
    topP: parameters.top_p ?? undefined,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    answerLimit: answerLimitOf(parameters),
    logprobs: parameters.logprobs ?? false,
    topLogprobs: parameters.top_logprobs ?? 0,
    stream: parameters.stream ?? false,
    includeUsage: parameters.stream_options?.include_usage ?? false,
    store: parameters.store ?? undefined,
    user: userOf(parameters),
    truncation: truncation ?? "disabled",
    metadata: metadata ?? {},
    sessionId: parameters.session_id ?? undefined,
    ...sessionMarksOf(parameters),
  };
}

export function sessionMarksOf({ turn_type: kind, session_done: done }: Pick<Parameters, "turn_type" | "session_done">): {
  turnKind: AskedTurn["turnKind"];
  closes: AskedTurn["closes"];
} {
  return { turnKind: kind ?? undefined, closes: isSet(done) ? isYes(done) : undefined };
}

function answerLimitOf({ max_tokens: older, max_completion_tokens: newer }: Parameters): TurnSampling["answerLimit"] {
  if (isSet(newer)) return { param: "max_completion_tokens", tokens: newer };
  return isSet(older) ? { param: "max_tokens", tokens: older } : undefined;
}

/** Whose conversation it is. Where both names are given and differ, both count: nobody's `user` is ignored. */
export function userOf({ safety_identifier: identifier, user }: Pick<Parameters, "safety_identifier" | "user">): string | undefined {
  const names = [...new Set([identifier ?? "", user ?? ""])].filter((name) => name !== "");
  return names.length > 1 ? canonicalJson(names) : names[0];
}

function isSet<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}
