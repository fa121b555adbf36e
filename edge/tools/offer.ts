/** What a turn can call, and which of it the edge runs: the request's own tools or the agent's, and beside them those that are the edge's to run. */
import { type AgentTool, ENDPOINT_LABEL, type McpServer } from "../../shared/agent-tools.ts";
import type { AgentSettings } from "../../shared/agent.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import { invalid } from "../openai/refuse.ts";
import type { ToolEnv } from "./guarded-fetch.ts";
import { getMcpTools, toDefinition } from "./mcp-directory.ts";
import type { McpListing } from "./mcp.ts";
import type { Runners, ToolRunner } from "./runner.ts";

export type ToolOffer = {
  readonly tools: readonly ToolDefinition[];
  /** Of those that the edge runs. */
  readonly runners: Runners;
};

type Run = { readonly definition: ToolDefinition; readonly runner: ToolRunner };

/**
 * @param asked the request's own; undefined where it names none, and an empty list is a choice: the client runs nothing. What the edge runs is
 * left out by `tool_choice` none: libraries send an empty list wherever they have no tools of their own.
 * @throws {input/invalid} where the request names a tool that the agent runs itself, {upstream/…} where a server's tools cannot be known
 */
export async function offerTools(
  env: ToolEnv,
  asked: readonly ToolDefinition[] | undefined,
  settings: Pick<AgentSettings, "tools" | "mcpServers">,
): Promise<ToolOffer> {
  const listings = await Promise.all(settings.mcpServers.map(async (server) => ({ server, listing: await getMcpTools(env, server) })));
  const run = runByEdge(settings.tools, listings);
  const names = new Set(run.map(({ definition }) => definition.function.name));
  const own = asked ?? settings.tools.filter(({ endpoint }) => endpoint === undefined).map(definitionOf);
  const taken = own.find(({ function: { name } }) => names.has(name));
  if (taken !== undefined)
    throw invalid(
      "tools",
      `names other than those of tools that the agent runs itself expected, got ${taken.function.name}; leave it out, the agent calls it by itself`,
    );
  return {
    tools: [...own, ...run.map(({ definition }) => definition)],
    runners: Object.fromEntries(run.map(({ definition, runner }) => [definition.function.name, runner])),
  };
}

/** @throws {upstream/invalid} naming both places of a name that two of them have */
export function runByEdge(tools: readonly AgentTool[], listings: readonly { server: McpServer; listing: McpListing }[]): Run[] {
  const places = new Map<string, string>(tools.map(({ function: { name } }, index) => [name, `tools.${index}`]));
  const endpoints = tools.flatMap((tool): Run[] =>
    tool.endpoint === undefined
      ? []
      : [{ definition: definitionOf(tool), runner: { kind: "endpoint", label: ENDPOINT_LABEL, place: tool.endpoint } }],
  );
  const listed = listings.flatMap(({ server, listing: { tools: served, prior } }) =>
    served.map((tool): Run => {
      const before = places.get(tool.name);
      if (before !== undefined)
        throw new AppError(
          "upstream/invalid",
          `MCP server ${server.label}: names of its own expected, got ${tool.name}, which ${before} has too; choose by allowedTools`,
        );
      places.set(tool.name, `MCP server ${server.label}`);
      const { url, secret, timeoutMs, maxBytes } = server;
      return {
        definition: toDefinition(tool),
        runner: { kind: "mcp", label: server.label, place: { url, secret, timeoutMs, maxBytes }, tool, prior },
      };
    }),
  );
  return [...endpoints, ...listed];
}

/** What the policy is told of a tool; where it is, is nobody's business. */
export function definitionOf({ type, function: definition }: AgentTool): ToolDefinition {
  return { type, function: definition };
}
