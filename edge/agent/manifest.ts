/** What a manifest must say before its version can exist. */
import { sha256 } from "../../shared/digest.ts";
import { policyDigestInput, type AdapterFiles, type PolicyManifest, type PolicyVersion, UNTRAINED } from "../../shared/policy.ts";

type Expected = { agent: string; line: string; parent: number; baseDigest: string };

/** The first thing wrong with a manifest, or undefined. Whether its events are still open is for the line to say. */
export function manifestFault(manifest: PolicyManifest, expected: Expected): string | undefined {
  for (const member of ["agent", "line", "parent", "baseDigest"] as const)
    if (manifest[member] !== expected[member]) return `manifest.${member}: ${expected[member]} expected, got ${manifest[member]}`;
  return eventsFault(manifest);
}

/** An event is consumed by the update whose range it lies in; one of before may have been opened again. */
function eventsFault({ events, toSeq }: PolicyManifest): string | undefined {
  const seen = new Set<string>();
  for (const { eventId, seq } of events) {
    if (seq > toSeq) return `manifest.events: seq up to ${toSeq} expected, got ${seq} (${eventId})`;
    if (seen.has(eventId)) return `manifest.events: each event once expected, got ${eventId} twice`;
    seen.add(eventId);
  }
  return undefined;
}

export async function policyDigestOf(baseDigest: string, adapter: AdapterFiles | null): Promise<string> {
  return adapter === null ? baseDigest : sha256(policyDigestInput(baseDigest, adapter));
}

/** A version that is a bare base and begins a lineage: 0, or the first on the base of another engine. It is its own parent. */
export function baseVersion({
  agent,
  line,
  baseDigest,
  createdAt,
  version = 0,
  seq = 0,
}: {
  agent: string;
  line: string;
  baseDigest: string;
  createdAt: string;
  version?: number;
  /** The line's cursor. */
  seq?: number;
}): PolicyVersion {
  return {
    agent,
    line,
    parent: version,
    baseDigest,
    adapter: null,
    fromSeq: seq,
    toSeq: seq,
    ...UNTRAINED,
    version,
    policyDigest: baseDigest,
    createdAt,
  };
}
