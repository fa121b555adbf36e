/** A batch without its padding: matrices are multiplied by the tokens that there are, and only attention lays them out in rows. */
import { type PositionBatch, roundUp } from "./batch.ts";
import { usedLengths } from "./packing.ts";

export type Dense<Batch extends PositionBatch> = {
  /** The tokens [M], row after row, as one row; the last of them may be none of the batch's. */
  readonly batch: Batch;
  /** [M] the time-major cell t·B + b of each token; B·T for one that is none. */
  readonly cells: Int32Array;
  /** [B·T] the token in each cell; M in padding. */
  readonly held: Int32Array;
};

const TOKENS_ROUND = 64; // few compiled graphs
const WORTH = 0.9; // of all cells; laying out more than that saves nothing

/** The batch without what follows each row's last position; undefined where that is little. */
export function withoutPadding<Batch extends PositionBatch>(batch: Batch): Dense<Batch> | undefined {
  const { rows, length, tokens, positions } = batch;
  const used = usedLengths(batch);
  const count = used.reduce((sum, each) => sum + each, 0);
  const size = roundUp(count, TOKENS_ROUND);
  if (size > WORTH * tokens.length) return undefined;
  const cells = new Int32Array(size).fill(tokens.length);
  const held = new Int32Array(tokens.length).fill(size);
  const own = new Int32Array(size);
  const starts: number[] = [];
  let filled = 0;
  used.forEach((many, row) => {
    starts.push(filled);
    for (let time = 0; time < many; time += 1) {
      const cell = time * rows + row;
      cells[filled] = cell;
      held[cell] = filled;
      own[filled] = tokens[row * length + time] ?? 0;
      filled += 1;
    }
  });
  const moved = positions.map((position) => (starts[Math.floor(position / length)] ?? 0) + (position % length));
  return { batch: { ...batch, rows: 1, length: size, tokens: own, positions: moved }, cells, held };
}
