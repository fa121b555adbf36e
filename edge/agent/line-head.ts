/** What is read of a line's state: the head that requests and trainers go by. */
import { invariant } from "../../shared/assert.ts";
import type { Agent } from "../../shared/agent.ts";
import { type KeptDefaults, SHARED_LINE, type LineHead, type ServedPolicy, type VersionFiles } from "../../shared/policy.ts";
import type { Lineage } from "./lineage.ts";
import type { Lines } from "./lines.ts";
import { tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

type Parts = { readonly store: AgentStore; readonly lines: Lines; readonly lineage: Lineage };
type At = { readonly agent: Agent; readonly line: string; readonly state: ReturnType<Lines["state"]> };

/** The line must exist. */
export function lineHead({ store, lines, lineage }: Parts, { agent, line, state }: At): Omit<LineHead, "engineBase"> {
  const { policyDigest, baseDigest, adapter } = lines.version(line, state.stable);
  const { stable, latest, cursor, revision, canary } = state;
  const parent = tipOf(state);
  const rebuild = lineage.rebuildOf(line);
  const before = rebuild?.from ?? parent;
  return {
    agent: agent.name,
    line,
    ...{ stable, latest, cursor, revision, parent },
    onEngine: store.engines.isBase(baseDigest),
    ...keptOf(store, line, stable),
    stablePolicyDigest: policyDigest,
    baseDigest,
    adapter,
    parentAdapter: lines.version(line, parent).adapter,
    parentKept: before === stable ? null : keptOf(store, line, before),
    over: overOf({ store, lines }, line, parent),
    canary: canary === null ? null : { ...servedPolicy({ store }, line, canary.version), share: canary.share },
    rolledBack: store.versionsThatAre(line, "rolledBack", "deleted"),
    rebuild: rebuild === undefined ? null : { from: rebuild.from, adapter: lines.version(line, rebuild.from).adapter },
    reopened: store.quarantine.reopened(line, 1).length > 0,
    notesEpoch: store.notes.any(line) ? lines.notesEpoch : null,
    settings: agent.settings,
  };
}

/** A version as it answers. */
export function servedPolicy({ store }: Pick<Parts, "store">, line: string, version: number): ServedPolicy {
  const served = store.readServed(line, version);
  invariant(served !== undefined, `line ${line} has version ${version}`);
  return { ...served, onEngine: store.engines.isBase(served.baseDigest), ...keptOf(store, line, version) };
}

function overOf({ store, lines }: Pick<Parts, "store" | "lines">, line: string, parent: number): LineHead["over"] {
  if (line === SHARED_LINE) return null;
  const { stable: version } = lines.state(SHARED_LINE);
  const parentOver = store.stands.overOf(line, parent) ?? null;
  const kept = parentOver === version ? null : keptOf(store, SHARED_LINE, version);
  return { version, adapter: lines.version(SHARED_LINE, version).adapter, parentOver, kept };
}

/**
 * What a version has learned, and who answers beside it. Of the version before a default that is gone the nearest before it is asked; for one that is gone
 * and answered for tools the version itself answers.
 */
export function keptOf(store: AgentStore, line: string, version: number): KeptDefaults {
  const known = new Map<string, ReadonlySet<number>>();
  const goneOf = (of: string): ReadonlySet<number> => {
    const gone = known.get(of) ?? new Set(store.versionsThatAre(of, "refused", "rolledBack", "deleted"));
    known.set(of, gone);
    return gone;
  };
  const isGone = (each: VersionFiles): boolean => goneOf(each.line).has(each.version);
  const filesOf = (of: string, number: number): VersionFiles => {
    const served = store.readServed(of, number);
    invariant(served !== undefined, `line ${of} has version ${number}`);
    return { line: of, version: number, policyDigest: served.policyDigest, adapter: served.adapter };
  };
  const nearest = (each: VersionFiles): VersionFiles => {
    if (!isGone(each)) return each;
    // A line begins with a base, which nothing takes back.
    const standing = [...store.readAncestry(each.line, each.version)].filter((number) => !goneOf(each.line).has(number));
    return filesOf(each.line, Math.max(...standing));
  };
  const { defaults, answering } = store.defaults.read(line, version);
  return {
    defaults: defaults.map((each) => ({ ...each, before: nearest(each.before) })),
    answering:
      answering === null || isGone(answering.outside)
        ? null
        : { ...answering, tools: answering.tools.map(({ tool, by }) => ({ tool, by: isGone(by) ? filesOf(line, version) : by })) },
  };
}
