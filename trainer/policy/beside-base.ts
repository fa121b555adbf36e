/** Files of the trainer's that may lie beside a base. A base that came from the edge has none with it: it is served the shipped ones if it is the shipped base. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Base } from "./base.ts";

const BASE_WEIGHTS = "model.safetensors";
const SHIPPED = fileURLToPath(new URL("../../base", import.meta.url));

/** The bytes of the files by these names, in their order; undefined where the base does not have all of them. */
export function readBesideBase<Names extends readonly string[]>(
  { folder }: Pick<Base, "folder">,
  names: Names,
): { [index in keyof Names]: Uint8Array<ArrayBuffer> } | undefined {
  const owner = ownerOf(folder, names);
  if (owner === undefined) return undefined;
  return names.map((name) => new Uint8Array(readFileSync(join(owner, name)))) as { [index in keyof Names]: Uint8Array<ArrayBuffer> };
}

/** Whether the base has all files by these names. */
export function isBesideBase({ folder }: Pick<Base, "folder">, names: readonly string[]): boolean {
  return ownerOf(folder, names) !== undefined;
}

/** The folder that has them. */
function ownerOf(folder: string, names: readonly string[]): string | undefined {
  const has = (owner: string): boolean => names.every((name) => existsSync(join(owner, name)));
  if (has(folder)) return folder;
  return has(SHIPPED) && isShipped(folder) ? SHIPPED : undefined;
}

function isShipped(folder: string): boolean {
  const [own, shipped] = [folder, SHIPPED].map((each) => join(each, BASE_WEIGHTS)) as [string, string];
  if (!existsSync(own) || !existsSync(shipped)) return false;
  // A checkpoint of gigabytes is another one, and too large to read whole.
  if (statSync(own).size !== statSync(shipped).size) return false;
  const digest = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");
  return digest(own) === digest(shipped);
}
