/** Works for one agent whenever this trainer holds its lease, and asks for the lease whenever it does not. */
import { AppError, toErrorRecord } from "../shared/errors.ts";
import { SHARED_LINE } from "../shared/policy.ts";
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import { pause, reportRetry, retryForever, type RetryOptions } from "./feed/retry.ts";
import { Lease, twinError, type LeaseOptions } from "./lease.ts";
import type { LineLoop } from "./loop.ts";
import { PersonalLines } from "./personal.ts";
import { Random } from "./random.ts";
import type { Roster } from "./roster.ts";

export type FollowerOptions = LeaseOptions & {
  readonly edge: Pick<EdgePort, "dueLines">;
  /** Of a long poll. */
  readonly waitMs: number;
  /** Whether this trainer has the base that the agent's line is of by now. */
  readonly trains: (line: LineName) => Promise<boolean>;
  /** The loop of a line whose writes carry the lease's token; nothing more is begun in it once the lease is `lost`, or the agent gone. */
  readonly openLoop: (line: LineName, token: number, lost: AbortSignal) => Pick<LineLoop, "step" | "scope" | "dueInMs">;
};

const REOPEN_MS = 30_000; // after whatever failed, also what is a fault of the code
export const ASK_MS = 5_000; // for an agent that another trainer holds
const GIVEN_MS = 2 * ASK_MS; // whoever waits for what was given back asks before
const FOREIGN_MS = 60_000; // for an agent of a base that this trainer does not have: another may, and it may be moved
/**
 * The edge knows our key no more, or its base is not ours, or a thread of the engine is gone: nobody can be taught anything, before a person or
 * whoever starts trainers has done something. A twin is not among them: it has the agents that it has, and the others are worked for.
 */
const FATAL: ReadonlySet<string> = new Set(["policy/digest", "auth/forbidden", "auth/missing", "engine/crashed"]);
/** The agent is another trainer's, or another process's of our name. */
const LOST: ReadonlySet<string> = new Set(["lease/lost", "lease/twin"]);

export function isFatal(error: unknown): boolean {
  return error instanceof AppError && FATAL.has(error.code);
}

export class Follower {
  readonly #agent: string;
  readonly #options: FollowerOptions;
  readonly #roster: Roster;
  /** Told once the agent is listed no more. */
  readonly #gone: AbortSignal;
  readonly #random: Random;
  readonly #onRetry: RetryOptions["onRetry"];
  /** The token of the last lease. */
  #last: number | undefined;

  constructor(agent: string, options: FollowerOptions, { roster, gone }: { roster: Roster; gone: AbortSignal }) {
    this.#agent = agent;
    this.#options = options;
    this.#roster = roster;
    this.#gone = gone;
    this.#random = new Random(process.pid + agent.length);
    this.#onRetry = reportRetry(options.metrics, agent);
  }

  /** Returns when `stop` is told, or that the agent is gone. @throws what no line can go on with, after it has told `stop` */
  async run(stop: AbortController): Promise<void> {
    const signal = AbortSignal.any([stop.signal, this.#gone]);
    while (!signal.aborted) {
      const pauseMs = await this.#hold(signal).catch((error: unknown) => {
        if (signal.aborted) return 0;
        this.#options.metrics("line:failed", { agent: this.#agent, ...toErrorRecord(error) });
        // What this agent's log or lines make go wrong is no reason to leave the others.
        if (!isFatal(error)) return REOPEN_MS;
        stop.abort("a line failed");
        throw error;
      });
      await pause(pauseMs, signal);
    }
  }

