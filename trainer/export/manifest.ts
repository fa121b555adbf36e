/** What an export says of itself, beside its rows: what it was made from, and what its adapter will be published with. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { AdapterFiles, Digest, EventLineage, MOST_LEARNED_CASES, RefusedEvent, Version } from "../../shared/policy.ts";
import { LearnedCase } from "../../shared/suite.ts";

export const EXPORT_FORMATS = ["verl", "slime", "tinker"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Of an export's folder. */
export const MANIFEST_FILE = "export.json";

const count = z.number().int().min(0);

export const ExportManifest = z.object({
  kind: z.literal("nextstate-export/1"),
  format: z.enum(EXPORT_FORMATS),
  agent: z.string(),
  line: z.string(),
  /** What the adapter that comes back must descend from, and be trained on from. */
  parent: Version,
  parentAdapter: AdapterFiles.nullable(),
  /** Where the service that trained on it keeps what it goes on from. */
  state: z.string().max(500).optional(),
  baseDigest: Digest,
  baseName: z.string(),
  fromSeq: z.number().int(),
  toSeq: z.number().int(),
  /** `rewards`: by reward alone; `hybrid`: as an update of our own credits them, under the teacher. */
  advantages: z.enum(["rewards", "hybrid"]),
  /** That corrections' rewards were counted from. */
  baseline: z.number(),
  seed: z.number().int(),
  /** Those with a row at least. */
  events: z.array(EventLineage).min(1),
  hints: z.array(z.string()),
  refused: z.array(RefusedEvent),
  cases: z.array(LearnedCase).max(MOST_LEARNED_CASES),
  counts: z.object({
    rows: count,
    tokens: count,
    trainedTokens: count,
    corrections: count,
    answers: count,
    rewards: count,
    withoutLogProbs: count,
    refused: z.record(z.string(), count),
  }),
  /** SHA-256 of each file beside it. */
  files: z.record(z.string(), Digest),
});
export type ExportManifest = z.infer<typeof ExportManifest>;

/** What a version that came of it names. */
export function exportDigest(manifest: ExportManifest): Promise<string> {
  return sha256(canonicalJson(manifest));
}

/** @param path of an export's folder, or of the manifest in it @throws {input/invalid} naming what is wrong with it */
export function readExport(path: string): ExportManifest {
  try {
    const file = statSync(path).isDirectory() ? join(path, MANIFEST_FILE) : path;
    return ExportManifest.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (cause) {
    const got = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new AppError("input/invalid", `--from: the folder of an export, or its ${MANIFEST_FILE}, expected, got ${path}: ${got}`, {
      cause,
    });
  }
}
