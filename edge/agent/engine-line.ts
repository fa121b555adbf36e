/** How an agent's engine bears on its lines: another base begins another lineage, and versions need their adapters where they answer. */
import type { Actor, EngineState } from "../../shared/api.ts";
import type { Agent } from "../../shared/agent.ts";
import { engineTitle, type EngineSettings } from "../../shared/engine.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import { SHARED_LINE, type PublishRequest, type PublishResult } from "../../shared/policy.ts";
import { type AgentEngine, ENGINE_ACTOR, engineBaseOf } from "./agent-engine.ts";
import type { Lines } from "./lines.ts";
import type { LoadResult, PublishOutcome } from "./port.ts";
import { chainOf, tipOf } from "./release.ts";
import type { AgentStore } from "./store.ts";

type Preloading = Pick<PublishRequest, "manifest" | "rebuild"> & { readonly policyDigest: string };
type Change = { status: "refused"; reason: string } | { status: "ready"; base: string | undefined; changed: boolean };

const AWAY: ReadonlySet<string> = new Set(["upstream/unreachable", "upstream/timeout"]);

export class EngineLine {
  readonly #store: AgentStore;
  readonly #lines: Lines;
  readonly #engine: AgentEngine;

  constructor(store: AgentStore, lines: Lines, engine: AgentEngine) {
    this.#store = store;
    this.#lines = lines;
    this.#engine = engine;
  }

  /** What settings mean for the base. `base` is undefined where it is the embedded policy's; nothing is moved yet. */
  async change({ settings }: Pick<Agent, "settings">, before: EngineSettings): Promise<Change> {
    if (settings.engine.kind === "workers-ai" && settings.learning.scope === "personal")
      return {
        status: "refused",
        reason: "learning.scope: shared expected on Workers AI, whose slots for adapters are spent for good, got personal",
      };
    try {
      const base = await this.#engine.adoptBase(settings.engine);
      return { status: "ready", base, changed: base !== (await engineBaseOf(before))?.digest };
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === "input/invalid") return { status: "refused", reason: thrown.message };
      throw thrown;
    }
  }

  /** Begins every line anew that answers from another base. */
  rebase({ name, settings }: Agent, baseDigest: string, { lastSeq, actor }: { lastSeq: number; actor: Actor }): void {
    for (const line of this.#store.lines()) {
      const from = this.#lines.version(line, this.#lines.state(line).stable);
      if (from.baseDigest === baseDigest) continue;
      const reason = `from the bare base ${shorten(baseDigest)} of ${engineTitle(settings.engine)}; versions up to ${this.#lines.state(line).latest} are of ${shorten(from.baseDigest)} or before, and answer the conversations that they began`;
      this.#lines.rebase(line, { agent: name, baseDigest, lastSeq, actor, reason });
    }
  }

  async load(line: string, version: number): Promise<LoadResult> {
    const engine = this.#settings();
    const found = this.#store.readVersion(line, version);
    if (found === undefined || engine === undefined || (await engineBaseOf(engine))?.digest !== found.baseDigest)
      return {
        status: "failed",
        error: toErrorRecord(
          new AppError("upstream/invalid", `version ${version}: one of the base that the agent's engine serves expected`),
        ),
      };
    return this.#engine.load(engine, found);
  }

  /**
   * Loads what is about to be published, so that it can answer at once; why it must not exist where it cannot. An engine that is away
   * says nothing about an adapter, so its trainer comes again.
   */
  async preload(
    line: string,
    { manifest, policyDigest, rebuild }: Preloading,
  ): Promise<Exclude<PublishOutcome, PublishResult> | undefined> {
    const engine = this.#settings();
    const state = this.#lines.state(line);
    const { adapter, baseDigest, parent, fromSeq } = manifest;
    if (adapter === null || engine === undefined || !this.#engine.isEngineBase(baseDigest)) return undefined;
    // What will be refused, or has lost its race, takes no room; a slot of Workers AI is spent only on what answers.
    if (!this.#lines.passesGate(manifest) || (!rebuild && (parent !== tipOf(state) || fromSeq !== state.cursor))) return undefined;
    if (engine.kind === "workers-ai" && state.canary !== null) return undefined;
    const result = await this.#engine.load(engine, { line, version: state.latest + 1, policyDigest, adapter });
    if (result.status === "loaded") return undefined;
    if (AWAY.has(result.error.code)) return { status: "unready", error: result.error };
    return { status: "refused", reason: `manifest.adapter: one that the agent's engine loads expected; ${result.error.message}` };
  }

  /** Why a version could answer nobody: its base is that of an engine which the agent has no more. */
  async unservedReason(line: string, version: number): Promise<string | undefined> {
    const found = this.#store.readVersion(line, version);
    const engine = this.#settings();
    if (found === undefined || engine === undefined || !this.#engine.isEngineBase(found.baseDigest)) return undefined;
    if ((await engineBaseOf(engine))?.digest === found.baseDigest) return undefined;
    return `to: a version whose base is served expected, got ${version} of ${shorten(found.baseDigest)}; give the agent that engine again first`;
  }

  /** Unloads what is not needed; the audit tells what could not be. */
  async sweep(now: number): Promise<void> {
    const engine = this.#settings();
    const failures = engine === undefined ? [] : await this.#engine.sweep(engine, this.#needed(), now);
    for (const reason of failures) this.#lines.touch(SHARED_LINE, "engine", { actor: ENGINE_ACTOR, reason });
  }

  /** Unloads all that can be: the agent is to be no more. What could not be stays with the engine. */
  async unloadAll(): Promise<void> {
    const engine = this.#settings();
    if (engine !== undefined) await this.#engine.sweep(engine, new Set(), Number.POSITIVE_INFINITY);
  }

  /** When to look again; undefined where nothing is loaded that could be unloaded. */
  sweepAt(now: number): number | undefined {
    return this.#engine.sweepAt(now);
  }

  async state(): Promise<EngineState | undefined> {
    const engine = this.#settings();
    return engine === undefined ? undefined : this.#engine.state(engine, this.#needed());
  }

  /** Policy digests of the shared line's versions that answer or are about to. A user's own is loaded again when its user comes. */
  #needed(): Set<string> {
    const state = this.#lines.read(SHARED_LINE);
    const versions = state === undefined ? [] : [state.stable, ...chainOf(state)];
    return new Set(versions.map((version) => this.#lines.version(SHARED_LINE, version).policyDigest));
  }

  #settings(): EngineSettings | undefined {
    return this.#store.readAgent()?.settings.engine;
  }
}

function shorten(digest: string): string {
  return digest.slice(0, 12);
}
