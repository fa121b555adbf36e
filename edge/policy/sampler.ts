/**
 * Chooses a token from a row of logits. Log-probs are natural, of softmax(masked logits / temperature), at temperature 0
 * of temperature 1; top_p narrows the choice after they are taken, so turns with top_p < 1 need to be told apart.
 */
import { invariant } from "../../shared/assert.ts";
import { applyMask, type TokenMask } from "../../shared/grammar/token-grammar.ts";
import type { Decoder } from "./decoder.ts";
import { ln } from "./portable-math.ts";

export type SamplerSettings = {
  /** 0, or from `MIN_TEMPERATURE` (shared/sampling.ts). */
  readonly temperature: number;
  readonly topP: number;
  readonly topLogProbs: number;
  readonly mask: TokenMask | undefined;
  /** A number in [0, 1); not drawn at temperature 0. */
  readonly random: () => number;
};

export type Choice = { readonly tokenId: number; readonly logProb: number; readonly top: readonly Alternative[] };
export type Alternative = { readonly tokenId: number; readonly logProb: number };

/** Chooses from the logits of `row`, which the mask overwrites. */
export function chooseToken(decoder: Decoder, row: number, settings: SamplerSettings): Choice {
  const logits = decoder.logits(row);
  if (settings.mask !== undefined) applyMask(logits, settings.mask);
  const best = argmax(logits);
  const max = logits[best] ?? -Infinity;
  invariant(Number.isFinite(max), `a finite largest logit expected, got ${max}`);
  const temperature = settings.temperature === 0 ? 1 : settings.temperature;
  const numerators = decoder.exponentials(row, { max, temperature });
  const total = sum(numerators);
  // The largest logit adds 1, so anything else is arithmetic gone wrong, and `ln` of it would not end.
  invariant(total >= 1 && total < Infinity, `a finite sum of exponentials from 1 expected, got ${total} at temperature ${temperature}`);
  const logTotal = ln(total);
  const logProbOf = (id: number): number => ((logits[id] ?? -Infinity) - max) / temperature - logTotal;
  const tokenId = settings.temperature === 0 ? best : draw(numerators, total, settings);
  return {
    tokenId,
    logProb: logProbOf(tokenId),
    top: largest(logits, settings.topLogProbs).map((id) => ({ tokenId: id, logProb: logProbOf(id) })),
  };
}

/** The lowest id of the largest logit. */
function argmax(logits: Float32Array): number {
  let best = 0;
  let max = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? -Infinity;
    if (logit > max) [best, max] = [id, logit];
  }
  return best;
}

function sum(values: Float32Array): number {
  let total = 0;
  for (let i = 0; i < values.length; i++) total += values[i] ?? 0; // three times as fast as for…of on a typed array
  return total;
}

/** Inverts the cumulative distribution in id order; under top_p, of the fewest tokens that reach it. */
function draw(numerators: Float32Array, total: number, { topP, random }: SamplerSettings): number {
  if (topP >= 1) return pick(numerators, undefined, random() * total);
  const { ids, mass } = nucleus(numerators, topP, total);
  return pick(numerators, ids, random() * mass);
}

/** The fewest tokens, likeliest first, whose share reaches topP, and the sum of their numerators. */
function nucleus(numerators: Float32Array, topP: number, total: number): { ids: number[]; mass: number } {
  // All tokens below this floor together have less than 1 - topP, so sorting can leave them out.
  const floor = ((1 - topP) * total) / numerators.length;
  const ids: number[] = [];
  let mass = 0;
  for (const id of sortedIds(numerators, floor)) {
    ids.push(id);
    mass += numerators[id] ?? 0;
    if (mass >= topP * total) break;
  }
  return { ids, mass };
}

/** The first token at which the running sum passes `target`; rounding at the very end falls to the last possible one. */
function pick(numerators: Float32Array, ids: readonly number[] | undefined, target: number): number {
  const count = ids === undefined ? numerators.length : ids.length;
  let running = 0;
  let last = 0;
  for (let i = 0; i < count; i++) {
    const id = ids === undefined ? i : (ids[i] ?? 0);
    const numerator = numerators[id] ?? 0;
    if (numerator === 0) continue;
    running += numerator;
    last = id;
    if (running > target) return id;
  }
  return last;
}

/** Ids of values of at least `floor`, largest first, lower ids first among equals. */
function sortedIds(values: Float32Array, floor: number): number[] {
  const ids: number[] = [];
  for (let id = 0; id < values.length; id++) if ((values[id] ?? -Infinity) >= floor) ids.push(id);
  return ids.sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b);
}

/** Ids of the `count` largest possible values in the order of `sortedIds`: one pass, for small counts. */
function largest(values: Float32Array, count: number): number[] {
  const ids: number[] = [];
  for (let id = 0; id < values.length && count > 0; id++) {
    const value = values[id] ?? -Infinity;
    if (value === -Infinity || (ids.length === count && value <= (values[ids[count - 1] ?? id] ?? -Infinity))) continue;
    const place = ids.findIndex((other) => value > (values[other] ?? -Infinity));
    ids.splice(place < 0 ? ids.length : place, 0, id);
    ids.length = Math.min(ids.length, count);
  }
  return ids;
}
