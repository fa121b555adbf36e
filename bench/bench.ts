/** What every bench shares: options, progress on stderr, bars, and the one JSON object on stdout that ends it. */
import { availableParallelism, cpus } from "node:os";

export type Bar = {
  name: string;
  /** What was measured; null where nothing could be. */
  value: number | null;
  unit: string;
  /** Such as `>= 0.92`; a bar is a number and which side of it is good. */
  want: string;
  /** null means unmeasured, which is never met. */
  holds: boolean | null;
};

export type BenchReport = {
  bench: string;
  conditions: Record<string, string | number | boolean | null>;
  figures: Record<string, unknown>;
  bars: Bar[];
};

export function atLeast(name: string, value: number | null, want: number, unit: string): Bar {
  return { name, value, unit, want: `>= ${want}`, holds: value === null ? null : value >= want };
}

export function atMost(name: string, value: number | null, want: number, unit: string): Bar {
  return { name, value, unit, want: `<= ${want}`, holds: value === null ? null : value <= want };
}

/** Prints the report as the last line of stdout; the exit code is 0 only if no bar is false. */
export function report({ bench, conditions, figures, bars }: BenchReport): void {
  process.stdout.write(`${JSON.stringify({ bench, conditions: { ...machine(), ...conditions }, figures, bars })}\n`);
  process.exitCode = bars.some(({ holds }) => holds === false) ? 1 : 0;
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function machine(): Record<string, string | number> {
  return { cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism(), node: process.version };
}

/** @throws Error on an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (low === undefined || high === undefined) throw new Error("median of no values");
  return (low + high) / 2;
}

/** Wilson's 95 % interval of a share (Wilson 1927), which stays inside 0..1 for small counts. */
export function wilson(successes: number, trials: number): [number, number] {
  if (trials === 0) return [0, 1];
  const z = 1.96;
  const share = successes / trials;
  const centre = share + (z * z) / (2 * trials);
  const spread = z * Math.sqrt((share * (1 - share)) / trials + (z * z) / (4 * trials * trials));
  const scale = 1 + (z * z) / trials;
  return [Math.max(0, (centre - spread) / scale), Math.min(1, (centre + spread) / scale)];
}

/** 0 of nothing. */
export function shareOf(hits: readonly boolean[]): number {
  return hits.length === 0 ? 0 : hits.filter(Boolean).length / hits.length;
}

export function shareFigure(hits: readonly boolean[]): { share: number; count: number; interval: [number, number] } {
  return { share: shareOf(hits), count: hits.length, interval: wilson(hits.filter(Boolean).length, hits.length) };
}

/** `3/4`, for people. */
export function tally(hits: readonly boolean[]): string {
  return `${hits.filter(Boolean).length}/${hits.length}`;
}

/** What is measured of nothing is null, which meets no bar. */
export function ifAny<Value, Figure>(values: readonly Value[], figure: (values: readonly Value[]) => Figure): Figure | null {
  return values.length === 0 ? null : figure(values);
}

export function secondsFigure(seconds: readonly number[]): { median: number; max: number; count: number } {
  return { median: median(seconds), max: Math.max(...seconds), count: seconds.length };
}
