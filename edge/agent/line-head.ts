/** What is read of a line's state: the head that requests and trainers go by, and the files that no version of it needs any more. */
import type { Agent } from "../../shared/agent.ts";
import { invariant } from "../../shared/assert.ts";
import type { LineHead, ServedDefault, ServedPolicy } from "../../shared/policy.ts";
import { artifactKey } from "../artifacts.ts";
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
  const served = (version: number): ServedPolicy => {
    const found = lines.version(line, version);
    const { policyDigest: digest, baseDigest: base } = found;
    const defaults = defaultsOf(store, line, version);
    return { version, policyDigest: digest, baseDigest: base, adapter: found.adapter, onEngine: store.engines.isBase(base), defaults };
  };
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
    canary: canary === null ? null : { ...served(canary.version), share: canary.share },
    rolledBack: store.versionsThatAre(line, "rolledBack", "deleted"),
    rebuild: rebuild === undefined ? null : { from: rebuild.from, adapter: lines.version(line, rebuild.from).adapter },
    reopened: store.quarantine.reopened(line, 1).length > 0,
    notesEpoch: store.notes.any(line) ? lines.notesEpoch : null,
    settings: agent.settings,
  };
}

/** What a version has learned with all that it descends from, newest first. A version that is gone is not asked, but the nearest before it. */
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
    const before = store.readVersion(of, Math.max(...standing));
    invariant(before !== undefined, `line ${of} begins with a base, which nothing takes back`);
    return { ...each, before: { line: of, version: before.version, policyDigest: before.policyDigest, adapter: before.adapter } };
  });
}

/** Storage keys of the adapters of deleted versions, unless another version of the line is made of the same bytes. */
export function lostFiles(store: AgentStore, line: string): string[] {
  const deleted = new Set(store.versionsThatAre(line, "deleted"));
  if (deleted.size === 0) return [];
  const versions = store.allVersions(line);
  const filesOf = (of: boolean): string[] =>
    versions.flatMap(({ version, adapter }) => (deleted.has(version) === of && adapter !== null ? [adapter.weightsDigest] : []));
  const kept = new Set(filesOf(false));
  return [...new Set(filesOf(true))].filter((digest) => !kept.has(digest)).map(artifactKey);
}
