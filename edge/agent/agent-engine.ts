/**
 * An agent's engine: the base that it serves, and the adapters that it was made to load. A version's adapter is loaded before the version
 * exists and whenever a turn finds it gone, and unloaded once no version in use needs it and no turn has asked for it for a while. Open
 * conversations do not keep it, for most never come back: one that does has the version that began it loaded again, as has a user their own.
 */
import { EngineSettings, adapterName, capabilitiesOf, engineTitle, type RemoteEngine } from "../../shared/engine.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { adapterSizes, type Invocation } from "../../shared/lora.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import type { EngineState } from "../../shared/api.ts";
import { type AdapterFiles, BaseManifest, type ServedPolicy } from "../../shared/policy.ts";
import { getArtifact, putArtifact } from "../artifacts.ts";
import { createEngineAdapters } from "../engine/adapters.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import type { EngineStore, LoadedAdapter } from "./engine-store.ts";
import type { LoadResult } from "./port.ts";

/** Longer than any answer, and than isolates believe that an adapter is there. */
const IDLE_MS = 15 * 60_000;

/** In the audit trail. */
export const ENGINE_ACTOR = "edge:engine";

type LoadedPolicy = Pick<ServedPolicy, "version" | "policyDigest" | "adapter"> & { readonly line: string };

export class AgentEngine {
  readonly #env: Env;
  readonly #store: EngineStore;
  /** One at a time: two loads of one adapter, or a load and an unload, must not cross. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(env: Env, store: EngineStore) {
    this.#env = env;
    this.#store = store;
  }

  /** Whether a base is one that an engine serves, now or before. */
  isEngineBase(baseDigest: string): boolean {
    return this.#store.isBase(baseDigest);
  }

  /** The base of an engine's bare model, stored and known from now on; undefined for the embedded policy, whose bases are the versions' own. */
  async adoptBase(engine: EngineSettings): Promise<string | undefined> {
    const base = await engineBaseOf(engine);
    if (base === undefined) return undefined;
    if (base.content !== undefined) await putArtifact(this.#env.ARTIFACTS, base.digest, base.content);
    else await checkStored(this.#env.ARTIFACTS, base.digest);
    this.#store.create();
    this.#store.addBase(base.digest, engineTitle(engine));
    return base.digest;
  }

  /** Has the engine load a version's adapter; never throws. */
  async load(engine: EngineSettings, { line, version, policyDigest, adapter }: LoadedPolicy): Promise<LoadResult> {
    if (adapter === null || engine.kind === "embedded") return { status: "loaded" };
    return this.#inOrder(async () => {
      try {
        const invocation = await invocationOf(this.#env.ARTIFACTS, adapter);
        checkActivation(engine, invocation);
        await createEngineAdapters(this.#env, engine, this.#store).load({ policyDigest, adapter, invocation });
        this.#store.putAdapter({ name: adapterName(policyDigest), engine, line, version, policyDigest }, Date.now());
        return { status: "loaded" };
      } catch (thrown) {
        logError("adapter:unloaded", thrown, { line, version });
        return { status: "failed", error: toErrorRecord(thrown) };
      }
    });
  }

  /**
   * Unloads what nobody needs any more. What could not be unloaded stays listed with the reason, and is tried again.
   * @returns the failures that were not known before
   */
  async sweep(current: EngineSettings, needed: ReadonlySet<string>, now: number): Promise<string[]> {
    const failures: string[] = [];
    for (const adapter of this.#store.adapters().filter((each) => isOver(each, { current, needed, now, idleMs: this.#idleMs }))) {
      const failure = await this.#inOrder(() => this.#unload(adapter));
      if (failure !== undefined && failure !== adapter.failure) failures.push(`${adapter.name} could not be unloaded: ${failure}`);
    }
    return failures;
  }

  sweepAt(now: number): number | undefined {
    return this.#store.adapters().some(({ engine }) => capabilitiesOf(engine).unload) ? now + this.#idleMs : undefined;
  }

  /** What the agent's engine is, can and holds. What it does not answer is told as it is. */
  async state(engine: EngineSettings, needed: ReadonlySet<string>): Promise<EngineState> {
    const capabilities = capabilitiesOf(engine);
    const adapters = this.#store.adapters().map(({ policyDigest, engine: at, loadedAt, usedAt, ...rest }) => ({
      ...rest,
      engine: engineTitle(at),
      needed: needed.has(policyDigest),
      loadedAt: new Date(loadedAt).toISOString(),
      usedAt: new Date(usedAt).toISOString(),
    }));
    if (engine.kind === "embedded") return { engine, capabilities, adapters, listed: [], slotsLeft: null, error: null };
    try {
      const there = createEngineAdapters(this.#env, engine, this.#store);
      const [listed, slotsLeft] = await Promise.all([there.list(), there.slotsLeft()]);
      return { engine, capabilities, adapters, listed: [...listed], slotsLeft, error: null };
    } catch (thrown) {
      return { engine, capabilities, adapters, listed: [], slotsLeft: null, error: toErrorRecord(thrown).message };
    }
  }