  /** Works under one lease; returns how long to leave the agent alone then. @throws what ended the work, unless it was the lease */
  async #hold(stop: AbortSignal): Promise<number> {
    const lease = await this.#takeLease(stop);
    if (lease === undefined) return 0;
    this.#roster.add(lease);
    try {
      const pauseMs = await this.#work(lease, AbortSignal.any([stop, lease.lost]));
      lease.lost.throwIfAborted();
      return pauseMs;
    } catch (error) {
      if (!(error instanceof AppError) || !LOST.has(error.code)) throw error;
      this.#options.metrics("lease:lost", { agent: this.#agent, ...toErrorRecord(error) });
      return 0;
    } finally {
      this.#roster.remove(lease);
      await lease.end();
    }
  }

  /** Steps until the lease is lost, others have too few agents, or the agent is for others; returns how long to leave it alone. */
  async #work(lease: Lease, signal: AbortSignal): Promise<number> {
    const ended = new AbortController();
    const both = AbortSignal.any([signal, ended.signal]);
    let personal: Promise<void> | undefined;
    const begin = (): void => {
      personal ??= this.#workPersonal(lease, both);
      personal.catch(() => ended.abort()); // heard below
    };
    try {
      return await this.#workShared(lease, both, begin);
    } finally {
      ended.abort();
      await personal;
    }
  }

  /** @param onPersonal told after each step while the agent's users have lines of their own */
  async #workShared(lease: Lease, signal: AbortSignal, onPersonal: () => void): Promise<number> {
    const { waitMs, metrics } = this.#options;
    const agent = this.#agent;
    const loop = this.#open(lease, SHARED_LINE);
    while (!signal.aborted) {
      const result = await retryForever(() => loop.step(waitMs), { random: this.#random, signal, onRetry: this.#onRetry });
      if (result === "foreign") return FOREIGN_MS;
      if (loop.scope === "personal") onPersonal();
      if (!this.#roster.hasTooMany()) continue;
      metrics("lease:given", { agent, waiting: lease.waiting });
      return GIVEN_MS;
    }
    return GIVEN_MS;
  }

  /** Works for its users' own lines until it is told to stop. */
  #workPersonal(lease: Lease, signal: AbortSignal): Promise<void> {
    const { edge, waitMs } = this.#options;
    const retry = { random: this.#random, onRetry: this.#onRetry };
    return new PersonalLines({ edge, agent: this.#agent, openLoop: ({ line }) => this.#open(lease, line), waitMs, retry }).run(signal);
  }

  #open(lease: Lease, line: string): ReturnType<FollowerOptions["openLoop"]> {
    this.#options.metrics("line:opened", { agent: this.#agent, line, lease: lease.token });
    return this.#options.openLoop({ agent: this.#agent, line }, lease.token, AbortSignal.any([lease.lost, this.#gone]));
  }

  /**
   * Who has the agent that is waited for. A twin's lease is waited for as any other's: it takes over where we end, and asking under `last` takes
   * nothing from it. But nobody means to start one, so that it is told as a fault, with what to do.
   */
  #tellHolder(holder: string | null): void {
    const { metrics, name } = this.#options;
    if (holder === name) metrics("lease:twin", { agent: this.#agent, ...toErrorRecord(twinError(name)) });
    else metrics("lease:waiting", { agent: this.#agent, holder });
  }

  /** Asks until the agent is free; undefined where it is told to stop. */
  async #takeLease(signal: AbortSignal): Promise<Lease | undefined> {
    const { edge, metrics, name, leaseMs, trains } = this.#options;
    const retry = { random: this.#random, signal, onRetry: this.#onRetry };
    let told: string | null = null;
    while (!signal.aborted) {
      // Who asks for what it cannot teach would keep it, or a share of the others, from those who can.
      if ((await retryForever(() => trains({ agent: this.#agent, line: SHARED_LINE }), retry)) === false) {
        await pause(FOREIGN_MS, signal);
        continue;
      }
      let unanswered = false;
      const ask = () =>
        edge
          .takeLease(this.#agent, { holder: name, ttlMs: leaseMs, ...(this.#last !== undefined && { last: this.#last }) })
          .catch((error: unknown) => {
            unanswered = true;
            throw error;
          });
      const answer = await retryForever(ask, retry);
      if (answer === undefined) return undefined;
      if (answer.status === "held") {
        this.#last = answer.token;
        const { token, unheldMs } = answer;
        if (unheldMs !== undefined) metrics("lease:taken", { agent: this.#agent, holder: told, lease: token, unheldMs });
        return new Lease(this.#agent, answer, this.#options);
      }
      if (answer.holder === name && unanswered) {
        // The attempt that got no answer may have been granted, and nobody beats for that lease; a twin's does not end, and is met by the next ask.
        await pause(answer.endsInMs + 1, signal);
        continue;
      }
      if (answer.holder !== told) this.#tellHolder(answer.holder);
      told = answer.holder;
      // Who has enough leaves what comes free to the others, and takes what nobody wants.
      const patienceMs = this.#roster.hasEnough() ? leaseMs : Math.min(ASK_MS, answer.endsInMs + 1);
      await pause(patienceMs, signal);
    }
    return undefined;
  }
}
