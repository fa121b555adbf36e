/** Token batches as callers give them, and as graphs read them: time-major, so that attention needs no transposition. */
import { AppError } from "../../shared/errors.ts";
import { at } from "../../shared/assert.ts";
import type { Feeds } from "../onnx/session.ts";
import type { Bucket } from "../model/training.ts";

export type TokenBatch = {
  /** B */
  readonly rows: number;
  /** T */
  readonly length: number;
  /** [B·T] row by row, right-padded with 0. */
  readonly tokens: Int32Array;
  /** [N] flat index b·T + t of the position whose hidden state predicts. No position may carry weight twice. */
  readonly positions: Int32Array;
  /** [N] the token predicted there. */
  readonly targets: Int32Array;
  /** [N], 0 = padding. */
  readonly weights: Float32Array;
};

export function bucketOf({ rows, length, positions }: TokenBatch): Bucket {
  return { rows, length, positions: positions.length };
}

/** @throws {train/lengths | input/invalid} naming the array and value at fault. */
export function checkBatch(batch: TokenBatch, { vocabSize, maxPositions }: { vocabSize: number; maxPositions: number }): void {
  const { rows, length, tokens, positions, targets, weights } = batch;
  expectLength("tokens", tokens.length, rows * length);
  expectLength("targets", targets.length, positions.length);
  expectLength("weights", weights.length, positions.length);
  if (positions.length === 0) throw new AppError("train/lengths", "positions: one or more expected, got none");
  if (length > maxPositions) throw new AppError("input/invalid", `length at most ${maxPositions} expected, got ${length}`);
  expectBelow("tokens", tokens, vocabSize);
  expectBelow("targets", targets, vocabSize);
  expectBelow("positions", positions, rows * length);
  if (!weights.every(Number.isFinite)) throw new AppError("train/nonFinite", "weights: finite values expected");
  const weighted = positions.filter((_, index) => weights[index] !== 0);
  if (new Set(weighted).size !== weighted.length) throw new AppError("input/invalid", "positions: each weighted at most once expected, got a repeated one");
}

export function expectLength(name: string, got: number, expected: number): void {
  if (got !== expected) throw new AppError("train/lengths", `${name}: ${expected} values expected, got ${got}`, { details: { expected, got } });
}

export function expectBelow(name: string, values: Int32Array, limit: number): void {
  const index = values.findIndex((value) => value < 0 || value >= limit);
  if (index >= 0) throw new AppError("input/invalid", `${name}[${index}]: 0 to ${limit - 1} expected, got ${values[index]}`);
}

/** Tokens by time: element t·B + b is token t of row b. */
export function timeMajor({ rows, length, tokens }: TokenBatch): Int32Array {
  return tokens.map((_, index) => at(tokens, (index % rows) * length + Math.floor(index / rows)));
}

/** The feeds every batch graph reads, but for parameters and loss inputs. */
export function batchFeeds(batch: TokenBatch): Feeds {
  const { rows, length, positions, weights } = batch;
  const total = rows * length;
  const moved = positions.map((position) => (position % length) * rows + Math.floor(position / length));
  const inverse = new Int32Array(total).fill(positions.length);
  moved.forEach((position, index) => {
    if (weights[index] !== 0) inverse[position] = index;
  });
  return {
    tokens: { values: timeMajor(batch), shape: [total] },
    positions: { values: moved, shape: [positions.length] },
    inverse: { values: inverse, shape: [total] },
    targets: { values: batch.targets, shape: [positions.length, 1] },
    weights: { values: weights, shape: [positions.length] },
  };
}
