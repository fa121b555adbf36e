/** Whether what an agent's settings say of tools that the edge runs can be done at all: addresses, secrets, names. */
import { ENDPOINT_LABEL, type ToolEndpoint } from "../../shared/agent-tools.ts";
import type { AgentSettings } from "../../shared/agent.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { invalid } from "../openai/refuse.ts";
import { checkAddress } from "./address.ts";
import { allowsLoopback, type ToolEnv } from "./guarded-fetch.ts";
import { readMcpTools } from "./mcp-directory.ts";
import { runByEdge } from "./offer.ts";
import { secretHeader } from "./secret.ts";

type ToolSettings = Pick<AgentSettings, "tools" | "mcpServers">;

/**
 * @param before the settings that are replaced; servers are asked for their tools where they are not the same as then
 * @throws {input/invalid} naming the setting
 */
export async function checkToolSettings(env: ToolEnv, settings: ToolSettings, before: ToolSettings | undefined): Promise<void> {
  const { tools, mcpServers } = settings;
  tools.forEach(({ endpoint }, index) => {
    if (endpoint !== undefined) checkPlace(env, endpoint, `tools.${index}.endpoint`);
  });
  const labels = new Set<string>([ENDPOINT_LABEL]);
  mcpServers.forEach((server, index) => {
    checkPlace(env, server, `mcpServers.${index}`);
    if (labels.has(server.label))
      throw invalid(`mcpServers.${index}.label`, `a label of its own expected, got ${server.label}, which is taken`);
    labels.add(server.label);
  });
  if (mcpServers.length > 0 && canonicalJson(names(settings)) !== canonicalJson(before === undefined ? null : names(before)))
    await checkListings(env, settings);
}

function names({ tools, mcpServers }: ToolSettings): unknown {
  return [tools.map(({ function: { name } }) => name), mcpServers];
}

function checkPlace(env: ToolEnv, { url, secret }: Pick<ToolEndpoint, "url" | "secret">, path: string): void {
  const address = checkAddress(url, { loopback: allowsLoopback(env) });
  if (address.status === "refused") throw invalid(`${path}.url`, address.reason);
  if (secret === undefined) return;
  const found = secretHeader(env, secret, address.url.origin);
  if (found.status === "refused") throw invalid(`${path}.secret.${found.member}`, found.reason);
}

/** Asks every server, so that whoever sets it up learns at once what is wrong with it. */
async function checkListings(env: ToolEnv, { tools, mcpServers }: ToolSettings): Promise<void> {
  const listings = await Promise.all(
    mcpServers.map(async (server, index) => ({
      server,
      listing: await readMcpTools(env, server).catch(refuseAt(`mcpServers.${index}.url`)),
    })),
  );
  try {
    runByEdge(tools, listings);
  } catch (thrown) {
    refuseAt("mcpServers")(thrown);
  }
}

function refuseAt(param: string): (thrown: unknown) => never {
  return (thrown) => {
    throw thrown instanceof AppError ? invalid(param, thrown.message) : thrown;
  };
}
