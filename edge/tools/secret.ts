/**
 * Secrets of tools. An agent's settings name one; the Worker's binding of that name holds the one origin that it is for, a space, and the
 * value: `wrangler secret put TOOL_SECRET_WEATHER` with `https://api.weather.example s3cret`. So whoever may change an agent
 * cannot send a secret anywhere else.
 */
import { ToolSecret } from "../../shared/agent-tools.ts";

/** What `fetch`, HTTP or MCP itself writes. */
const TAKEN_HEADERS: ReadonlySet<string> = new Set([
  "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "cookie", "date", "expect", "host",
  "idempotency-key", "keep-alive", "last-event-id", "origin", "referer", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "via",
]); // prettier-ignore
const TAKEN_PREFIXES = ["proxy-", "sec-", "mcp-", "cf-", "x-forwarded-"];

const BINDING = /^(https?:\/\/\S+) ([\x21-\x7e][\x20-\x7e]*)$/;

/** The header that carries a secret, or why it cannot be sent. `value` is the secret alone. */
export type SecretHeader =
  | { readonly status: "found"; readonly header: string; readonly text: string; readonly value: string }
  | { readonly status: "refused"; readonly member: "name" | "header"; readonly reason: string };

/** No reason holds a value, or an origin that the settings do not hold themselves. */
export function secretHeader(env: object, secret: ToolSecret, origin: string): SecretHeader {
  const { name, header, prefix } = ToolSecret.parse(secret);
  if (TAKEN_HEADERS.has(header) || TAKEN_PREFIXES.some((taken) => header.startsWith(taken)))
    return { status: "refused", member: "header", reason: `a header that is free for a secret expected, got ${header}` };
  const bound: unknown = Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined;
  if (typeof bound !== "string" || bound === "")
    return {
      status: "refused",
      member: "name",
      reason: `a secret of the Worker expected, got none named ${name}; set it with wrangler secret put`,
    };
  const [, url = "", value = ""] = BINDING.exec(bound.trim()) ?? [];
  if (value === "" || !URL.canParse(url) || new URL(url).origin !== url)
    return { status: "refused", member: "name", reason: `${name}: an origin, a space and a value expected as what it is set to` };
  if (url !== origin)
    return { status: "refused", member: "name", reason: `a secret for ${origin} expected, got ${name}, which is for another origin` };
  return { status: "found", header, text: `${prefix}${value}`, value };
}
