/**
 * Publishes a candidate: files first, then the manifest by compare-and-set on parent and cursor. The edge flips its
 * pointer only when it holds every file that the manifest names.
 */
import { MOST_CREDITS, TurnCredit } from "../../shared/credit.ts";
import { AppError } from "../../shared/errors.ts";
import {
  type AdapterFiles,
  MOST_LEARNED_CASES,
  MOST_PUBLISH_BYTES,
  type PolicyManifest,
  type PublishRequest,
} from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";
import { cutTo, MOST_HINT_CHARS, MOST_ROW_BYTES, MOST_SAMPLE_CHARS } from "../../shared/wire-limits.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { retryFor, type RetryOptions } from "../feed/retry.ts";
import type { AdapterBytes } from "./adapter.ts";

export type Published =
  | { readonly status: "published"; readonly version: number; readonly release: VersionStatus }
  | { readonly status: "stale" };

/** The rest of a request is the manifest's. */
const MOST_CASE_BYTES = MOST_PUBLISH_BYTES / 2;
const MOST_CREDIT_BYTES = MOST_PUBLISH_BYTES / 8;
const MOST_CHANGES = 100;
const MOST_CHANGE_BYTES = MOST_ROW_BYTES / 4;
const REJECTED = new Set([400, 413, 422]); // statuses
const UPLOAD_ATTEMPTS = 2; // a file that vanished between upload and publish is sent once more
const PATIENCE_MS = 60_000; // an edge that restarts or is deployed is back by then

/** What publishing asks of the edge. */
type Publishing = Pick<EdgePort, "putFile" | "publish">;

/**
 * The edge for a publisher that has minutes of training to lose: what another attempt may cure is tried again for a while. Files are named by
 * their digests, and an edge that has made the version of a call whose answer was lost says so to the next one, so both may be sent twice.
 */
export function patiently(edge: EdgePort, retry: RetryOptions): Publishing {
  return {
    putFile: (bytes) => retryFor(PATIENCE_MS, () => edge.putFile(bytes), retry),
    publish: (line, request) => retryFor(PATIENCE_MS, () => edge.publish(line, request), retry),
  };
}

export async function uploadAdapter(
  edge: Pick<EdgePort, "putFile">,
  { configBytes, weightBytes, rank, alpha }: AdapterBytes,
): Promise<AdapterFiles> {
  const [configDigest, weightsDigest] = await Promise.all([edge.putFile(configBytes), edge.putFile(weightBytes)]);
  return { configDigest, weightsDigest, rank, alpha };
}

/** @throws {policy/refused} when the edge still misses files that it was sent. */
export async function publishVersion(
  edge: Publishing,
  adapter: AdapterBytes,
  {
    manifest,
    cases,
    credits = [],
    ...handed
  }: Pick<PublishRequest, "refused" | "cases" | "rebuild"> & {
    credits?: readonly TurnCredit[];
    manifest: Omit<PolicyManifest, "adapter">;
  },
): Promise<Published> {
  // What is for people to see, and what is for the next gate, costs no version its place.
  const told = credits.filter((credit) => TurnCredit.safeParse(credit).success);
  const added = {
    cases: lastWithin(cases, { most: MOST_LEARNED_CASES, bytes: MOST_CASE_BYTES }),
    credits: lastWithin(told, { most: MOST_CREDITS, bytes: MOST_CREDIT_BYTES }),
  };
  const shown = shownShort(manifest);
  let missing: readonly string[] = [];
  for (let attempt = 0; attempt < UPLOAD_ATTEMPTS; attempt += 1) {
    const files = await uploadAdapter(edge, adapter);
    const result = await edge.publish(manifest, {
      parent: manifest.parent,
      manifest: { ...shown, adapter: files },
      ...added,
      ...handed,
    });
    if (result.status !== "missing") return result.status === "published" ? result : { status: "stale" };
    missing = result.digests;
  }
  throw new AppError("policy/refused", `publish: the edge expected to hold the adapter's files, got ${missing.join(", ")} missing`);
}

/** Texts for people, as long as the edge takes them. */
function shownShort<Told extends Pick<PolicyManifest, "events" | "hints" | "changes">>(manifest: Told): Told {
  const short = (text: string): string => cutTo(MOST_SAMPLE_CHARS, text);
  return {
    ...manifest,
    events: manifest.events.map((event) => (event.hint === undefined ? event : { ...event, hint: cutTo(MOST_HINT_CHARS, event.hint) })),
    hints: manifest.hints.map((hint) => cutTo(MOST_HINT_CHARS, hint)),
    changes: lastWithin(
      manifest.changes.map(({ prompt, before, after }) => ({ prompt: short(prompt), before: short(before), after: short(after) })),
      { most: MOST_CHANGES, bytes: MOST_CHANGE_BYTES },
    ),
  };
}

/** An edge that has understood a version and will not have it; anything else is thrown on. */
export function rejectionOf(error: unknown): { status: "rejected"; detail: string } {
  if (error instanceof AppError && REJECTED.has(Number(error.details["status"]))) return { status: "rejected", detail: error.message };
  throw error;
}

/** The last entries that are no more, and as JSON no longer, than they may be. */
export function lastWithin<Entry>(entries: readonly Entry[], { most, bytes }: { most: number; bytes: number }): Entry[] {
  const kept: Entry[] = [];
  let left = bytes;
  for (const entry of entries.slice(-most).toReversed()) {
    left -= Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (left < 0) break;
    kept.push(entry);
  }
  return kept.toReversed();
}