  async #unload(adapter: LoadedAdapter): Promise<string | undefined> {
    const { engine, name, policyDigest } = adapter;
    if (engine.kind === "embedded") return undefined;
    try {
      await createEngineAdapters(this.#env, engine, this.#store).unload({ policyDigest });
      this.#store.dropAdapter(adapter);
      return undefined;
    } catch (thrown) {
      logError("adapter:kept", thrown, { name });
      const failure = toErrorRecord(thrown).message;
      this.#store.setFailure(adapter, failure);
      return failure;
    }
  }

  async #inOrder<Value>(work: () => Promise<Value>): Promise<Value> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  get #idleMs(): number {
    return Number(this.#env.ENGINE_IDLE_MS ?? "") || IDLE_MS;
  }
}

/** Digest of what an engine's bare model is known by, and the manifest to store under it where nobody has stored one. */
export async function engineBaseOf(
  engine: EngineSettings,
): Promise<{ digest: string; content: Uint8Array<ArrayBuffer> | undefined } | undefined> {
  if (engine.kind === "embedded") return undefined;
  if (engine.base !== undefined) return { digest: engine.base, content: undefined };
  const manifest: BaseManifest = { name: engine.model, files: {} };
  const content = new Uint8Array(new TextEncoder().encode(canonicalJson(manifest)));
  return { digest: await sha256(content), content };
}

/** @throws {input/invalid} for a base that nobody has uploaded */
async function checkStored(bucket: R2Bucket, digest: string): Promise<void> {
  const stored = await getArtifact(bucket, digest);
  const manifest = stored === undefined ? undefined : BaseManifest.safeParse(parseJsonBytes(stored));
  if (manifest?.success === true) return;
  const advice = "upload it with a trainer key to PUT /trainer/v1/files/<digest>, or leave it out";
  throw new AppError("input/invalid", `engine.base: the digest of a stored base manifest expected, got ${digest}; ${advice}`);
}

/** An adapter that waits for its invocation would act on every token elsewhere: another policy under the same name. @throws {upstream/invalid} */
function checkActivation(engine: RemoteEngine, invocation: Invocation | undefined): void {
  if (invocation === undefined || capabilitiesOf(engine).activated) return;
  throw new AppError(
    "upstream/invalid",
    `the agent's engine: an adapter that acts on every token expected, got one with alora_invocation_tokens, which ${engineTitle(engine)} would not wait for`,
  );
}

async function invocationOf(bucket: R2Bucket, { configDigest }: AdapterFiles): Promise<Invocation | undefined> {
  const config = await getArtifact(bucket, configDigest);
  return config === undefined ? undefined : adapterSizes(new TextDecoder().decode(config)).invocation;
}

function parseJsonBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined; // not a manifest
  }
}

function isOver(
  { engine, policyDigest, usedAt }: LoadedAdapter,
  { current, needed, now, idleMs }: { current: EngineSettings; needed: ReadonlySet<string>; now: number; idleMs: number },
): boolean {
  if (!capabilitiesOf(engine).unload || now - usedAt < idleMs) return false;
  return !needed.has(policyDigest) || placeOf(engine) !== placeOf(current);
}

/** Where an engine is; its limits may have been changed since. */
function placeOf(engine: EngineSettings | RemoteEngine): string {
  return engine.kind === "openai" ? engine.url : engine.kind;
}
