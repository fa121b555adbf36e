/** Open sessions by key, the least recently used closed first. */
import { at, invariant } from "../../shared/assert.ts";
import type { Node } from "../autodiff/graph.ts";
import { encodeModel, graphInputs } from "../onnx/encode.ts";
import type { Device } from "../onnx/device.ts";
import { freeDeviceBytes } from "../onnx/device-memory.ts";
import { largestBytes, peakBytes } from "../onnx/peak.ts";
import { type AdamWUpdate, adamWUpdate } from "../optim/adamw.ts";
import { GraphRunner } from "../onnx/runner.ts";
import { type Feeds, GraphSession, HEAP_BYTES, type OpenGraph, type SessionOptions } from "../onnx/session.ts";
import { ResidentSessions } from "./resident-sessions.ts";

export type Placement = "inputs" | "device";

export type CacheOptions = Omit<SessionOptions, "arena" | "external"> & {
  /**
   * Of the frozen tensors of a base that is run by layer. `inputs`: graphs read them in place, at each run. `device`: sessions
   * hold them where they run, and only what else a run is fed crosses. Default: inputs on the CPU, else device.
   */
  readonly placement?: Placement;
  /** Graphs that are run at once, each on a thread of its own with its part of `threads`. Default 1, on the calling thread; more need the CPU. */
  readonly lanes?: number;
  /** What all sessions may hold. Default: half of what the device has free, where that is known, else 2.5 GiB. */
  readonly budgetBytes?: number;
};

/** Where graphs are run one at a time. */
type Lane = {
  readonly open: (model: Uint8Array, options: Pick<SessionOptions, "arena">) => Promise<OpenGraph>;
  running: number;
};
type Encoded = { readonly model: Uint8Array; readonly inputs: ReadonlySet<string>; readonly arena: boolean; readonly bytes: number };
type Entry = Encoded & { readonly session: Promise<OpenGraph>; running: number };

// A session is some five to ten megabytes and, where it has an arena, what its largest run took. An update and its gate open about a
// hundred. A budget that is too small for those of its steps, which come in turn, would open them at every step.
// On a device each has an arena, and those of pretraining's seven buckets would be 5.7 GiB: where three of them fit, opening takes four times as long as running.
const BUDGET_BYTES = 2.5 * 1024 ** 3;
const DEVICE_SHARE = 0.5; // the rest is the frozen tensors', and other processes'
const SESSION_BYTES = 10 * 1024 ** 2;
const MAX_SESSIONS = 250; // of a lane; where it has several threads, each has its own

export class SessionCache {
  /** Where frozen tensors stay on a device; absent where graphs read them in place. */
  readonly residents: ResidentSessions | undefined;
  readonly #keepsArena: boolean;
  readonly #budgetBytes: number;
  readonly #runners: readonly GraphRunner[];
  readonly #lanes: readonly Lane[];
  // In order of use: the first is the oldest.
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  #bytesMoved = 0;

  constructor({ placement, lanes = 1, budgetBytes, ...options }: CacheOptions) {
    const { device = "cpu" } = options;
    const onDevice = (placement ?? (device === "cpu" ? "inputs" : "device")) === "device";
    invariant(lanes === 1 || (device === "cpu" && !onDevice), "several lanes on the CPU expected");
    this.residents = onDevice ? new ResidentSessions(options) : undefined;
    this.#keepsArena = device !== "cpu";
    this.#budgetBytes = budgetBytes ?? budgetOn(device);
    this.#runners =
      lanes === 1 ? [] : Array.from({ length: lanes }, (_, lane) => new GraphRunner({ threads: partOf(options.threads, lane, lanes) }));
    const here: Lane["open"] = (model, own) => GraphSession.open(model, { ...options, ...own });
    this.#lanes =
      lanes === 1
        ? [{ open: here, running: 0 }]
        : this.#runners.map((runner) => ({ open: (model, { arena }) => runner.open(model, { arena }), running: 0 }));
  }

  /** How many runs are worth starting at once. */
  get lanes(): number {
    return this.#lanes.length;
  }

  /** Bytes that runs were fed and gave back so far: on another device than the CPU, what crossed. */
  get bytesMoved(): number {
    return this.#bytesMoved + (this.residents?.bytesMoved ?? 0);
  }

