/** Which trainer may move an agent's lines. Pure; lease-store.ts keeps what it decides. Times are epoch ms. */
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import { ANOTHER_TRAINER, LEASE_HEADER } from "../../shared/lease.ts";

/**
 * The last lease that was given; token 0 where none ever was. `holder` is null where it was given back. `key` is the API key that it is held
 * under; null where it is of before keys were kept, until its next heartbeat.
 */
export type LeaseState = { readonly token: number; readonly holder: string | null; readonly key: string | null; readonly endsAt: number };

export const NO_LEASE: LeaseState = { token: 0, holder: null, key: null, endsAt: 0 };

/** A request with the API key that asks. */
export type KeyedRequest = LeaseRequest & { readonly key: string };

/**
 * What a request comes to. Whoever has the current token keeps the lease, even where it ran out: nobody has taken it since. A lease that
 * ran out, was given back, or is asked for under its holder's own key and name is given anew, with a higher token. A name alone is anybody's:
 * keys of several tenants may reach one agent.
 */
export function grant(
  state: LeaseState,
  { holder, key, token, last, ttlMs }: KeyedRequest,
  now: number,
): { next: LeaseState; answer: { status: "held"; token: number; unheldMs?: number } | Extract<LeaseAnswer, { status: "taken" }> } {
  const same = state.holder === holder && isOf(state, key);
  const keeps = token !== undefined && token === state.token && same;
  const own = same && (last === undefined || last === state.token);
  const free = state.holder === null || state.endsAt <= now || own;
  if (!keeps && (!free || token !== undefined))
    return { next: state, answer: { status: "taken", holder: holderAsTold(state, key), endsInMs: Math.max(0, state.endsAt - now) } };
  const next = { token: keeps ? state.token : state.token + 1, holder, key, endsAt: now + ttlMs };
  const ranOut = !keeps && state.holder !== null && state.endsAt <= now;
  return { next, answer: { status: "held", token: next.token, ...(ranOut && { unheldMs: now - state.endsAt }) } };
}

/** Given back: nobody has to wait for its end, and nothing more can be published under its token. */
export function endLease(state: LeaseState, token: number, key: string): LeaseState {
  if (token !== state.token || state.holder === null || !isOf(state, key)) return state;
  return { token: state.token + 1, holder: null, key: null, endsAt: 0 };
}

/**
 * Why a trainer with this token and key may not move a line, or undefined where it may. Token 0, which a request without one has too, is that of
 * an agent that was never leased: there is no trainer yet whose work it could undo, so that a version can be published by hand, and of two that do
 * so at once the compare-and-set on parent and cursor lets one through. The first lease ends this for good: tokens only rise, and this is
 * asked where the line moves, so that who began before that lease is refused, too. Tokens are small numbers that anybody guesses, hence the key.
 */
export function leaseFault(state: LeaseState, given: number, key: string): string | undefined {
  const { token } = state;
  if (given === token && isOf(state, key)) return undefined;
  const holder = holderAsTold(state, key);
  const held = holder === ANOTHER_TRAINER ? `the lease of ${holder}` : `the lease of trainer ${holder}`;
  const expected = `${LEASE_HEADER}: ${token}, ${holder === null ? "which nobody holds" : `${held},`} expected`;
  if (given === 0) return `${expected}, got none; POST …/lease gives one`;
  if (given === token) return `${expected}, got it under another key`;
  return `${expected}, got ${given}, a lease that has ended; what was made under it is not published`;
}

function isOf(state: LeaseState, key: string): boolean {
  return state.key === null || state.key === key;
}

/** What the holder of another key runs as is nobody's business. */
function holderAsTold({ holder, key: heldUnder }: LeaseState, key: string): string | null {
  return holder === null || heldUnder === key ? holder : ANOTHER_TRAINER;
}
