/**
 * Who may have the isolate's policy answer, and when: a few answers at a time, and of those that wait each API key's in turn, so that whoever asks for
 * a hundred at once waits for themselves. A key of which nothing is answered begins at once.
 */
import { abortedByReader, AppError, type ErrorCode } from "../../shared/errors.ts";
import type { Clock } from "./lease.ts";

/** Answers at the same time. The kernel runs one step at a time: with more of them each is as much slower. */
export const MOST_RUNNING = 4;
/** Beside them, keys of which one answer is made each. */
const MOST_KEYS = 16;
/** Answers that wait: of one key, and of all. Each holds its request in memory. */
export const MOST_OF_KEY = 100;
export const MOST_WAITING = 400;

/** How often an answer asks for its turn: the next one often, one far behind less so, since what hundreds ask takes time from the answers. */
const POLL_MS = 10;
const LONGEST_POLL_MS = 500;
/** One that has not asked for its turn for so long is gone with its Durable Object, and so is an answer of which nothing came. */
const SILENT_MS = 5_000;
const DEAD_MS = 20_000;
const LONGEST_WAIT_S = 60;
/** What an answer is taken to last before any has ended. */
const USUAL_MS = 1_000;

/** An answer's place, from when it is asked for to its end. */
export type Place = { readonly key: string; touchedAt: number; beganAt: number | undefined };

export class Turns {
  readonly #now: Clock;
  /** By key, the one first whose turn it is. */
  readonly #queues = new Map<string, Place[]>();
  /** Asked for, and not waiting yet: their turns are being opened. */
  readonly #entered = new Set<Place>();
  readonly #running = new Set<Place>();
  #usualMs = USUAL_MS;

  constructor(now: Clock = Date.now) {
    this.#now = now;
  }

  /** Places that are to begin, of all keys or of one. */
  waiting(key?: string): number {
    const entered = Array.from(this.#entered).filter((place) => key === undefined || place.key === key).length;
    if (key !== undefined) return entered + (this.#queues.get(key)?.length ?? 0);
    return Array.from(this.#queues.values()).reduce((sum, { length }) => sum + length, entered);
  }

  /**
   * A place, which waits from when it asks for its turn.
   * @param options.bounded whether it may be refused: an answer that has begun goes on
   * @throws {auth/limited} {policy/busy} with the seconds to wait, where as many wait as may
   */
  enter(key: string, { bounded = true } = {}): Place {
    if (bounded) this.#checkRoom(key);
    const place: Place = { key, touchedAt: this.#now(), beganAt: undefined };
    this.#entered.add(place);
    return place;
  }

  /**
   * Resolves when it is the place's turn. By asking again rather than by a promise of another answer's: a Durable Object cannot rely on being
   * woken by another one.
   * @throws {session/aborted} once the signal has fired; the place is then free
   */
  async wait(place: Place, signal: AbortSignal): Promise<void> {
    while (!this.begin(place)) {
      await new Promise((resolve) => setTimeout(resolve, this.pauseFor(place)));
      if (!signal.aborted) continue;
      this.leave(place);
      throw abortedByReader(signal.reason);
    }
  }

  /** Milliseconds until it is worth asking again: half of what those before it, of its key, usually take. */
  pauseFor(place: Place): number {
    const ahead = Math.max(0, this.#queues.get(place.key)?.indexOf(place) ?? 0);
    return Math.min(LONGEST_POLL_MS, POLL_MS + (ahead * this.#usualMs) / MOST_RUNNING / 2);
  }

  /** Whether it is the place's turn; then it has begun. */
  begin(place: Place): boolean {
    place.touchedAt = this.#now();
    this.#entered.delete(place);
    // Also one that was silent for so long that it was taken for gone, and is not.
    if (this.#queues.get(place.key)?.includes(place) !== true) this.#line(place);
    this.#dropSilent();
    if (this.#queues.get(place.key)?.[0] !== place) return false;
    const { size } = this.#running;
    const hasNone = !Array.from(this.#running).some(({ key }) => key === place.key);
    const [next] = this.#queues.keys();
    if (!(hasNone && size < MOST_KEYS) && !(next === place.key && size < MOST_RUNNING)) return false;
    this.#unline(place);
    this.#running.add(place);
    place.beganAt = place.touchedAt;
    return true;
  }

  /** The answer goes on. */
  touch(place: Place): void {
    place.touchedAt = this.#now();
  }

  /** The place's answer has ended, or will not be made. */
  leave(place: Place): void {
    this.#entered.delete(place);
    const queue = this.#queues.get(place.key)?.filter((each) => each !== place) ?? [];
    if (queue.length > 0) this.#queues.set(place.key, queue);
    else this.#queues.delete(place.key);
    if (!this.#running.delete(place) || place.beganAt === undefined) return;
    this.#usualMs = (this.#usualMs * 3 + (this.#now() - place.beganAt)) / 4;
  }

  #line(place: Place): void {
    this.#queues.set(place.key, [...(this.#queues.get(place.key) ?? []), place]);
  }

  /** Takes a key's first place out of its queue; whatever else of the key waits has its turn behind the other keys. */
  #unline({ key }: Place): void {
    const rest = this.#queues.get(key)?.slice(1) ?? [];
    this.#queues.delete(key);
    if (rest.length > 0) this.#queues.set(key, rest);
  }

  #checkRoom(key: string): void {
    const isFull = (): boolean => this.waiting(key) >= MOST_OF_KEY || this.waiting() >= MOST_WAITING;
    if (!isFull()) return;
    this.#dropSilent({ behindOthers: true });
    if (!isFull()) return;
    const own = this.waiting(key);
    if (own >= MOST_OF_KEY) throw this.#refusal("auth/limited", { most: MOST_OF_KEY, what: "answers of one key", ahead: own });
    throw this.#refusal("policy/busy", { most: MOST_WAITING, what: "answers of all keys", ahead: this.waiting() });
  }

  #refusal(code: ErrorCode, { most, what, ahead }: { most: number; what: string; ahead: number }): AppError {
    const seconds = Math.min(LONGEST_WAIT_S, Math.max(1, Math.ceil((ahead * this.#usualMs) / MOST_RUNNING / 1_000)));
    const message = `at most ${most} ${what} expected that wait, got one more while ${this.#running.size} are being made; try again in ${seconds} s`;
    // As OpenAI's clients know it.
    const shown = code === "auth/limited" ? "rate_limit_exceeded" : code;
    return new AppError(code, message, { details: { code: shown, retryAfterSeconds: seconds } });
  }

  /** Nobody waits for what is gone: it is no key's first place, and counts nowhere. */
  #dropSilent({ behindOthers = false } = {}): void {
    const now = this.#now();
    for (const place of this.#running) if (now - place.touchedAt > DEAD_MS) this.#running.delete(place);
    const isGone = ({ touchedAt }: Place): boolean => now - touchedAt > SILENT_MS;
    if (behindOthers) for (const place of this.#entered) if (isGone(place)) this.#entered.delete(place);
    for (const [key, queue] of this.#queues) {
      if (!behindOthers && queue[0] !== undefined && !isGone(queue[0])) continue;
      const kept = queue.filter((place) => !isGone(place));
      if (kept.length > 0) this.#queues.set(key, kept);
      else this.#queues.delete(key);
    }
  }
}
