/** Token batches as callers give them, and as graphs read them: time-major, so that attention needs no transposition, where they hold padding (dense.ts). */
import { AppError } from "../../shared/errors.ts";
import { at } from "../../shared/assert.ts";
import type { Feeds } from "../onnx/session.ts";
import type { Bucket } from "../model/forward.ts";

/** Token sequences and the positions in them that predict something. */
export type PositionBatch = {
  /** B */
  readonly rows: number;
  /** T */
  readonly length: number;
  /** [B·T] row by row, right-padded with 0. */
  readonly tokens: Int32Array;
  /** [N] flat index b·T + t of the position whose hidden state predicts. */
  readonly positions: Int32Array;
  /** [N] the token predicted there. */
  readonly targets: Int32Array;
};

export type TokenBatch = PositionBatch & {
  /** [N], 0 = padding. No position may carry weight twice. */
  readonly weights: Float32Array;
};

/** A batch as its graph reads it. */
export type PreparedBatch<Batch extends PositionBatch> = {
  readonly batch: Batch;
  readonly bucket: Bucket;
  /** All but parameters and loss inputs. */
  readonly feeds: Feeds;
};

export function bucketOf({ rows, length, positions }: PositionBatch): Bucket {
  return { rows, length, positions: positions.length };
}

/** The multiple of `unit` that holds `value`: few sizes make few compiled graphs. */
export function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/** Positions up to the last that names anything but the batch's first token, or has a target: what follows is padding. */
export function countPositions({ positions, targets }: Pick<PositionBatch, "positions" | "targets">): number {
  return 1 + positions.findLastIndex((position, index) => position !== 0 || targets[index] !== 0);
}

/** @throws {train/lengths | input/invalid} naming the array and value at fault. */
export function checkPositions(batch: PositionBatch, { vocabSize, contextTokens }: { vocabSize: number; contextTokens: number }): void {
  const { rows, length, tokens, positions, targets } = batch;
  expectLength("tokens", tokens.length, rows * length);
  expectLength("targets", targets.length, positions.length);
  if (positions.length === 0) throw new AppError("train/lengths", "positions: one or more expected, got none");
  if (length > contextTokens) throw new AppError("input/invalid", `length at most ${contextTokens} expected, got ${length}`);
  expectBelow("tokens", tokens, vocabSize);
  expectBelow("targets", targets, vocabSize);
  expectBelow("positions", positions, rows * length);
}

/** Where in `positions` each row of the batch is named with a weight: time-major [T·B], N where it is not. @throws {input/invalid} for one named twice. */
export function inversePositions({ rows, length, positions }: PositionBatch, weights: Float32Array): Int32Array {
  const inverse = new Int32Array(rows * length).fill(positions.length);
  timeMajorPositions({ rows, length, positions }).forEach((row, index) => {
    if (weights[index] === 0) return;
    if (inverse[row] !== positions.length)
      throw new AppError("input/invalid", `positions[${index}]: a position weighted once expected, got ${positions[index]} again`);
    inverse[row] = index;
  });
  return inverse;
}

function timeMajorPositions({ rows, length, positions }: Pick<PositionBatch, "rows" | "length" | "positions">): Int32Array {
  return positions.map((position) => (position % length) * rows + Math.floor(position / length));
}

export function expectLength(name: string, got: number, expected: number): void {
  if (got !== expected)
    throw new AppError("train/lengths", `${name}: ${expected} values expected, got ${got}`, { details: { expected, got } });
}

/** @throws {train/nonFinite} */
export function expectFinite(name: string, values: Float32Array): void {
  // A plain loop: whole distributions are millions of values, and a call per value costs seconds of an update.
  for (let index = 0; index < values.length; index += 1)
    if (!Number.isFinite(values[index]))
      throw new AppError("train/nonFinite", `${name}[${index}]: a finite value expected, got ${values[index]}`);
}

export function expectBelow(name: string, values: Int32Array, limit: number): void {
  const index = values.findIndex((value) => value < 0 || value >= limit);
  if (index >= 0) throw new AppError("input/invalid", `${name}[${index}]: 0 to ${limit - 1} expected, got ${values[index]}`);
}

/** Tokens by time: element t·B + b is token t of row b. */
export function timeMajor({ rows, length, tokens }: PositionBatch): Int32Array {
  return tokens.map((_, index) => at(tokens, (index % rows) * length + Math.floor(index / rows)));
}

/** The feeds every batch graph reads, but for parameters and loss inputs. */
export function positionFeeds(batch: PositionBatch): Feeds {
  const count = batch.positions.length;
  return {
    tokens: { values: timeMajor(batch), shape: [batch.tokens.length] },
    positions: { values: timeMajorPositions(batch), shape: [count] },
    targets: { values: batch.targets, shape: [count, 1] },
  };
}
