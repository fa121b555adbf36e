/**
 * Whether what a version answers with is stored: its base, its adapter, and the adapters of those that answer beside it. Looked at before traffic
 * goes to it, since storage may have lost files that were there when it was published; and told of what answers already.
 */
import type { Release } from "../../shared/api.ts";
import { BaseManifest, type PolicyVersion } from "../../shared/policy.ts";
import { getArtifact, storedFault } from "../artifacts.ts";
import type { Env } from "../env.ts";
import { checkAdapter } from "./adapter-check.ts";
import { keptOf } from "./line-head.ts";
import type { AgentStore } from "./store.ts";

/** How long what was found of versions that answer is told again: storage is asked for every file. */
const TOLD_MS = 60_000;
/** A request may ask R2 50 times on every plan; what many versions answer beside is noticed when it is asked. */
const MOST_ASKED = 40;

type Parts = { readonly env: Pick<Env, "ARTIFACTS">; readonly store: AgentStore };
type Named = { readonly file: string; readonly digest: string };
type Told = { readonly key: string; readonly at: number; readonly faults: string[] };

export class StoredFiles {
  readonly #parts: Parts;
  #told: Told | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The first thing that one of the versions lacks or has otherwise, in words; undefined where each could answer, may not, or does not exist. */
  async fault(line: string, versions: readonly number[]): Promise<string | undefined> {
    const { env, store } = this.#parts;
    for (const version of versions) {
      const found = store.readListed(line, version);
      // Those that may not answer at all are refused for that.
      if (found === undefined || found.status === "refused" || found.status === "deleted") continue;
      const lost = await this.#lost(found);
      if (lost !== undefined) return lost;
      const check = await checkAdapter(env.ARTIFACTS, found, store.engines.isBase(found.baseDigest));
      if (check.status === "refused") return `version ${version}: ${check.reason}`;
    }
    return undefined;
  }

  /** A release with what its versions lack. */
  async told(line: string, release: Omit<Release, "faults"> | undefined): Promise<Release | undefined> {
    if (release === undefined) return undefined;
    const { stable, canary } = release;
    return { ...release, faults: await this.#faults(line, canary === null ? [stable] : [stable, canary.version]) };
  }

  /** Of each of the versions the first file that is not as it was stored; looked at once in a while. */
  async #faults(line: string, versions: readonly number[]): Promise<string[]> {
    const key = JSON.stringify([line, ...versions]);
    if (this.#told?.key === key && Date.now() - this.#told.at < TOLD_MS) return this.#told.faults;
    const found = versions.flatMap((version) => this.#parts.store.readVersion(line, version) ?? []);
    const faults = (await Promise.all(found.map((each) => this.#lost(each)))).flatMap((lost) => lost ?? []);
    this.#told = { key, at: Date.now(), faults };
    return faults;
  }

  async #lost(version: PolicyVersion): Promise<string | undefined> {
    const { env, store } = this.#parts;
    const named = [...filesOf(version.adapter, ""), ...this.#filesBeside(version)];
    const base = store.engines.isBase(version.baseDigest) ? [] : await filesOfBase(env.ARTIFACTS, version.baseDigest);
    const files = [...new Map([...base, ...named].map((each) => [each.digest, each])).values()];
    for (const { file, digest } of files.slice(0, MOST_ASKED)) {
      const fault = await storedFault(env.ARTIFACTS, digest);
      if (fault !== undefined)
        return `version ${version.version}: ${file} as it was stored expected under ${digest}, got ${fault}; PUT /trainer/v1/files/${digest} with a trainer key stores it again`;
    }
    return undefined;
  }

  #filesBeside({ line, version }: PolicyVersion): Named[] {
    const { defaults, answering } = keptOf(this.#parts.store, line, version);
    const beside = [...defaults.map(({ before }) => before), ...(answering === null ? [] : [answering.outside])];
    return [...beside, ...(answering?.tools ?? []).map(({ by }) => by)].flatMap((each) =>
      filesOf(each.adapter, ` of version ${each.version}, which answers beside it,`),
    );
  }
}

function filesOf(adapter: PolicyVersion["adapter"], of: string): Named[] {
  if (adapter === null) return [];
  return [
    { file: `adapter_config.json${of}`, digest: adapter.configDigest },
    { file: `adapter_model.safetensors${of}`, digest: adapter.weightsDigest },
  ];
}

/** Those that the embedded policy reads; the manifest alone where it cannot be read. */
async function filesOfBase(bucket: R2Bucket, digest: string): Promise<Named[]> {
  const manifest = { file: "the base's manifest", digest };
  if ((await storedFault(bucket, digest)) !== undefined) return [manifest];
  const bytes = await getArtifact(bucket, digest);
  const { files } = BaseManifest.parse(JSON.parse(new TextDecoder().decode(bytes)));
  return [manifest, ...Object.entries(files).map(([name, each]) => ({ file: `the base's ${name}`, digest: each }))];
}
