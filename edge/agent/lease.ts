/** Which trainer may move an agent's lines. Pure; lease-store.ts keeps what it decides. Times are epoch ms. */
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import { LEASE_HEADER } from "../../shared/lease.ts";

/** The last lease that was given; token 0 where none ever was. `holder` is null where it was given back. */
export type LeaseState = { readonly token: number; readonly holder: string | null; readonly endsAt: number };

export const NO_LEASE: LeaseState = { token: 0, holder: null, endsAt: 0 };

/**
 * What a request comes to. Whoever has the current token keeps the lease, even where it ran out: nobody has taken it since. A lease that
 * ran out, was given back, or is asked for under its holder's own name is given anew, with a higher token.
 */
export function grant(
  state: LeaseState,
  { holder, token, last, ttlMs }: LeaseRequest,
  now: number,
): { next: LeaseState; answer: { status: "held"; token: number; unheldMs?: number } | Extract<LeaseAnswer, { status: "taken" }> } {
  const keeps = token !== undefined && token === state.token && state.holder === holder;
  const own = state.holder === holder && (last === undefined || last === state.token);
  const free = state.holder === null || state.endsAt <= now || own;
  if (!keeps && (!free || token !== undefined))
    return { next: state, answer: { status: "taken", holder: state.holder, endsInMs: Math.max(0, state.endsAt - now) } };
  const next = { token: keeps ? state.token : state.token + 1, holder, endsAt: now + ttlMs };
  const ranOut = !keeps && state.holder !== null && state.endsAt <= now;
  return { next, answer: { status: "held", token: next.token, ...(ranOut && { unheldMs: now - state.endsAt }) } };
}

/** Given back: nobody has to wait for its end, and nothing more can be published under its token. */
export function endLease(state: LeaseState, token: number): LeaseState {
  return token === state.token && state.holder !== null ? { token: state.token + 1, holder: null, endsAt: 0 } : state;
}

/**
 * Why a trainer with this token may not move a line, or undefined where it may. Token 0, which a request without one has too, is that of an agent
 * that was never leased: there is no trainer yet whose work it could undo, so that a version can be published by hand, and of two that do so
 * at once the compare-and-set on parent and cursor lets one through. The first lease ends this for good: tokens only rise, and this is
 * asked where the line moves, so that who began before that lease is refused, too.
 */
export function leaseFault({ token, holder }: LeaseState, given: number): string | undefined {
  if (given === token) return undefined;
  const expected = `${LEASE_HEADER}: ${token}, ${holder === null ? "which nobody holds" : `the lease of trainer ${holder},`} expected`;
  if (given === 0) return `${expected}, got none; POST …/lease gives one`;
  return `${expected}, got ${given}, a lease that has ended; what was made under it is not published`;
}
