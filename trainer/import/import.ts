/**
 * Publishes an adapter that was trained elsewhere, through the gate and the compare-and-set of any update. What came between the export
 * and the adapter, a newer version, an event put in quarantine, a note dropped, a user deleted, refuses it by name: the adapter has learned what it must not know.
 */
import { AppError } from "../../shared/errors.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import type { LineHead, PolicyManifest } from "../../shared/policy.ts";
import { gateFaults, type VersionStatus } from "../../shared/release.ts";
import { exportDigest, type ExportManifest } from "../export/manifest.ts";
import type { EdgePort, LineName } from "../feed/edge-port.ts";
import { readAll, readAllWithdrawn } from "../feed/read-all.ts";
import { examine } from "../gate/examine.ts";
import type { Gate } from "../gate/gate.ts";
import { fittingDefaults } from "../learn/batch/manifest.ts";
import { type AdapterBytes, type AdapterTensors, readAdapterFiles, roundAdapter, writeAdapterFiles } from "../policy/adapter.ts";
import type { Base } from "../policy/base.ts";
import { publishVersion } from "../policy/publish.ts";
import { releasedByCases } from "../learn/batch/released.ts";

export type ImportDependencies = {
  readonly edge: EdgePort;
  readonly base: Pick<Base, "config" | "name" | "tokenizer">;
  readonly loadAdapter: (version: Pick<LineHead, "adapter" | "baseDigest">) => Promise<AdapterTensors | null>;
  /** Asked where the agent's gate is on. */
  readonly gate: Gate;
  readonly runtime: Readonly<Record<string, string>>;
  readonly seed: number;
  readonly onProgress: (what: string) => void;
};

export type ImportRequest = {
  readonly line: LineName;
  /** PEFT's two files, as they came. */
  readonly files: Pick<AdapterBytes, "configBytes" | "weightBytes">;
  /** What it was trained on; absent: it is published as made of no events. */
  readonly from?: ExportManifest | undefined;
};

export type Imported = { readonly version: number; readonly release: VersionStatus; readonly faults: readonly string[] };

/** @throws {policy/stale} for another parent or cursor than the export's, {policy/refused} naming events or tensors that must not be */
export async function importAdapter(deps: ImportDependencies, { line, files, from }: ImportRequest): Promise<Imported> {
  const { edge, base } = deps;
  const head = await edge.readHead(line);
  if (from !== undefined) {
    checkFresh(head, from);
    await checkEvents(edge, line, from);
  } else if (head.rebuild !== null) throw stale(head, "one that need not be learned again without a deleted user first");
  const adapter = roundAdapter(readAdapterFiles(base.config, files));
  checkSays(adapter, base);
  const cases = from?.cases ?? [];
  const defaults = fittingDefaults(releasedByCases(cases));
  deps.onProgress("gating");
  // Nobody tells what it was trained on elsewhere.
  const reach = null;
  const gate = await examine(deps, { head, line }, { adapter, defaults, reach, expected: cases.map(({ expect }) => expect) });
  const manifest = { ...(await manifestOf(deps, head, from)), defaults, reach, gate };
  deps.onProgress("publishing");
  const handed = { manifest, refused: from?.refused ?? [], cases, rebuild: false };
  const result = await publishVersion(edge, writeAdapterFiles(base.config, adapter, base.name), handed);
  if (result.status === "stale") {
    // It may be an event that was closed while the gate ran.
    if (from !== undefined) await checkEvents(edge, line, from);
    throw stale(await edge.readHead(line), `version ${head.parent} at cursor ${head.cursor}, as when this began`);
  }
  return {
    version: result.version,
    release: result.release,
    faults: gate === null ? [] : gateFaults(gate, head.settings.release.gate.budgets),
  };
}

