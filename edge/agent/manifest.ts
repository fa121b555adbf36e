/** What a manifest must say before its version can exist. */
import { sha256 } from "../../shared/digest.ts";
import {
  policyDigestInput,
  SHARED_LINE,
  type AdapterFiles,
  type PolicyManifest,
  type PolicyVersion,
  UNTRAINED,
} from "../../shared/policy.ts";

/** Whether an event was let in again. */
type IsReopened = (eventId: string) => boolean;
type Expected = { agent: string; line: string; parent: number; baseDigest: string };

/** The first thing wrong with a manifest, or undefined. Whether its events are still open is for the line to say. */
export function manifestFault(manifest: PolicyManifest, expected: Expected, isReopened: IsReopened = () => false): string | undefined {
  for (const member of ["agent", "line", "parent", "baseDigest"] as const)
    if (manifest[member] !== expected[member]) return `manifest.${member}: ${expected[member]} expected, got ${manifest[member]}`;
  const personal = manifest.line !== SHARED_LINE;
  if (personal !== (manifest.over !== null))
    return `manifest.over: ${personal ? "a version of the shared line" : "null on the shared line"} expected, got ${manifest.over}`;
  const foreign = personal ? manifest.events.find(({ user }) => user !== manifest.line) : undefined;
  if (foreign !== undefined)
    return `manifest.events: events of user ${manifest.line} alone expected, got one of ${foreign.user} (${foreign.eventId})`;
  return eventsFault(manifest, isReopened);
}

/** An event is consumed by the update whose range it lies in; one of before, or one that other lines have learned, may have been opened again. */
function eventsFault({ events, toSeq }: PolicyManifest, isReopened: IsReopened): string | undefined {
  const seen = new Set<string>();
  for (const { eventId, seq } of events) {
    if (seq > toSeq && !isReopened(eventId)) return `manifest.events: seq up to ${toSeq} expected, got ${seq} (${eventId})`;
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
