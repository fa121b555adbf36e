/** Drawing a token from logits. */
import type { Random } from "../random.ts";

export type SampledToken = { readonly token: number; /** ln p under the distribution drawn from */ readonly logProb: number };

/** Draws from softmax(logits / temperature); at temperature 0 takes the most probable token, its log-probability at temperature 1. */
export function sampleToken(logits: Float32Array, { temperature, random }: { temperature: number; random: Random }): SampledToken {
  const greedy = temperature === 0;
  const scale = greedy ? 1 : 1 / temperature;
  const best = mostProbable(logits);
  const shift = (logits[best] ?? 0) * scale;
  let total = 0;
  // Plain loops: every token of every answer is drawn from all of the vocabulary.
  for (let token = 0; token < logits.length; token += 1) total += Math.exp((logits[token] ?? 0) * scale - shift);
  const token = greedy ? best : draw(logits, { threshold: random.next() * total, scale, shift });
  return { token, logProb: (logits[token] ?? 0) * scale - shift - Math.log(total) };
}

/** Among equals the first. */
function mostProbable(logits: Float32Array): number {
  let best = 0;
  for (let token = 1; token < logits.length; token += 1) if ((logits[token] ?? 0) > (logits[best] ?? 0)) best = token;
  return best;
}

/** The first token at which the running sum of unnormalised probabilities passes `threshold`. */
function draw(logits: Float32Array, { threshold, scale, shift }: { threshold: number; scale: number; shift: number }): number {
  let sum = 0;
  let last = 0;
  for (let token = 0; token < logits.length; token += 1) {
    const probability = Math.exp((logits[token] ?? 0) * scale - shift);
    sum += probability;
    if (probability > 0) last = token;
    if (sum > threshold) return token;
  }
  return last; // rounding left the sum just below the threshold
}
