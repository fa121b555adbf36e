/**
 * The tools of MCP servers as an isolate knows them: listed once, used for five minutes, and for an hour where the server cannot be asked
 * again. A server that did not answer is left alone for a few seconds, so that a dead one does not hold up every request.
 */
import type { McpServer } from "../../shared/agent-tools.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { Recent } from "../../shared/recent.ts";
import { logError } from "../log.ts";
import { checkTools, FunctionName } from "../openai/tools.ts";
import type { ToolEnv } from "./guarded-fetch.ts";
import { listMcpTools, type McpListing, type McpTool } from "./mcp.ts";

const FRESH_MS = 5 * 60_000;
const USABLE_MS = 60 * 60_000;
const LEFT_ALONE_MS = 5_000;
const MAX_KNOWN = 200;

type Known = { readonly listing: McpListing; readonly loadedAt: number };
type Failed = { readonly error: AppError; readonly failedAt: number };

const known = new Recent<string, Known>(MAX_KNOWN);
const unanswered = new Recent<string, Failed>(MAX_KNOWN);

/** @throws {upstream/…} naming the server where its tools are not known and it cannot be asked, or where one that is allowed by name is no tool */
export async function getMcpTools(env: ToolEnv, server: McpServer): Promise<McpListing> {
  const key = canonicalJson(server);
  const entry = known.get(key);
  const ageMs = entry === undefined ? Infinity : Date.now() - entry.loadedAt;
  if (entry !== undefined && ageMs < FRESH_MS) return entry.listing;
  const failure = unanswered.get(key);
  const leftAlone = failure !== undefined && Date.now() - failure.failedAt < LEFT_ALONE_MS;
  try {
    if (leftAlone) throw failure.error;
    return remember(key, await readMcpTools(env, server, (fault) => logError("mcp:toolLeftOut", fault, { label: server.label })));
  } catch (thrown) {
    if (!leftAlone && thrown instanceof AppError) unanswered.set(key, { error: thrown, failedAt: Date.now() });
    if (entry === undefined || ageMs > USABLE_MS) throw thrown;
    if (!leftAlone) logError("mcp:unreachable", thrown, { label: server.label });
    return entry.listing;
  }
}

/**
 * Asks the server itself, whatever is known of it. @param leaveOut told of one of its tools that cannot be used and that nobody asked for: the
 * others are had without it. Where it is undefined, as where a server is set up, that is an error like any other. @throws as `getMcpTools`
 */
export async function readMcpTools(env: ToolEnv, server: McpServer, leaveOut?: (fault: AppError) => void): Promise<McpListing> {
  const { label, allowedTools } = server;
  try {
    const { tools, prior } = await listMcpTools(env, server);
    const missing = (allowedTools ?? []).filter((name) => !tools.some((tool) => tool.name === name));
    if (missing.length > 0)
      throw new AppError("upstream/invalid", `the tools allowed expected among its own, got none named ${missing.join(", ")}`);
    const allowed = tools.filter(({ name }) => allowedTools?.includes(name) ?? true);
    const usable = allowed.filter((tool) => isUsable(tool, allowedTools === undefined ? leaveOut : undefined));
    checkTools(usable.map(toDefinition), (index) => usable[index]?.name ?? String(index));
    return { tools: usable, prior };
  } catch (thrown) {
    if (!(thrown instanceof AppError)) throw thrown;
    const code = thrown.code.startsWith("upstream/") ? thrown.code : "upstream/invalid";
    throw new AppError(code, `MCP server ${label}: ${thrown.message}`);
  }
}

export function toDefinition({ name, description, inputSchema }: McpTool): ToolDefinition {
  return { type: "function", function: { name, ...(description === undefined ? {} : { description }), parameters: inputSchema } };
}

function isUsable(tool: McpTool, leaveOut: ((fault: AppError) => void) | undefined): boolean {
  try {
    checkName(tool.name);
    checkTools([toDefinition(tool)], () => tool.name);
    return true;
  } catch (thrown) {
    if (leaveOut === undefined || !(thrown instanceof AppError)) throw thrown;
    leaveOut(thrown);
    return false;
  }
}

function checkName(name: string): void {
  const checked = FunctionName.safeParse(name);
  if (!checked.success)
    throw new AppError(
      "upstream/invalid",
      `names of tools of ${checked.error.issues[0]?.message.replace(" expected", "") ?? ""} expected, got ${name.slice(0, 130)}; list the others in allowedTools`,
    );
}

function remember(key: string, listing: McpListing): McpListing {
  unanswered.delete(key);
  known.set(key, { listing, loadedAt: Date.now() });
  return listing;
}
