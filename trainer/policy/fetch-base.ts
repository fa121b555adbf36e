/** Brings the base that the edge serves onto this machine, so that a trainer needs a URL and a key and nothing else. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { BaseManifest } from "../../shared/policy.ts";
import type { EdgePort } from "../feed/edge-port.ts";

/** Neither a path nor hidden. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * The folder of the base in `folder`, under its digest and its own name; what is there already is not fetched again.
 * @throws {policy/digest} where the edge gives other bytes than the digest says; {policy/refused} naming a file name that leads elsewhere
 */
export async function fetchBase(edge: Pick<EdgePort, "getFile">, { digest, folder }: { digest: string; folder: string }): Promise<string> {
  const { name, files } = BaseManifest.parse(JSON.parse(new TextDecoder().decode(await edge.getFile(digest))));
  for (const each of [name, ...Object.keys(files)])
    if (!FILE_NAME.test(each))
      throw new AppError("policy/refused", `base ${digest}: plain file names expected, got ${JSON.stringify(each)}`);
  const place = join(folder, digest, name);
  if (existsSync(place)) return place;
  // Its name is the last thing that it gets: a folder that has one is whole.
  const unfinished = join(folder, digest, `.${name}-${process.pid}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    for (const [file, fileDigest] of Object.entries(files)) writeFileSync(join(unfinished, file), await edge.getFile(fileDigest));
    renameSync(unfinished, place);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return place;
}
