/** What trainers said last, by line. Not stored: a trainer says it again within half a minute. */
import type { TrainerReport } from "../../shared/api.ts";
import { Recent } from "../../shared/recent.ts";
import type { TrainerStatus } from "../../shared/trainer-status.ts";

/** Of lines that anything was heard of last: one of a user who is idle holds no memory. */
const MOST_KEPT = 20;

export class TrainerReports {
  readonly #last = new Recent<string, TrainerReport>(MOST_KEPT);

  hear(line: string, status: TrainerStatus): void {
    this.#last.set(line, { ...status, seenAt: new Date().toISOString() });
  }

  /** Null where none has spoken since the object woke. */
  of(line: string): TrainerReport | null {
    return this.#last.get(line) ?? null;
  }
}
