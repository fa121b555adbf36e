/** The name under which PEFT, and whoever serves the adapter, finds the base. */
import { basename, dirname, resolve } from "node:path";

/** Hugging Face's cache keeps `<organisation>/<model>` as models--<organisation>--<model>/snapshots/<commit>. */
const CACHED = /^models--([^/]+?)--([^/]+)$/;

/** The model's name on the hub where the folder is one of Hugging Face's cache, else the folder's own name. */
export function baseNameOf(folder: string): string {
  const path = resolve(folder);
  const snapshots = dirname(path);
  const [, organisation, model] = (basename(snapshots) === "snapshots" && CACHED.exec(basename(dirname(snapshots)))) || [];
  return organisation === undefined || model === undefined ? basename(path) : `${organisation}/${model}`;
}
