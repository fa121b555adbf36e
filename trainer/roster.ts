/** What one trainer holds, and whether that is its fair share among the trainers that ask. */
import type { Lease } from "./lease.ts";

export class Roster {
  readonly #held = new Set<Pick<Lease, "waiting">>();
  /** Agents that there are. */
  agents = 0;

  add(lease: Pick<Lease, "waiting">): void {
    this.#held.add(lease);
  }

  remove(lease: Pick<Lease, "waiting">): void {
    this.#held.delete(lease);
  }

  hasEnough(): boolean {
    return this.#held.size >= this.#share();
  }

  hasTooMany(): boolean {
    return this.#held.size > this.#share();
  }

  /** Rounded up: of ten agents and four trainers two have three. */
  #share(): number {
    const others = Math.max(0, ...[...this.#held].map(({ waiting }) => waiting));
    return Math.ceil(this.agents / (1 + others));
  }
}
