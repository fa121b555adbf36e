/**
 * A trainer's lease of one agent, kept by a heartbeat. Once it is lost nothing more is begun under it, and the edge refuses what comes
 * of work that was under way.
 */
import { AppError, toErrorRecord } from "../shared/errors.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import type { Metrics } from "./metrics.ts";

export type LeaseOptions = {
  readonly edge: Pick<EdgePort, "takeLease" | "endLease">;
  readonly metrics: Metrics;
  /** The trainer's name. */
  readonly name: string;
  /** How long a lease holds without a heartbeat. */
  readonly leaseMs: number;
};

/** Two heartbeats may go astray. */
const BEATS = 3;

export class Lease {
  readonly token: number;
  /** Other trainers that ask for the agent, as of the last heartbeat. */
  waiting: number;
  readonly #agent: string;
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(agent: string, { token, waiting }: { token: number; waiting: number }, options: LeaseOptions) {
    this.#agent = agent;
    this.token = token;
    this.waiting = waiting;
    this.#options = options;
    // Nobody hears of a beat that fails in another way than the edge's: it went astray, as others may.
    this.#timer = setInterval(() => void this.#beat().catch(() => undefined), options.leaseMs / BEATS);
  }

  /** Aborted once the lease is another's; the reason is an AppError that says whose, `lease/twin` where another process has our name. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Gives the agent back, so that nobody has to wait for the lease's end. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost.signal.aborted) return;
    // Where it does not arrive, the lease ends by itself.
    await this.#options.edge.endLease(this.#agent, this.token).catch(() => undefined);
  }

  async #beat(): Promise<void> {
    const { edge, name, leaseMs, metrics } = this.#options;
    try {
      const answer = await edge.takeLease(this.#agent, { holder: name, ttlMs: leaseMs, token: this.token });
      if (answer.status === "held") this.waiting = answer.waiting;
      else this.#lose(answer.holder);
    } catch (error) {
      // The next beat comes soon; an edge that is away gives the agent to nobody else either.
      metrics("feed:retried", { agent: this.#agent, ...toErrorRecord(error), delayMs: Math.round(leaseMs / BEATS) });
    }
  }

  #lose(to: string | null): void {
    clearInterval(this.#timer);
    const { name } = this.#options;
    const message = `agent ${this.#agent}: lease ${this.token} to hold expected, got its end; ${to ?? "nobody"} has the agent now`;
    this.#lost.abort(to === name ? twinError(name) : new AppError("lease/lost", message));
  }
}

/** Why a trainer leaves an agent alone that another process of its key and name has. */
export function twinError(name: string): AppError {
  return new AppError("lease/twin", `--name: one for each trainer expected, got another trainer that runs as ${name}`);
}
