/**
 * Which parameters of a request exist, and what becomes of each. A parameter is honoured (request.ts reads it), accepted at the value that the API gives it anyway, or refused by name; none is ignored.
 */
import { canonicalJson } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";

type Fixed = {
  readonly accepted: readonly unknown[];
  /** Any text is accepted, too: it would only say how to be quick. */ readonly hint?: boolean;
  readonly advice?: string;
};

export type KnownParameters = {
  readonly honoured: ReadonlySet<string>;
  /** Known parameters that change nothing at the accepted values, which are the API's defaults. */
  readonly fixed: Readonly<Record<string, Fixed>>;
};

const HONOURED = [
  "messages", "model", "tools", "tool_choice", "parallel_tool_calls", "seed", "temperature", "top_p", "stop",
  "max_tokens", "max_completion_tokens", "logprobs", "top_logprobs", "stream", "stream_options", "store",
  "user", "safety_identifier", "metadata", "session_id", "turn_type", "session_done", "response_format", "truncation",
]; // prettier-ignore

/** Of both APIs alike. */
export const FIXED_EVERYWHERE: KnownParameters["fixed"] = {
  moderation: { accepted: [null] },
  prompt_cache_key: { accepted: [null], hint: true },
  prompt_cache_options: { accepted: [null] },
  prompt_cache_retention: { accepted: [null, "in_memory", "24h"] },
  service_tier: { accepted: [null, "auto", "default"] },
};

const FIXED: KnownParameters["fixed"] = {
  ...FIXED_EVERYWHERE,
  audio: { accepted: [null] },
  frequency_penalty: { accepted: [0, null] },
  function_call: { accepted: [null], advice: "use tool_choice" },
  functions: { accepted: [null], advice: "use tools" },
  logit_bias: { accepted: [null, {}] },
  modalities: { accepted: [null, ["text"]] },
  n: { accepted: [1, null], advice: "send several requests, each with an Idempotency-Key of its own" },
  prediction: { accepted: [null] },
  presence_penalty: { accepted: [0, null] },
  reasoning_effort: { accepted: [null, "none"] },
  verbosity: { accepted: [null, "medium"] },
  web_search_options: { accepted: [null] },
};

export const CHAT_PARAMETERS: KnownParameters = { honoured: new Set(HONOURED), fixed: FIXED };

/** @throws {input/unsupported} naming a parameter that cannot be honoured, {input/invalid} one that does not exist */
export function checkParameters(body: Readonly<Record<string, unknown>>, known: KnownParameters): void {
  for (const [name, value] of Object.entries(body)) {
    if (known.honoured.has(name)) continue;
    const fixed = Object.hasOwn(known.fixed, name) ? known.fixed[name] : undefined;
    if (fixed === undefined) throw new AppError("input/invalid", `unknown parameter ${name}: remove it`, { details: { param: name } });
    checkFixed(name, value, fixed);
  }
}

function checkFixed(name: string, value: unknown, { accepted, hint = false, advice }: Fixed): void {
  if (hint && typeof value === "string") return;
  const said = canonicalJson(withoutNulls(value));
  // JSON has no infinity: `1e999` is read as one, and would be written as the null that is accepted.
  const readable = typeof value !== "number" || Number.isFinite(value);
  if (readable && accepted.some((each) => canonicalJson(each) === said)) return;
  const given = canonicalJson(value);
  const wanted = `supports ${accepted.map((each) => canonicalJson(each)).join(" or ")}${hint ? " or a text" : ""} only`;
  const shown = !readable ? String(value) : given.length <= 60 ? given : `${given.slice(0, 60)}…`;
  const tail = advice === undefined ? "" : `; ${advice}`;
  throw new AppError("input/unsupported", `${name} ${wanted}, got ${shown}${tail}`, { details: { param: name } });
}

/** A member of an object that is null says no more than one that is not there. */
function withoutNulls(value: unknown): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;
}
