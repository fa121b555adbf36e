/** Adapters in kernel memory by policy digest, bounded in bytes. The least recently used go first, never one in use. */
import { AppError } from "../../shared/errors.ts";
import type { Adapter, Invocation } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { roundUp } from "../kernel/heap.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { adapterTableBytes, writeAdapterTable } from "./adapter-table.ts";
import { type Clock, Lease } from "./lease.ts";

type Resident = {
  readonly table: number;
  readonly invocation: Invocation | undefined;
  readonly bytes: number;
  readonly leases: Set<Lease>;
};

export type AdapterUse = {
  readonly table: number;
  /** Absent where the adapter acts on every token. */
  readonly invocation: Invocation | undefined;
  readonly lease: Lease;
};

export class AdapterCache {
  readonly #kernel: Kernel;
  readonly #config: ModelConfig;
  readonly #budgetBytes: number;
  readonly #now: Clock;
  /** Least recently used first. */
  readonly #residents = new Map<string, Resident>();
  #bytes = 0;
  #evictions = 0;

  constructor({ kernel, config, budgetBytes, now }: { kernel: Kernel; config: ModelConfig; budgetBytes: number; now: Clock }) {
    this.#kernel = kernel;
    this.#config = config;
    this.#budgetBytes = budgetBytes;
    this.#now = now;
  }

  get stats(): { adapterBytes: number; adapterCount: number; adapterEvictions: number } {
    return { adapterBytes: this.#bytes, adapterCount: this.#residents.size, adapterEvictions: this.#evictions };
  }

  /** Leases an adapter that is resident. */
  acquire(digest: string): AdapterUse | undefined {
    const resident = this.#residents.get(digest);
    if (resident === undefined) return undefined;
    this.#residents.delete(digest);
    this.#residents.set(digest, resident);
    const lease = new Lease(this.#now);
    for (const old of resident.leases) if (!old.live) resident.leases.delete(old);
    resident.leases.add(lease);
    return { table: resident.table, invocation: resident.invocation, lease };
  }

  /**
   * Brings an adapter in and leases it; undefined while the others in use leave no room.
   * @throws {policy/refused} for an adapter above the whole budget
   */
  insert(digest: string, adapter: Adapter): AdapterUse | undefined {
    const bytes = roundUp(adapterTableBytes(this.#config, adapter));
    if (bytes > this.#budgetBytes)
      throw new AppError("policy/refused", `adapter of at most ${this.#budgetBytes} bytes expected, got ${bytes}`);
    if (!this.#residents.has(digest)) {
      if (!this.#makeRoom(bytes)) return undefined;
      this.#place(digest, adapter, bytes);
    }
    return this.acquire(digest);
  }

  #place(digest: string, adapter: Adapter, bytes: number): void {
    const table = this.#kernel.heap.allocate(bytes);
    try {
      writeAdapterTable(this.#kernel, this.#config, { adapter, table });
    } catch (thrown) {
      this.#kernel.heap.release(table);
      throw thrown;
    }
    this.#residents.set(digest, { table, invocation: adapter.invocation, bytes, leases: new Set() });
    this.#bytes += bytes;
  }

  #makeRoom(bytes: number): boolean {
    for (const [digest, resident] of this.#residents) {
      if (this.#bytes + bytes <= this.#budgetBytes) break;
      if (Array.from(resident.leases).some((lease) => lease.live)) continue;
      this.#evict(digest, resident);
    }
    return this.#bytes + bytes <= this.#budgetBytes;
  }

  #evict(digest: string, resident: Resident): void {
    for (const lease of resident.leases) lease.revoke();
    this.#residents.delete(digest);
    this.#kernel.heap.release(resident.table);
    this.#bytes -= resident.bytes;
    this.#evictions += 1;
  }
}
