/**
 * A remote MCP server by the official client: protocol revision 2026-07-28, which has neither handshake nor sessions, and `initialize` with
 * a session for servers of before (https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning). Every request leaves through
 * `guardedFetch`; nothing is asked for twice, resumed or redirected, and the server can ask nothing back.
 */
import { Client, type PriorDiscovery, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { McpServer } from "../../shared/agent-tools.ts";
import { JsonSchema } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import { guardedFetch, timedOut, type ToolEnv } from "./guarded-fetch.ts";
import { answered, failed, type ToolOutcome } from "./outcome.ts";

const CLIENT = { name: "nextstate", version: "1" };
const MAX_PAGES = 16;
const LISTING_BYTES = 524_288; // of a page: 128 tools with their schemas
const SPEAKS_OF_THE_CALL = -32_602; // invalid params

export type McpPlace = Pick<McpServer, "url" | "secret" | "maxBytes" | "timeoutMs">;

/** A tool as its server lists it. */
export const McpTool = z.object({ name: z.string(), description: z.string().optional(), inputSchema: JsonSchema });
export type McpTool = z.infer<typeof McpTool>;

/** What a server was found to be, so that its next connection needs not ask. */
export type McpListing = { readonly tools: readonly McpTool[]; readonly prior: PriorDiscovery };

/** All tools of a server, over all pages. @throws {upstream/…} saying what is wrong with it */
export async function listMcpTools(env: ToolEnv, place: McpPlace): Promise<McpListing> {
  return withClient(env, { ...place, maxBytes: LISTING_BYTES }, undefined, async (client, options) => {
    const { tools } = await client.listTools(undefined, options);
    const discover = client.getDiscoverResult();
    const prior: PriorDiscovery = discover === undefined ? { kind: "legacy" } : { kind: "modern", discover };
    return { tools: z.array(McpTool).parse(tools), prior };
  });
}

/** @throws {upstream/…} where the server cannot be asked; the tool's own refusal is an outcome */
export async function callMcpTool(
  env: ToolEnv,
  { place, prior, tool }: { place: McpPlace; prior: PriorDiscovery; tool: McpTool },
  given: Readonly<Record<string, unknown>>,
): Promise<ToolOutcome> {
  return withClient(env, place, prior, async (client, options) => {
    // The definition goes along because parameters may have to be headers too (`x-mcp-header`).
    const toolDefinition = { name: tool.name, inputSchema: { ...tool.inputSchema, type: "object" as const } };
    try {
      const result = await client.callTool({ name: tool.name, arguments: { ...given } }, { ...options, toolDefinition });
      const text = textOf(result);
      return result.isError === true ? failed(text) : answered(text);
    } catch (thrown) {
      if (thrown instanceof ProtocolError && thrown.code === SPEAKS_OF_THE_CALL) return failed(thrown.message);
      throw thrown;
    }
  });
}

type CallOptions = { readonly signal: AbortSignal; readonly timeout: number };

async function withClient<Value>(
  env: ToolEnv,
  { timeoutMs, ...destination }: McpPlace,
  prior: PriorDiscovery | undefined,
  use: (client: Client, options: CallOptions) => Promise<Value>,
): Promise<Value> {
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { signal, timeout: timeoutMs };
  let fault: unknown;
  const transport = new StreamableHTTPClientTransport(new URL(destination.url), {
    reconnectionOptions: { maxRetries: 0, initialReconnectionDelay: 0, maxReconnectionDelay: 0, reconnectionDelayGrowFactor: 1 },
    fetch: async (_url, init) => {
      // The older protocol's stream for what a server wants to say by itself is not opened.
      if (init?.method === "GET") return new Response(null, { status: 405 });
      try {
        return await guardedFetch(env, destination, { ...toSent(init, signal), onTooLong: (error) => void (fault = error) });
      } catch (thrown) {
        fault = thrown;
        throw thrown;
      }
    },
  });
  const client = new Client(CLIENT, {
    versionNegotiation: { mode: "auto" },
    listMaxPages: MAX_PAGES,
    inputRequired: { autoFulfill: false },
  });
  try {
    await client.connect(transport, { ...options, ...(prior === undefined ? {} : { prior }) });
    return await use(client, options);
  } catch (thrown) {
    throw toFault(fault ?? thrown, signal);
  } finally {
    await transport.terminateSession().catch(() => undefined); // a server that keeps sessions ends them by itself too
    await client.close().catch(() => undefined);
  }
}

function toSent(init: RequestInit | undefined, signal: AbortSignal): Parameters<typeof guardedFetch>[2] {
  const signals = [signal, ...(init?.signal ? [init.signal] : [])];
  const body = typeof init?.body === "string" ? init.body : undefined;
  return {
    method: init?.method ?? "POST",
    headers: Object.fromEntries(new Headers(init?.headers)),
    body,
    signal: AbortSignal.any(signals),
  };
}

/** The client's errors quote what a server sent, which may be long or hold what it was sent itself. */
function toFault(thrown: unknown, signal: AbortSignal): AppError {
  if (thrown instanceof AppError) return thrown;
  if (signal.aborted || (thrown instanceof Error && /timed? ?out/i.test(thrown.message))) return timedOut();
  if (thrown instanceof ProtocolError) return new AppError("upstream/failed", `it answered with error ${thrown.code}`);
  return new AppError("upstream/invalid", "answers of the Model Context Protocol expected, got something else");
}

/** Structured content is for programs and says the same as the text beside it; what is neither is named. */
function textOf({ content, structuredContent }: { content?: readonly object[]; structuredContent?: unknown }): string {
  if (structuredContent !== undefined) return JSON.stringify(structuredContent);
  return (content ?? []).map((part) => TextPart.safeParse(part).data?.text ?? `[${Reflect.get(part, "type")} left out]`).join("\n");
}

const TextPart = z.object({ type: z.literal("text"), text: z.string() });
