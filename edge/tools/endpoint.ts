/** A tool behind an endpoint of its own: the arguments are posted as JSON, and what comes back is the result. */
import type { ToolEndpoint } from "../../shared/agent-tools.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { guardedFetch, readText, type ToolEnv } from "./guarded-fetch.ts";
import { answered, failed, type ToolOutcome, unavailable } from "./outcome.ts";

/** Statuses that speak of the edge or the tool rather than of the call: keys, rate, and everything from 500 on. */
const NOT_THE_CALL: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429, 451]);

/** @throws what `guardedFetch` and `readText` throw */
export async function callEndpoint(
  env: ToolEnv,
  endpoint: Omit<ToolEndpoint, "timeoutMs">,
  { callId, body, signal }: { callId: string; body: string; signal: AbortSignal },
): Promise<ToolOutcome> {
  // A tool that keeps these keys can tell a second delivery; the edge itself sends each call once.
  const headers = { "content-type": "application/json", accept: "application/json, text/plain", "idempotency-key": callId };
  const response = await guardedFetch(env, endpoint, { headers, body, signal });
  const text = await readText(response, signal);
  const { status } = response;
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (status >= 500 || NOT_THE_CALL.has(status)) return unavailable(`the tool answered with status ${status}`);
  if (status >= 400) return failed(reasonOf(text, status));
  if (type === "text/plain" || (text === "" && status === 204)) return answered(text);
  if (type !== "application/json" && !type.endsWith("+json"))
    return unavailable(`application/json or text/plain expected from the tool, got ${type.slice(0, 60) || "no content type"}`);
  return parse(text) === undefined ? unavailable("JSON expected from the tool, got text that does not parse") : answered(text);
}

/** What the tool says of its refusal, where it says it as JSON APIs do, else all that it says. */
function reasonOf(text: string, status: number): string {
  const said = parse(text);
  const error = isRecord(said) ? (said["error"] ?? said["message"] ?? said["detail"]) : undefined;
  const message = isRecord(error) ? error["message"] : error;
  return typeof message === "string" ? message : text.trim() || `status ${status}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // JSON has no undefined, so this says "does not parse"
  }
}