/** What is told of a version that was trained elsewhere, but for what was measured here. */
async function manifestOf(
  { seed, runtime }: ImportDependencies,
  head: LineHead,
  from: ExportManifest | undefined,
): Promise<Omit<PolicyManifest, "adapter" | "defaults" | "reach" | "gate">> {
  const { agent, line, parent, over, baseDigest, cursor } = head;
  const trained =
    from === undefined
      ? { toSeq: cursor, events: [], hints: [], imported: { export: null, format: null, state: null } }
      : {
          toSeq: from.toSeq,
          events: from.events,
          hints: from.hints,
          imported: { export: await exportDigest(from), format: from.format, state: from.state ?? null },
        };
  return {
    ...{ agent, line, parent, over: over?.version ?? null, baseDigest, fromSeq: cursor, ...trained },
    ...{ metrics: null, changes: [], inputs: null, seed, runtime: { ...runtime } },
  };
}

/** An update that the line has made since would be lost, and its events trained twice. */
function checkFresh(head: LineHead, from: ExportManifest): void {
  if (from.agent !== head.agent || from.line !== head.line)
    throw new AppError(
      "input/invalid",
      `--from: an export of line ${head.line} of agent ${head.agent} expected, got one of ${from.line} of ${from.agent}`,
    );
  if (from.baseDigest !== head.baseDigest) throw stale(head, `base ${from.baseDigest} as at the export, got ${head.baseDigest}`);
  if (head.rebuild !== null) throw stale(head, "one that need not be learned again without a deleted user");
  if (from.parent !== head.parent || from.fromSeq !== head.cursor)
    throw stale(head, `version ${from.parent} at cursor ${from.fromSeq}, which the export was made from`);
}

function stale(head: LineHead, expected: string): AppError {
  return new AppError(
    "policy/stale",
    `line ${head.line} of agent ${head.agent}: ${expected} expected, got version ${head.parent} at cursor ${head.cursor}; export again and train from there`,
  );
}

/** @throws {policy/refused} naming every event that may not be learned from any more */
async function checkEvents(edge: EdgePort, line: LineName, { events }: ExportManifest): Promise<void> {
  const barred = new Set((await edge.readQuarantine(line)).map(({ eventId }) => eventId));
  const ids = events.map(({ eventId }) => eventId);
  const dropped = new Set((await readAllWithdrawn(edge, line, ids)).flatMap(({ kind, eventId }) => (kind === "dropped" ? [eventId] : [])));
  const known = [...new Set(ids.map(eventIdOf))];
  const logged = new Map((await readAll(edge, line, known)).map((event) => [event.eventId, event.payload.kind]));
  const faults = ids.flatMap((id) => {
    const kind = logged.get(eventIdOf(id));
    if (kind === undefined || kind === "event:deleted") return [`${id} (deleted)`];
    if (barred.has(eventIdOf(id))) return [`${id} (in quarantine)`];
    return dropped.has(id) ? [`${id} (its note was dropped)`] : [];
  });
  if (faults.length === 0) return;
  throw new AppError(
    "policy/refused",
    `export: events that may still be learned from expected, got ${faults.join(", ")}; the adapter has learned from them, so it cannot be published: export again and train from there`,
  );
}

/** One that changes nothing says that the training went astray; one that waits for other tokens than open an answer never acts. */
function checkSays({ tensors, invocation }: AdapterTensors, { tokenizer }: Pick<Base, "tokenizer">): void {
  const isZero = (values: Float32Array | undefined): boolean => values === undefined || values.every((value) => value === 0);
  // B (A x) is zero wherever one of the two is.
  const moved = [...tensors].some(
    ([name, values]) => name.includes(".lora_B.") && !isZero(values) && !isZero(tensors.get(name.replace(".lora_B.", ".lora_A."))),
  );
  if (!moved)
    throw new AppError(
      "policy/refused",
      "adapter: a lora_A and its lora_B that are not zero expected, got an adapter that changes nothing",
    );
  if (invocation !== undefined && invocation.join() !== tokenizer.invocation.join())
    throw new AppError(
      "policy/refused",
      `adapter: alora_invocation_tokens [${tokenizer.invocation.join(", ")}] as the base's chat template opens an answer expected, got [${invocation.join(", ")}]`,
    );
}
