/** `nextstate agents`: what answers under which name, and its settings. */
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Agent } from "../../shared/agent.ts";
import type { LineHead } from "../../shared/policy.ts";
import { readJsonFile } from "./input.ts";
import { clip, fields, harmless, paint, say, show, table, time } from "./output.ts";
import { AGENT, COMMON, connect, type Common, type Context, readAgents } from "./where.ts";

const ONE = { kind: "tuple", parameters: [AGENT] } as const;

const list = buildCommand<Common, [], Context>({
  docs: { brief: "List the agents: what answers, and whether they learn" },
  parameters: { flags: COMMON },
  func: async (flags) => {
    show(flags, { agents: await readAgents(connect(flags)) }, ({ agents }) =>
      table(["agent", "stable", "canary", "learning"], agents.map(toRow), "No agents. `nextstate agents put NAME --file FILE` makes one."),
    );
  },
});

const shown = buildCommand<Common, [string], Context>({
  docs: { brief: "Show an agent with its settings" },
  parameters: { flags: COMMON, positional: ONE },
  func: async (flags, name) => show(flags, await connect(flags).agent(name), describe),
});

const put = buildCommand<Common & { file: string }, [string], Context>({
  docs: { brief: "Create an agent, or replace all its settings" },
  parameters: {
    flags: {
      ...COMMON,
      file: { kind: "parsed", parse: (file: string) => file, placeholder: "file", brief: "settings as JSON; - is stdin" },
    },
    positional: ONE,
  },
  func: async (flags, name) => show(flags, await connect(flags).putAgent(name, await readJsonFile(flags.file)), describe),
});

const pause = learning(false, "Stop learning; serving goes on");
const resume = learning(true, "Go on learning");

function learning(enabled: boolean, brief: string) {
  return buildCommand<Common, [string], Context>({
    docs: { brief },
    parameters: { flags: COMMON, positional: ONE },
    func: async (flags, name) =>
      show(flags, await connect(flags).setLearning(name, enabled), (answer) =>
        say(`${name}: learning is ${onOrOff(answer.learning)}; serving goes on.`),
      ),
  });
}

export const agents = buildRouteMap({
  routes: { list, show: shown, put, pause, resume },
  defaultCommand: "list",
  docs: { brief: "Agents: list, show, put, pause, resume" },
});

function toRow({ agent, stable, canary, settings }: LineHead): string[] {
  const trial = canary === null ? "–" : `v${canary.version}, ${Math.round(canary.share * 100)} %`;
  return [agent, `v${stable}`, trial, onOrOff(settings.learning.enabled)];
}

function describeUpdates({ minSignals, maxWaitMs }: Agent["settings"]["learning"]): string {
  return minSignals === 1 ? "at every corrected turn" : `at ${minSignals} corrected turns, or one that waited ${maxWaitMs / 1000} s`;
}

function describe({ name, createdAt, settings }: Agent): void {
  const { learning: rules, release, tools, mcpServers } = settings;
  fields({
    agent: paint("bold", name),
    created: time(createdAt),
    learning: `${onOrOff(rules.enabled)}, objective ${rules.objective}, notes ${rules.notes}, ${rules.votes} votes`,
    updates: describeUpdates(rules),
    release: `gate ${release.gate.enabled ? "on" : "off"}, canary ${release.canary.mode}`,
    instructions: settings.instructions === "" ? "–" : harmless(settings.instructions),
    tools: tools.length === 0 ? "–" : "",
  });
  for (const { function: tool, endpoint } of tools) {
    const place = endpoint === undefined ? "" : `  run by the edge at ${endpoint.url}`;
    say(`  ${paint("bold", tool.name)}  ${clip(tool.description ?? "")}${harmless(place)}`);
  }
  for (const { label, url, allowedTools } of mcpServers)
    say(`  ${paint("bold", label)}  MCP server at ${harmless(url)}, run by the edge: ${allowedTools?.join(", ") ?? "all its tools"}`);
}

function onOrOff(enabled: boolean): string {
  return enabled ? paint("green", "on") : paint("yellow", "off");
}
