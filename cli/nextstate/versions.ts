/** `nextstate versions`: policy versions with their lineage, and one with its gate report and what changed. */
import { buildCommand } from "@stricli/core";
import { passedOver } from "../../shared/answer-text.ts";
import { aspectText, isAspect } from "../../shared/aspects.ts";
import type { ListedVersion, ShownVersion, VersionPage } from "../../shared/api.ts";
import { gateFaults, type GateBudgets, type VersionStatus } from "../../shared/release.ts";
import type { EdgeClient, OfLine } from "./edge-client.ts";
import type { LearnedDefault } from "../../shared/learned-defaults.ts";
import { count } from "../../shared/count.ts";
import { clip, fields, harmless, paint, say, sayJson, show, table, time } from "./output.ts";
import { PAGE } from "./paged.ts";
import { Progress } from "./progress.ts";
import { AGENT, amount, COMMON, connect, LINE, versionNumber, type Common, type Context } from "./where.ts";

const DIGITS = 4;
const STYLES = {
  stable: "green",
  canary: "cyan",
  candidate: "cyan",
  superseded: "dim",
  refused: "red",
  rolledBack: "red",
  deleted: "red",
} as const satisfies Record<VersionStatus, string>;

export const versions = buildCommand<Common & OfLine & { limit: number }, [string, number | undefined], Context>({
  docs: { brief: "Policy versions, newest first; with a number, that one with its gate report and changes" },
  parameters: {
    flags: { ...COMMON, ...LINE, limit: { kind: "parsed", parse: amount, default: "20", placeholder: "n", brief: "how many are listed" } },
    positional: {
      kind: "tuple",
      parameters: [AGENT, { brief: "number of a version", placeholder: "version", optional: true, parse: versionNumber }],
    },
  },
  func: async (flags, agent, version) => {
    const edge = connect(flags);
    if (version === undefined) return show(flags, await readVersions(edge, agent, flags), (page) => list(page.versions));
    const found = await edge.version(agent, version, { line: flags.line });
    if (flags.json) return sayJson(found);
    const { settings } = await edge.agent(agent);
    describe(found, settings.release.gate.budgets);
  },
});

/** Newest first, at most `limit`. */
export async function readVersions(
  edge: EdgeClient,
  agent: string,
  { line, limit = Number.POSITIVE_INFINITY }: OfLine & { limit?: number } = {},
): Promise<VersionPage> {
  const found = await edge.versions(agent, { line, limit: Math.min(PAGE, limit) });
  const progress = new Progress("versions");
  for (let oldest = found.versions.at(-1)?.version ?? 0; oldest > 0 && found.versions.length < limit;) {
    const page = await edge.versions(agent, { line, before: oldest, limit: Math.min(PAGE, limit - found.versions.length) });
    if (page.versions.length === 0) break;
    found.versions.push(...page.versions);
    oldest = found.versions.at(-1)?.version ?? 0;
    progress.update(1 - oldest / (found.latest + 1), count(found.versions.length, "version"));
  }
  progress.end();
  return found;
}

function list(found: readonly ListedVersion[]): void {
  const rows = found.map(({ version, status, parent, createdAt, events, hints }) => [
    `v${version}`,
    paint(STYLES[status], status),
    parent === version ? "–" : `v${parent}`,
    time(createdAt),
    String(events.length),
    clip(hints.join(" ")),
  ]);
  table(["version", "status", "parent", "created", "events", "hints"], rows);
}

function describe({ version, status, parent, createdAt, policyDigest, ...made }: ShownVersion, budgets: GateBudgets): void {
  const { metrics } = made;
  fields({
    version: `${paint("bold", `v${version}`)} ${paint(STYLES[status], status)}`,
    parent: parent === version ? "–" : `v${parent}`,
    created: time(createdAt),
    digest: policyDigest,
    "learned from": `${count(made.events.length, "event")} of ${count(made.users.length, "user")}, seq ${made.fromSeq} to ${made.toSeq}`,
    update:
      metrics === null
        ? describeOrigin(made.imported)
        : `${count(metrics.steps, "step")}, loss ${round(metrics.lossBefore)} → ${round(metrics.loss)}, KL to parent ${round(metrics.klToParentNats)} nats, ${Math.round(metrics.seconds)} s`,
  });
  for (const hint of made.hints) say(`  hint  ${clip(hint, 160)}`);
  for (const learned of made.defaults) say(`  default  ${clip(describeDefault(learned), 160)}`);
  describeGate(made.gate, budgets);
  for (const { prompt, before, after } of made.changes) {
    say(`\n${paint("dim", "prompt")}  ${harmless(prompt)}`);
    say(`${paint("red", "before")}  ${harmless(before)}`);
    say(`${paint("green", "after")}   ${harmless(after)}`);
    for (const { parameter, value, used } of passedOver(after, made.defaults))
      say(
        `${paint("dim", "held")}    weights alone say ${clip(used)} for ${clip(parameter)}; what goes out is held to ${clip(value)} unless the user says otherwise`,
      );
  }
}

function describeOrigin(imported: ShownVersion["imported"]): string {
  if (imported === null) return "–";
  return `trained elsewhere, ${imported.export === null ? "on no export" : `on export ${imported.export.slice(0, 12)} for ${imported.format}`}; cannot be rebuilt`;
}

/** Against the budgets that the agent has now, as the release decides by. */
function describeGate(gate: ShownVersion["gate"], budgets: GateBudgets): void {
  if (gate === null) return say("\nNo gate report.");
  const rows = gate.checks.map(({ name, value, asked }) => {
    const holds = value <= budgets[name];
    return [
      name,
      String(round(value)),
      String(budgets[name]),
      String(asked),
      holds ? paint("green", "holds") : paint("red", "over budget"),
    ];
  });
  say();
  table(["gate", "value", "budget", "asked", ""], rows);
  const faults = gateFaults(gate, budgets);
  say(faults.length === 0 ? paint("green", "The gate holds.") : paint("red", `The gate does not hold: ${faults.join("; ")}`));
}

function round(value: number): number {
  return Number(value.toFixed(DIGITS));
}

function describeDefault({ tool, parameter, value, corrected, held }: LearnedDefault): string {
  if (isAspect(parameter)) return aspectText({ tool, parameter, value });
  if (held === false) return `${tool}: ${parameter} is held to none any more, another was supplied`;
  return `${tool}: ${parameter} is ${value}${corrected === null ? "" : `, no longer ${corrected}`}`;
}