  /** Runs the graph of `key`, built on first use; feeds the graph does not read are left out. */
  async run(key: string, build: () => Record<string, Node>, feeds: Feeds): Promise<Record<string, Float32Array>> {
    const lane = this.#leastBusy();
    const entry = this.#entry(lane, key, build);
    const read = Object.fromEntries(Object.entries(feeds).filter(([name]) => entry.inputs.has(name)));
    const outputs = await use([this.#lane(lane), entry], async () => (await entry.session).run(read));
    for (const { byteLength } of [...Object.values(read).map(({ values }) => values), ...Object.values(outputs)])
      this.#bytesMoved += byteLength;
    return outputs;
  }

  /** Updates of tensors in shared memory, each on the lane that has the least to do. */
  async adamW(updates: readonly AdamWUpdate[]): Promise<void> {
    const lots = this.#lanes.map(() => ({ values: 0, updates: [] as AdamWUpdate[] }));
    for (const update of updates) {
      const lot = lots.reduce((least, each) => (each.values < least.values ? each : least));
      lot.values += update.buffers.values.length;
      lot.updates.push(update);
    }
    if (this.#runners.length === 0) for (const { buffers, options } of updates) adamWUpdate(buffers, options);
    await Promise.all(this.#runners.map((runner, lane) => runner.adamW(at(lots, lane).updates)));
  }

  /** After resident tensors have changed. */
  async forgetResident(): Promise<void> {
    await this.residents?.close();
  }

  /** Closes every session, and ends the threads of the lanes. */
  async close(): Promise<void> {
    await this.residents?.close();
    const open = [...this.#entries.values()];
    this.#entries.clear();
    this.#bytes = 0;
    for (const { session } of open) await (await session).close();
    for (const runner of this.#runners) await runner.close();
  }

  #leastBusy(): number {
    return this.#lanes.reduce((best, { running }, lane) => (running < this.#lane(best).running ? lane : best), 0);
  }

  #lane(lane: number): Lane {
    return at(this.#lanes, lane);
  }

  #entry(lane: number, key: string, build: () => Record<string, Node>): Entry {
    const own = `${lane} ${key}`;
    const entry = this.#entries.get(own) ?? this.#open(lane, key, build);
    this.#entries.delete(own);
    this.#entries.set(own, entry);
    return entry;
  }

  #open(lane: number, key: string, build: () => Record<string, Node>): Entry {
    const encoded = this.#encoded(key) ?? encode(build(), this.#keepsArena);
    const closed: Promise<void>[] = [];
    for (const [oldKey, oldest] of this.#entries) {
      if (this.#bytes + encoded.bytes <= this.#budgetBytes && this.#entries.size < MAX_SESSIONS * this.lanes) break;
      if (oldest.running > 0) continue;
      this.#entries.delete(oldKey);
      this.#bytes -= oldest.bytes;
      closed.push(oldest.session.then((session) => session.close()));
    }
    this.#bytes += encoded.bytes;
    // What is given up makes room first.
    const session = Promise.all(closed).then(() => this.#lane(lane).open(encoded.model, { arena: encoded.arena }));
    const entry = { ...encoded, session, running: 0 };
    session.catch(() => {
      if (this.#entries.get(`${lane} ${key}`) !== entry) return;
      this.#entries.delete(`${lane} ${key}`);
      this.#bytes -= entry.bytes;
    });
    return entry;
  }

  /** The same graph as another lane has it. */
  #encoded(key: string): Encoded | undefined {
    const found = this.#lanes.map((_, lane) => this.#entries.get(`${lane} ${key}`)).find((entry) => entry !== undefined);
    return found && { model: found.model, inputs: found.inputs, arena: found.arena, bytes: found.bytes };
  }
}

function budgetOn(device: Device): number {
  const free = freeDeviceBytes(device);
  return free === undefined ? BUDGET_BYTES : DEVICE_SHARE * free;
}

/** Of `threads`, as evenly as they can be dealt out. */
function partOf(threads: number, lane: number, lanes: number): number {
  return Math.floor(threads / lanes) + (lane < threads % lanes ? 1 : 0);
}

/** Counts the run as under way with each of `busy`. */
async function use<Result>(busy: readonly { running: number }[], run: () => Promise<Result>): Promise<Result> {
  for (const each of busy) each.running += 1;
  try {
    return await run();
  } finally {
    for (const each of busy) each.running -= 1;
  }
}

function encode(outputs: Record<string, Node>, keepsArena: boolean): Encoded {
  const arena = keepsArena || largestBytes(outputs) >= HEAP_BYTES;
  return {
    arena,
    model: encodeModel(outputs),
    inputs: new Set(graphInputs(outputs).map(({ name }) => name)),
    bytes: SESSION_BYTES + (arena ? peakBytes(outputs) : 0),
  };
}
