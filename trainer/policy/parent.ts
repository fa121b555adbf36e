/** Loads the adapter that a version is made of, on the base that both sides hold. */
import { AppError } from "../../shared/errors.ts";
import { BaseManifest, type LineHead } from "../../shared/policy.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import { readAdapterFiles, type AdapterTensors } from "./adapter.ts";
import { checkSameBase, type Base } from "./base.ts";

type Head = Pick<LineHead, "adapter" | "baseDigest">;

/**
 * The base is compared once per digest, whoever asks meanwhile and whatever comes of it, and the adapter that was loaded last is kept: an update and its gate
 * begin from the same one. Null stands for the bare base.
 * @throws {policy/digest} when the edge serves another base
 */
export function createParentLoader(
  edge: Pick<EdgePort, "getFile">,
  { base, folder }: { base: Pick<Base, "config">; folder: string },
): (head: Head) => Promise<AdapterTensors | null> {
  /** What is wrong with the folder as the base of a digest, undefined where nothing is. */
  const compared = new Map<string, Promise<AppError | undefined>>();
  const faultOf = (digest: string): Promise<AppError | undefined> => {
    const known = compared.get(digest);
    if (known !== undefined) return known;
    const fault = readBaseManifest(edge, digest).then((manifest) => baseFault(folder, manifest));
    compared.set(digest, fault);
    // An edge that was away has said nothing of its base.
    fault.catch(() => compared.delete(digest));
    return fault;
  };
  let last: { readonly of: string; readonly tensors: AdapterTensors | null } | undefined;
  return async ({ adapter, baseDigest }) => {
    const fault = await faultOf(baseDigest);
    if (fault !== undefined) throw fault;
    if (adapter === null) return null;
    const of = `${adapter.configDigest} ${adapter.weightsDigest}`;
    if (last?.of !== of) last = { of, tensors: await loadAdapterFiles(edge, base, adapter) };
    return last.tensors;
  };
}

async function baseFault(folder: string, manifest: BaseManifest): Promise<AppError | undefined> {
  try {
    await checkSameBase(folder, manifest);
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === "policy/digest") return error;
    throw error;
  }
}

/** An adapter's tensors from the edge; null for the bare base. */
export async function loadAdapterFiles(
  edge: Pick<EdgePort, "getFile">,
  { config }: Pick<Base, "config">,
  adapter: Head["adapter"],
): Promise<AdapterTensors | null> {
  if (adapter === null) return null;
  const [configBytes, weightBytes] = await Promise.all([edge.getFile(adapter.configDigest), edge.getFile(adapter.weightsDigest)]);
  return readAdapterFiles(config, { configBytes, weightBytes });
}

/**
 * Holds a folder that somebody named against an agent's base. One that its engine knows by name can be compared with nothing:
 * then its name is returned, for people to see.
 * @throws {policy/digest} naming the file that differs
 */
export async function compareBase(
  edge: Pick<EdgePort, "getFile">,
  { folder, baseDigest, weights = true }: { folder: string; baseDigest: string; weights?: boolean },
): Promise<string | undefined> {
  const manifest = await readBaseManifest(edge, baseDigest);
  if (Object.keys(manifest.files).length === 0) return manifest.name;
  await checkSameBase(folder, manifest, { weights });
  return undefined;
}

export async function readBaseManifest(edge: Pick<EdgePort, "getFile">, digest: string): Promise<BaseManifest> {
  return BaseManifest.parse(JSON.parse(new TextDecoder().decode(await edge.getFile(digest))));
}

/** Whether a trainer has the base that a head is of; another trainer may. @param load the trainer's own loader */
export async function hasBase(load: (head: Head) => Promise<unknown>, { baseDigest }: Pick<Head, "baseDigest">): Promise<boolean> {
  try {
    await load({ baseDigest, adapter: null });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "policy/digest") return false;
    throw error;
  }
}
