/** What the lines of agents that somebody built for themselves promise: calls that their schemas allow, and nothing that training has. */
import { expect } from "vitest";
import { z } from "zod";
import type { ToolDefinition } from "../../shared/chat.ts";
import { readCommandServices } from "../../trainer/pretrain/command-services.ts";

const Schema = z.object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())), required: z.array(z.string()).default([]) });

/** That the agent's schemas allow a call, with what they require and nothing that they do not have. */
export function expectAllowed(
  { agent, tools }: { agent: string; tools: readonly ToolDefinition[] },
  call: { name: string; arguments: Record<string, unknown> },
): void {
  const tool = tools.find(({ function: { name } }) => name === call.name)?.function;
  const { properties, required } = Schema.parse(tool?.parameters);
  const given = { ...properties, ...call.arguments };
  expect({ agent, call, known: Object.keys(given).length }).toEqual({ agent, call, known: Object.keys(properties).length });
  for (const name of required) expect(Object.keys(call.arguments)).toContain(name);
  const accepted = z.fromJSONSchema({ ...tool?.parameters }).safeParse(call.arguments);
  expect({ agent, call, accepted: accepted.success }).toEqual({ agent, call, accepted: true });
}

/** That training has no agent of the name, and none of the sayings as a request of its own. */
export function expectUnseen(agents: readonly { agent: string }[], sayings: readonly string[]): void {
  const services = readCommandServices();
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, "");
  const domains = new Set(services.map(({ domain }) => plain(domain)));
  const said = new Set(services.flatMap(({ requests }) => requests.map((request) => plain(request.said))));
  expect(agents.filter(({ agent }) => domains.has(plain(agent)))).toEqual([]);
  expect(sayings.filter((text) => said.has(plain(text)) && plain(text).length > 12)).toEqual([]);
}
