/** Brings the base that the edge serves onto this machine, so that a trainer needs a URL and a key and nothing else. */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { BaseManifest } from "../../shared/policy.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { WEIGHTS } from "./base.ts";

const ABANDONED_MS = 24 * 3_600_000;
/** Neither a path nor hidden. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * The folder of the base in `folder`, under its digest and its own name; what is there already is not fetched again.
 * @param options.weights false: what reads and writes its tokens, without its weights
 * @throws {policy/digest} where the edge gives other bytes than the digest says; {policy/refused} naming a file name that leads elsewhere
 */
export async function fetchBase(
  edge: Pick<EdgePort, "getFile">,
  { digest, folder, weights = true }: { digest: string; folder: string; weights?: boolean },
): Promise<string> {
  const { name, files, parts = {} } = BaseManifest.parse(JSON.parse(new TextDecoder().decode(await edge.getFile(digest))));
  for (const each of [name, ...Object.keys(files)])
    if (!FILE_NAME.test(each))
      throw new AppError("policy/refused", `base ${digest}: plain file names expected, got ${JSON.stringify(each)}`);
  if (files["config.json"] === undefined)
    throw new AppError(
      "policy/refused",
      `base ${digest}: one with files expected, got ${name}, which its engine knows by name; give its folder with --base`,
    );
  const place = join(folder, digest, weights ? name : `${name}-tokens`);
  if (existsSync(place)) return place;
  // Its name is the last thing that it gets: a folder that has one is whole.
  const unfinished = join(folder, digest, `.${name}-${process.pid}`);
  sweep(join(folder, digest), name);
  // A process of the same number may have been killed over it, as the first one of a container is.
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  try {
    for (const [file, fileDigest] of Object.entries(files))
      if (weights || !WEIGHTS.test(file)) await fetchFile(edge, join(unfinished, file), { digest: fileDigest, parts: parts[fileDigest] });
    putInPlace(unfinished, place);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return place;
}

/** Another trainer on the same folder may have been as quick, with the same bytes. */
function putInPlace(unfinished: string, place: string): void {
  try {
    renameSync(unfinished, place);
  } catch (error) {
    if (!existsSync(place)) throw error;
  }
}

/** Removes what killed processes left behind; what is younger than a day may be under way. */
function sweep(folder: string, name: string): void {
  if (!existsSync(folder)) return;
  for (const each of readdirSync(folder)) {
    const path = join(folder, each);
    if (each.startsWith(`.${name}-`) && Date.now() - statSync(path).mtimeMs > ABANDONED_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** A part at a time, so that no file is ever whole in memory. @throws {policy/digest} where the parts are not the file */
async function fetchFile(
  edge: Pick<EdgePort, "getFile">,
  path: string,
  { digest, parts = [digest] }: { digest: string; parts?: readonly string[] | undefined },
): Promise<void> {
  const file = openSync(path, "wx");
  const hash = createHash("sha256");
  try {
    for (const part of parts) {
      const bytes = await edge.getFile(part);
      hash.update(bytes);
      writeFileSync(file, bytes); // whole: writeSync may write less
    }
  } finally {
    closeSync(file);
  }
  const got = hash.digest("hex");
  if (got !== digest) throw new AppError("policy/digest", `${path}: parts of a file of digest ${digest} expected, got ${got}`);
}
