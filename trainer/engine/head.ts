/** The head over chunks of the positions that predict: no more than a chunk's logits are ever there at once. */
import { invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { TermOptions } from "../loss/terms.ts";
import { buildHeadScoring, buildHeadTraining, HIDDEN } from "../model/layered.ts";
import { EMBEDDING, FINAL_NORM, HEAD } from "../model/parameters.ts";
import { gradientOf } from "../model/training.ts";
import type { Feeds, Tensor, TensorValues } from "../onnx/session.ts";
import { type EngineContext, tensorFeeds } from "./feeds.ts";

const ROUND = 16; // few compiled graphs

/** Rows [N, D] of what the last layer gave, and everything else a position has, [N, ·] each. */
export type HeadRows = { readonly rows: Float32Array; readonly feeds: Feeds };

/** Outputs of `buildHeadTraining` over all positions. */
export function trainHead(context: HeadContext, given: HeadRows, terms: TermOptions): Promise<Record<string, Float32Array>> {
  const { config, compute } = context;
  return overChunks(context, given, (count) => ({
    key: `head ${count} ${JSON.stringify(terms)}`,
    build: () => buildHeadTraining(config, { count, compute }, terms),
  }));
}

/** Outputs of `buildHeadScoring` over all positions. */
export function scoreHead(context: HeadContext, given: HeadRows, { full }: { full: boolean }): Promise<Record<string, Float32Array>> {
  const { config, compute, sessions } = context;
  // Where the head is resident one graph does for both: what is not wanted does not cross.
  const all = full || sessions.residents !== undefined;
  return overChunks(context, given, (count) => ({
    key: `head scores ${count} ${all}`,
    build: () => buildHeadScoring(config, { count, compute }, { full: all }),
    wanted: ["logProbs", "argmax", ...(full ? ["full"] : [])],
  }));
}

/** ln π [N, V] after every row, of a few. */
export async function logProbsAfter(context: HeadContext, rows: Float32Array): Promise<Float32Array> {
  const count = rows.length / context.config.hiddenSize;
  const feeds = { targets: { values: new Int32Array(count), shape: [count, 1] } };
  const { full } = await scoreHead(context, { rows, feeds }, { full: true });
  invariant(full !== undefined, "whole distributions expected");
  return full;
}

export type HeadContext = Pick<EngineContext, "config" | "base" | "sessions" | "byLayer" | "compute">;

type Graph = {
  readonly key: string;
  readonly build: () => ReturnType<typeof buildHeadTraining>;
  /** Outputs; by default all. */
  readonly wanted?: readonly string[];
};

async function overChunks(
  { config, base, sessions, byLayer }: HeadContext,
  { rows, feeds }: HeadRows,
  graphOf: (count: number) => Graph,
): Promise<Record<string, Float32Array>> {
  const total = rows.length / config.hiddenSize;
  const size = chunkSize(config, { total, bytes: byLayer?.logitBytes ?? Infinity });
  const run = runnerOf({ base, sessions }, graphOf(size));
  const all = { ...feeds, [HIDDEN]: { values: rows, shape: [total, config.hiddenSize] } };
  const joined: Record<string, Float32Array> = {};
  for (let start = 0; start < total; start += size) {
    const range = { start, end: Math.min(total, start + size), size };
    const own = Object.fromEntries(Object.entries(all).map(([name, tensor]) => [name, chunkOf(tensor, range)]));
    for (const [name, values] of Object.entries(await run(own))) {
      const width = values.length / size;
      joined[name] ??= new Float32Array(total * width);
      joined[name].set(values.subarray(0, (range.end - start) * width), start * width);
    }
  }
  return joined;
}

type Runner = (feeds: Feeds) => Promise<Record<string, Float32Array>>;

/** The graph over the head's own tensors, which are found once for all chunks. */
function runnerOf({ base, sessions }: Pick<HeadContext, "base" | "sessions">, { key, build, wanted }: Graph): Runner {
  const { residents } = sessions;
  if (residents === undefined) {
    const weights = tensorFeeds(base.buffer, headName);
    return (feeds) => sessions.run(key, build, { ...weights, ...feeds });
  }
  const resident = { id: "head", tensors: [base.stored(headName)] };
  return (feeds) => residents.run(key, () => [build()], { ...(wanted && { wanted }), feeds, resident });
}

function headName(name: string): string | undefined {
  return [EMBEDDING, FINAL_NORM, HEAD].includes(name) ? name : undefined;
}

/** Chunks of one size, as few as the bytes allow; a few rows, as an answer's next tokens are, as many as they are. */
function chunkSize({ vocabSize }: ModelConfig, { total, bytes }: { total: number; bytes: number }): number {
  if (total < ROUND && Number.isInteger(Math.log2(total))) return total;
  const most = Math.max(ROUND, Math.floor(bytes / (4 * vocabSize * ROUND)) * ROUND);
  return Math.ceil(total / Math.ceil(total / most) / ROUND) * ROUND;
}

type Range = { readonly start: number; readonly end: number; readonly size: number };

/** Rows [start, end) of a tensor, followed by zeros: a position of weight zero. */
function chunkOf({ values, shape }: Tensor, { start, end, size }: Range): Tensor {
  const width = values.length / (shape[0] ?? 1);
  const part = values.subarray(start * width, end * width);
  return { values: end - start === size ? part : padded(part, size * width), shape: [size, ...shape.slice(1)] };
}

function padded(part: TensorValues, length: number): TensorValues {
  invariant(!(part instanceof BigInt64Array), "per-position values of 32 bits expected");
  const whole = part instanceof Int32Array ? new Int32Array(length) : new Float32Array(length);
  whole.set(part);
  return whole;
}

/** The rows of `hidden` [M, D] at a batch's `positions`, with its feeds that are per position. */
export function headRows(hidden: Float32Array, feeds: Feeds, width: number): HeadRows {
  const places = feeds["positions"]?.values;
  invariant(places instanceof Int32Array, "positions expected");
  const rows = new Float32Array(places.length * width);
  places.forEach((place, row) => rows.set(hidden.subarray(place * width, (place + 1) * width), row * width));
  const own = Object.entries(feeds).filter(([name]) => name === "targets" || name.includes("."));
  return { rows, feeds: Object.fromEntries(own) };
}

/** The gradient of `hidden` [M, D] from the head's outputs: zero but in rows that a position with weight was taken from. */
export function spreadRows(outputs: Record<string, Float32Array>, inverse: Int32Array, width: number): Float32Array {
  const rows = outputs[gradientOf(HIDDEN)];
  invariant(rows !== undefined, "the head's gradient expected");
  const spread = new Float32Array(inverse.length * width);
  const none = rows.length / width;
  inverse.forEach((row, place) => {
    if (row !== none) spread.set(rows.subarray(row * width, (row + 1) * width), place * width);
  });
  return spread;
}
