/** Runs a call of a tool that is the edge's to run. Whatever goes wrong is an outcome: the policy is told, and answers. */
import type { PriorDiscovery } from "@modelcontextprotocol/client";
import type { ToolEndpoint } from "../../shared/agent-tools.ts";
import { AppError } from "../../shared/errors.ts";
import { parseObject } from "../../shared/speech/calls.ts";
import { logError } from "../log.ts";
import { callEndpoint } from "./endpoint.ts";
import { tellsSecret, type ToolEnv } from "./guarded-fetch.ts";
import { callMcpTool, type McpTool } from "./mcp.ts";
import { failed, type ToolOutcome, unavailable } from "./outcome.ts";

/** How a tool is run, and whose it is: the label of its MCP server, or `edge`. It holds the name of a secret and never its value. */
export type ToolRunner = { readonly label: string; readonly place: ToolEndpoint } & (
  | { readonly kind: "endpoint" }
  | { readonly kind: "mcp"; readonly tool: McpTool; readonly prior: PriorDiscovery }
);

/** By the name of the tool. */
export type Runners = Readonly<Record<string, ToolRunner>>;

export type RunnableCall = { readonly id: string; readonly name: string; readonly arguments: string };

/** @param runner undefined where the agent no longer has the tool */
export async function runTool(env: ToolEnv, runner: ToolRunner | undefined, call: RunnableCall): Promise<ToolOutcome> {
  if (runner === undefined) return unavailable(`the agent has no tool ${call.name} any more`);
  const given = parseObject(call.arguments);
  if (given === undefined) return failed("arguments: a JSON object expected, got text that is none");
  try {
    const outcome = await run(env, runner, { call, given });
    if (tellsSecret(env, runner.place, outcome.text))
      return unavailable("the tool's answer held the secret that it was called with, and was thrown away");
    return outcome;
  } catch (thrown) {
    const known = thrown instanceof AppError && thrown.code !== "internal";
    if (!known) logError("tool:failed", thrown, { tool: call.name, label: runner.label });
    return unavailable(known ? `the tool did not answer: ${thrown.message}` : "the tool did not answer");
  }
}

function run(
  env: ToolEnv,
  runner: ToolRunner,
  { call, given }: { call: RunnableCall; given: Record<string, unknown> },
): Promise<ToolOutcome> {
  const { place } = runner;
  if (runner.kind === "mcp") return callMcpTool(env, { ...runner, place }, given);
  return callEndpoint(env, place, { callId: call.id, body: call.arguments, signal: AbortSignal.timeout(place.timeoutMs) });
}
