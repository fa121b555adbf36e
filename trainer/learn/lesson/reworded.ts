/** A reply in other words than the policy's own: where the two differ, and what the policy would say of the rest. */

type Span = { readonly from: number; readonly to: number };

/** Tokens [from, to) of the reply that the policy's own has otherwise, the first that parts from it at least; before and after them both are the same. */
export function changedSpan(own: readonly number[], reply: readonly number[]): Span {
  const parts = reply.findIndex((token, index) => token !== own[index]);
  if (parts < 0) return { from: reply.length, to: reply.length };
  const most = Math.min(own.length, reply.length) - parts;
  let rest = 0;
  while (rest < most && own.at(-1 - rest) === reply.at(-1 - rest)) rest += 1;
  return { from: parts, to: Math.max(parts + 1, reply.length - rest) };
}

/**
 * Distributions [n·V] of the reply's tokens, after those that differ the policy's own of what it says by itself: behind words that it would not
 * have begun with it is unsure of everything, and a student that matched that would stammer.
 */
export function withOwnRest(
  taught: Float32Array,
  { own, ownFull, reply, vocabSize }: { own: readonly number[]; ownFull: Float32Array; reply: readonly number[]; vocabSize: number },
): Float32Array {
  const { to } = changedSpan(own, reply);
  const matched = taught.slice();
  matched.set(ownFull.subarray((own.length - (reply.length - to)) * vocabSize), to * vocabSize);
  return matched;
}

const LEAST_REST = 0.9; // a rest of some thirty tokens has a word or two that might as well be another

/**
 * Whether the policy's likeliest tokens [n] are the reply's: all that differ from its own, and nearly all of the others. The last of several that
 * differ counts among the others: behind a name a sentence may begin with another word.
 */
export function saysReply(argmax: ArrayLike<number>, { own, reply }: { own: readonly number[]; reply: readonly number[] }): boolean {
  const { from, to } = changedSpan(own, reply);
  const end = Math.max(from + 1, to - 1);
  const isSaid = (index: number): boolean => argmax[index] === reply[index];
  const indices = reply.map((_, index) => index);
  const [changed, rest] = [indices.slice(from, end), [...indices.slice(0, from), ...indices.slice(end)]];
  return changed.every(isSaid) && rest.filter(isSaid).length >= LEAST_REST * rest.length;
}
