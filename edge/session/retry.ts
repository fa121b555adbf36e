/**
 * What is a retry? The same `Idempotency-Key`; an identical body with `x-stainless-retry-count` of 1 or more; an
 * identical body while the first is in flight or before its final chunk was sent. A retry joins or replays the turn
 * and is never a signal. Two openings with the same words are told apart by the count: where the client itself says 0,
 * nothing is tried again and a conversation of its own begins.
 */
import { AppError } from "../../shared/errors.ts";

export type RetryFacts = {
  /** Of the body and of whom it is from. */
  readonly requestDigest: string;
  readonly idempotencyKey: string | undefined;
  /** How often the client says that it has tried before; undefined where it does not say. */
  readonly retryCount: number | undefined;
};

/** A turn as far as retries go. */
export type KnownTurn = {
  readonly turnId: string;
  readonly requestDigest: string;
  readonly idempotencyKey: string | null;
  readonly state: "open" | "finished" | "aborted";
  /** Whether its final chunk was sent. */
  readonly delivered: boolean;
  /** Whether its answer was recorded; without a record it is sampled again. */
  readonly replayable: boolean;
};

/** An answer that runs or waits to run; `abandoned` where every reader has gone, so that it is being given up. */
export type RunningTurn = { readonly turnId: string; readonly retry: RetryFacts; readonly abandoned: boolean };

export type RetryDecision =
  | { readonly kind: "join"; readonly turnId: string }
  | { readonly kind: "replay"; readonly turnId: string }
  | { readonly kind: "conflict" }
  | { readonly kind: "new" };

/** Decides over the turns that share the request's digest or its key, oldest first. `opens`: the request belongs to no conversation yet. */
export function decideRetry(facts: RetryFacts, turns: readonly KnownTurn[], { opens }: { opens: boolean }): RetryDecision {
  const byKey =
    facts.idempotencyKey === undefined ? undefined : turns.findLast(({ idempotencyKey }) => idempotencyKey === facts.idempotencyKey);
  if (byKey !== undefined && byKey.requestDigest !== facts.requestDigest) return { kind: "conflict" };
  const turn = byKey ?? turns.findLast((each) => each.requestDigest === facts.requestDigest && keysAgree(facts, each));
  if (turn === undefined || turn.state === "aborted") return { kind: "new" };
  if (byKey === undefined && opens && facts.retryCount === 0) return { kind: "new" };
  if (turn.state === "open") return { kind: "join", turnId: turn.turnId };
  const again = byKey !== undefined || !turn.delivered || (facts.retryCount ?? 0) >= 1;
  return again && turn.replayable ? { kind: "replay", turnId: turn.turnId } : { kind: "new" };
}

/**
 * Turns that a request may be a retry of: those on record, and those that are running or wait to run. What is on record of an answer that is
 * being given up is gone on from; the record has its turn that is being sampled as open until it has failed, and whoever joined that would fail with it.
 */
export function withRunning(recorded: readonly KnownTurn[], running: readonly RunningTurn[]): KnownTurn[] {
  const abandoned = new Set(running.flatMap((run) => (run.abandoned ? [run.turnId] : [])));
  const known = recorded.map((turn): KnownTurn =>
    turn.state === "open" && abandoned.has(turn.turnId) ? { ...turn, state: "aborted" } : turn,
  );
  const live = running.filter(({ turnId }) => !abandoned.has(turnId) || !known.some((turn) => turn.turnId === turnId)).map(toKnown);
  return [...known.filter(({ turnId }) => !live.some((turn) => turn.turnId === turnId)), ...live];
}

function toKnown({ turnId, retry, abandoned }: RunningTurn): KnownTurn {
  const { requestDigest, idempotencyKey = null } = retry;
  return { turnId, requestDigest, idempotencyKey, state: abandoned ? "aborted" : "open", delivered: false, replayable: false };
}

/** Whether one of the turns holds the claim that the request was made under: its key's with this body, or the body's where it has no key. */
export function holdsClaim({ requestDigest, idempotencyKey }: RetryFacts, turns: readonly KnownTurn[]): boolean {
  const ofKey = turns.filter((turn) => idempotencyKey === undefined || turn.idempotencyKey === idempotencyKey);
  return ofKey.some((turn) => turn.requestDigest === requestDigest);
}

/** What a request with the key of another is refused with. */
export function keyConflict(): AppError {
  return new AppError(
    "session/conflict",
    "Idempotency-Key: a key of its own for every request expected, got one that came with another body",
  );
}

/** Two different keys on one body say that two requests are meant. */
function keysAgree(facts: RetryFacts, turn: KnownTurn): boolean {
  return facts.idempotencyKey === undefined || turn.idempotencyKey === null || turn.idempotencyKey === facts.idempotencyKey;
}
