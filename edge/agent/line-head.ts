/** What is read of a line's state: the head that requests and trainers go by. */
import { invariant } from "../../shared/assert.ts";
import type { Agent } from "../../shared/agent.ts";
import { SHARED_LINE, type LineHead, type ServedDefault, type ServedPolicy } from "../../shared/policy.ts";
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
    defaults: defaultsOf(store, line, stable),
    stablePolicyDigest: policyDigest,
    baseDigest,
    adapter,
    parentAdapter: lines.version(line, parent).adapter,
    parentDefaults: before === stable ? null : defaultsOf(store, line, before),
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
  return { ...served, onEngine: store.engines.isBase(served.baseDigest), defaults: defaultsOf(store, line, version) };
}

function overOf({ store, lines }: Pick<Parts, "store" | "lines">, line: string, parent: number): LineHead["over"] {
  if (line === SHARED_LINE) return null;
  const { stable: version } = lines.state(SHARED_LINE);
  return { version, adapter: lines.version(SHARED_LINE, version).adapter, parentOver: store.stands.overOf(line, parent) ?? null };
}

/**
 * What a version has learned with all that it descends from, newest first; on a personal line, with what it was learned over. A version
 * that is gone is not asked, but the nearest before it.
 */
export function defaultsOf(store: AgentStore, line: string, version: number): ServedDefault[] {
  const known = new Map<string, ReadonlySet<number>>();
  const goneOf = (of: string): ReadonlySet<number> => {
    const gone = known.get(of) ?? new Set(store.versionsThatAre(of, "refused", "rolledBack", "deleted"));
    known.set(of, gone);
    return gone;
  };
  return store.defaults.read(line, version).map((each) => {
    const { line: of, version: learnedOver } = each.before;
    const gone = goneOf(of);
    if (!gone.has(learnedOver)) return each;
    const standing = [...store.readAncestry(of, learnedOver)].filter((number) => !gone.has(number));
    const before = store.readServed(of, Math.max(...standing));
    invariant(before !== undefined, `line ${of} begins with a base, which nothing takes back`);
    return { ...each, before: { line: of, version: before.version, policyDigest: before.policyDigest, adapter: before.adapter } };
  });
}
