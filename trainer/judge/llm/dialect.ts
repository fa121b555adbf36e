/** What a server takes of the wire that all claim to speak: optional parameters that it refuses are left out from then on. */
import { z } from "zod";
import { parseObject } from "../../../shared/speech/calls.ts";
import { JUDGE_TEMPERATURE } from "../judge.ts";
import type { TemplateArguments } from "../../../shared/engine.ts";
import type { PromptMessage } from "./prompt.ts";

/** Parameters that a vote is better with and possible without, in the order in which they are given up where the server does not say which. */
const OPTIONAL = ["response_format", "seed", "temperature", "max_tokens", "max_completion_tokens", "chat_template_kwargs"] as const;
type Optional = (typeof OPTIONAL)[number];

export type Dialect = ReadonlySet<Optional>;

/** Every server of this wire took `max_tokens` first; OpenAI's reasoning models take the other name only, and say so. */
export const FULL_DIALECT: Dialect = new Set(["response_format", "seed", "temperature", "max_tokens", "chat_template_kwargs"]);

const Refusal = z.object({
  error: z.union([z.string(), z.object({ message: z.string().optional(), param: z.string().nullish() })]).optional(),
  message: z.string().optional(),
});

/** How one request is put. What a server takes of the wire it always takes; how long an answer may be depends on the prompt. */
export type Form = { readonly dialect: Dialect; readonly mostTokens: number };

export const MOST_TOKENS = 4_096; // with what a reasoning model thinks; arXiv:2603.10165, PRM_MAX_NEW_TOKENS
const LEAST_TOKENS = 512; // a ballot with a short thought before it

const LIMITS: ReadonlySet<string> = new Set(["max_tokens", "max_completion_tokens"] satisfies Optional[]);
/** As servers word that prompt and answer together are too long, or the answer alone. */
const TOO_MUCH = /too (?:large|long|many|big|high)|context (?:length|window|size)|at most|exceed|maximum|less than|greater than|above/i;

/** The form to try next after a 400 or 422, or undefined where nothing that may be given up can be at fault. */
export function lesserForm({ dialect, mostTokens }: Form, body: string): Form | undefined {
  const { param, words } = readRefusal(body);
  const named = namedOf(dialect, { param, words });
  if ((named === undefined || LIMITS.has(named)) && TOO_MUCH.test(words))
    return mostTokens / 2 < LEAST_TOKENS ? undefined : { dialect, mostTokens: mostTokens / 2 };
  if (named !== undefined) return without({ dialect, mostTokens }, named);
  // A refusal that names none of them may still be about the newest of them, once.
  return param === "" && dialect.has("response_format") ? without({ dialect, mostTokens }, "response_format") : undefined;
}

/** What was sent and is refused, where that is said. */
function namedOf(dialect: Dialect, { param, words }: { param: string; words: string }): Optional | undefined {
  const sent = OPTIONAL.filter((name) => dialect.has(name));
  // `response_format.json_schema` is `response_format`, too; guided decoding is how some servers do it.
  const named =
    sent.find((name) => param === name || param.startsWith(`${name}.`)) ??
    sent.find((name) => new RegExp(`\\b${name}\\b`).test(words)) ??
    (/json.?schema|structured|grammar|guided/i.test(words) ? "response_format" : undefined);
  return named !== undefined && dialect.has(named) ? named : undefined;
}

type Asked = {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly seed: number;
  readonly schema: unknown;
  /** Sent where there are any: most servers refuse what they do not know. */
  readonly templateArguments?: TemplateArguments | undefined;
};

/** @see https://platform.openai.com/docs/api-reference/chat/create */
export function requestBody(
  { dialect, mostTokens }: Form,
  { model, messages, seed, schema, templateArguments }: Asked,
): Record<string, unknown> {
  const optional: Record<Optional, unknown> = {
    response_format: { type: "json_schema", json_schema: { name: "ballot", strict: true, schema } },
    seed,
    temperature: JUDGE_TEMPERATURE,
    max_tokens: mostTokens,
    max_completion_tokens: mostTokens,
    chat_template_kwargs: templateArguments,
  };
  return {
    model,
    messages,
    stream: false,
    ...Object.fromEntries(OPTIONAL.filter((name) => dialect.has(name)).map((name) => [name, optional[name]])),
  };
}

/** Undefined where both names of the limit were refused: without one, what an answer costs has no bound. */
function without({ dialect, mostTokens }: Form, name: Optional): Form | undefined {
  if (name === "max_completion_tokens") return undefined;
  const rest = new Set([...dialect].filter((each) => each !== name));
  if (name === "max_tokens") rest.add("max_completion_tokens");
  return { dialect: rest, mostTokens };
}

function readRefusal(body: string): { param: string; words: string } {
  const parsed = Refusal.safeParse(parseObject(body));
  if (!parsed.success) return { param: "", words: body };
  const { error, message } = parsed.data;
  if (error === undefined || typeof error === "string") return { param: "", words: error ?? message ?? body };
  return { param: error.param ?? "", words: error.message ?? body };
}
