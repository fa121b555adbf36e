/** The files of a checkpoint in parts, each under its own digest: what an upload that broke off has stored need not be sent again. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { PART_BYTES, type BaseManifest } from "../../shared/policy.ts";
import { readCheckpoint } from "../model/checkpoint.ts";
import { WeightFiles } from "../model/weight-files.ts";

const INDEX = "model.safetensors.index.json";
const READ_ALWAYS = ["config.json", "tokenizer.json", "tokenizer_config.json"];
const READ_WHERE_THERE = ["generation_config.json", "chat_template.jinja"];

/** A part as it lies on disk. */
export type Part = { readonly digest: string; readonly path: string; readonly start: number; readonly bytes: number };

export type PartedBase = { readonly manifest: BaseManifest; readonly parts: readonly Part[]; readonly bytes: number };

/**
 * Whether the folder is one that trainers can read, and which of its files they read.
 * @param options.weights false: what reads and writes its tokens alone
 * @throws {policy/refused} naming what is wrong or missing
 */
export function checkpointFiles(folder: string, { weights = true } = {}): string[] {
  readCheckpoint(folder);
  const files = [...READ_ALWAYS, ...READ_WHERE_THERE.filter((name) => existsSync(join(folder, name)))];
  return weights ? [...files, ...weightFiles(folder)] : files;
}

function weightFiles(folder: string): string[] {
  const weights = WeightFiles.open(folder);
  weights.close();
  const shards = [...new Set([...weights.tensors.values()].map(({ fileName }) => fileName))].toSorted();
  return shards.length === 1 && shards[0] === "model.safetensors" ? shards : [INDEX, ...shards];
}

/** Reads every file once, a part at a time. @param onRead told of bytes read, of how many */
export function splitBase(
  folder: string,
  { name = basename(resolve(folder)), onRead }: { name?: string | undefined; onRead: (read: number, of: number) => void },
): PartedBase {
  const paths = checkpointFiles(folder).map((file) => ({ file, path: join(folder, file) }));
  const of = paths.reduce((sum, { path }) => sum + sizeOf(path), 0);
  const files: Record<string, string> = {};
  const named: Record<string, string[]> = {};
  const all: Part[] = [];
  let read = 0;
  for (const { file, path } of paths) {
    const { digest, parts } = splitFile(path, (bytes) => onRead((read += bytes), of));
    files[file] = digest;
    if (parts.length > 1) named[digest] = parts.map((part) => part.digest);
    all.push(...parts);
  }
  return { manifest: { name, files, ...(Object.keys(named).length > 0 && { parts: named }) }, parts: all, bytes: of };
}

/** The bytes of a part. @throws {policy/digest} where the file has changed since it was split */
export function readPart({ digest, path, start, bytes }: Part): Uint8Array<ArrayBuffer> {
  const content = new Uint8Array(bytes);
  const file = openSync(path, "r");
  try {
    readFully(file, content, start);
  } finally {
    closeSync(file);
  }
  const got = createHash("sha256").update(content).digest("hex");
  if (got !== digest)
    throw new AppError("policy/digest", `${path}: bytes of digest ${digest} at ${start} expected, got ${got}; it changes while it is sent`);
  return content;
}

function splitFile(path: string, onRead: (bytes: number) => void): { digest: string; parts: Part[] } {
  const bytes = sizeOf(path);
  const whole = createHash("sha256");
  const parts: Part[] = [];
  const buffer = new Uint8Array(PART_BYTES);
  const file = openSync(path, "r");
  try {
    for (let start = 0; start === 0 || start < bytes; start += PART_BYTES) {
      const part = buffer.subarray(0, Math.min(PART_BYTES, bytes - start));
      readFully(file, part, start);
      whole.update(part);
      parts.push({ digest: createHash("sha256").update(part).digest("hex"), path, start, bytes: part.length });
      onRead(part.length);
    }
  } finally {
    closeSync(file);
  }
  return { digest: whole.digest("hex"), parts };
}

function readFully(file: number, target: Uint8Array, start: number): void {
  for (let filled = 0; filled < target.length;) {
    const read = readSync(file, target, filled, target.length - filled, start + filled);
    if (read === 0) throw new AppError("policy/digest", `a file that keeps its length expected, got its end at ${start + filled}`);
    filled += read;
  }
}

function sizeOf(path: string): number {
  const file = openSync(path, "r");
  try {
    return fstatSync(file).size;
  } finally {
    closeSync(file);
  }
}
