/** Intervals of a mean over few seeds. */
import { at } from "../shared/assert.ts";
import type { Random } from "../trainer/random.ts";

const DRAWS = 10_000;

/** 0 of nothing. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** The mean with its 95 % percentile bootstrap interval (Efron 1979): of paired differences where `values` are such. */
export function bootstrap(values: readonly number[], random: Random): { mean: number; interval: [number, number]; count: number } {
  const means = Array.from({ length: DRAWS }, () => meanOf(values.map(() => at(values, random.below(values.length))))).toSorted(
    (a, b) => a - b,
  );
  const end = (share: number): number => at(means, Math.round(share * (DRAWS - 1)));
  return { mean: meanOf(values), interval: values.length === 0 ? [0, 0] : [end(0.025), end(0.975)], count: values.length };
}
