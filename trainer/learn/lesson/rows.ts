/**
 * Rows packed into the few static shapes that the engine keeps graphs for. A row is a prompt and an answer; the hidden
 * state at the position before each answer token predicts that token.
 */
import { at } from "../../../shared/assert.ts";
import { AppError } from "../../../shared/errors.ts";
import { roundUp, type TokenBatch } from "../../engine/batch.ts";

export type Row = {
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
};

export type PackedRows = {
  readonly batch: TokenBatch;
  /** Which rows the batch holds, as indices into what was packed, in batch order. */
  readonly rowIndices: readonly number[];
  /** For each of those rows, where its answer's positions start in [N]. */
  readonly offsets: readonly number[];
};

/** T of a bucket, a graph or two each: close together where most rows are, and a third or a half more where few are. */
const LENGTHS = [
  ...[256, 512, 768, 1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384],
  ...[24_576, 32_768, 49_152, 65_536, 98_304, 131_072],
] as const;
const TOKENS_PER_BATCH = 16_384; // B·T, of which an activated adapter computes the answers alone
const SCORES_PER_BATCH = 2 ** 24; // B·T² of a head, which attention holds: one row of 4,096 tokens, or sixteen of 1,024

/** Where the settings say nothing: longer ones would take more memory than a batch of short ones. */
export const ROW_TOKENS = 4_096;
/** Tokens of the longest row of a base that is trained or scored; see `rowTokensOf`. */
export type RowLimit = { readonly rowTokens: number };

/** The longest bucket within the base's context and what the settings allow. */
export function rowTokensOf({ contextTokens }: { readonly contextTokens: number }, most = ROW_TOKENS): number {
  return LENGTHS.findLast((length) => length <= Math.min(contextTokens, most)) ?? at(LENGTHS, 0);
}
// What B and N are rounded up to: few compiled graphs.
const ROWS_ROUND = 2;
const POSITIONS_ROUND = 64;

/** Packs rows by length so that little is padding. Every answer position carries weight 1. @throws {train/lengths} for a row that no bucket holds. */
export function packRows(rows: readonly Row[]): PackedRows[] {
  const lengths = rows.map(bucketLength);
  const longestFirst = rows.map((_, index) => index).toSorted((a, b) => at(lengths, b) - at(lengths, a));
  const packed: PackedRows[] = [];
  for (let start = 0; start < rows.length;) {
    const length = at(lengths, at(longestFirst, start));
    const indices = longestFirst.slice(start, start + rowsPerBatch(length));
    packed.push(packBatch(rows, indices, length));
    start += indices.length;
  }
  return packed;
}

function rowsPerBatch(length: number): number {
  return Math.max(1, Math.floor(Math.min(TOKENS_PER_BATCH, SCORES_PER_BATCH / length) / length));
}

function packBatch(rows: readonly Row[], rowIndices: readonly number[], length: number): PackedRows {
  const chosen = rowIndices.map((index) => at(rows, index));
  const count = chosen.reduce((sum, { answer }) => sum + answer.length, 0);
  const height = chosen.length === 1 ? 1 : roundUp(chosen.length, ROWS_ROUND);
  const size = roundUp(count, POSITIONS_ROUND);
  const tokens = new Int32Array(height * length);
  const positions = new Int32Array(size);
  const targets = new Int32Array(size);
  const weights = new Float32Array(size);
  const offsets: number[] = [];
  let filled = 0;
  chosen.forEach(({ prompt, answer }, row) => {
    const start = row * length;
    tokens.set([...prompt, ...answer.slice(0, -1)], start);
    offsets.push(filled);
    answer.forEach((target, index) => {
      positions[filled] = start + prompt.length - 1 + index;
      targets[filled] = target;
      weights[filled] = 1;
      filled += 1;
    });
  });
  return { batch: { rows: height, length, tokens, positions, targets, weights }, rowIndices, offsets };
}

function bucketLength({ prompt, answer }: Row, index: number): number {
  if (prompt.length === 0 || answer.length === 0)
    throw new AppError("train/lengths", `row ${index}: a prompt and an answer expected, got ${prompt.length} and ${answer.length} tokens`);
  const needed = prompt.length + answer.length - 1;
  const length = LENGTHS.find((limit) => needed <= limit);
  if (length === undefined)
    throw new AppError("train/lengths", `row ${index}: at most ${at(LENGTHS, LENGTHS.length - 1)} tokens expected, got ${needed}`);
  return length;
}

/** Whether there is a bucket for a row, on whatever base. */
export function isPackable(promptTokens: number, answerTokens: number): boolean {
  return fits({ rowTokens: at(LENGTHS, LENGTHS.length - 1) }, promptTokens, answerTokens);
}

/** Why a row is left out that does not fit. */
export function tooLong({ rowTokens }: RowLimit, promptTokens: number, answerTokens: number): string {
  return `request and answer of at most ${rowTokens} tokens expected, got ${promptTokens} and ${answerTokens}`;
}

/** Whether a row of this many prompt and answer tokens is trained on. */
export function fits({ rowTokens }: RowLimit, promptTokens: number, answerTokens: number): boolean {
  return promptTokens + answerTokens - 1 <= rowTokens;
}
