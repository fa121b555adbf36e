/** A batch shared out between what is run at once: each share has some of its rows, and the positions that lie in them. */
import { at, invariant, zipStrict } from "../../shared/assert.ts";
import { countPositions, type PositionBatch, roundUp } from "./batch.ts";

/** Positions of a share, by their index in the whole batch's N. */
export type Indices = Int32Array;
/** The positions of a share, which become `size`: the rest weighs nothing. */
export type PickedPositions = { readonly indices: Indices; readonly size: number };
/** The fields of a batch that have a value per position, for the positions of a share. */
export type PickPositions<Batch> = (batch: Batch, positions: PickedPositions) => Partial<Batch>;
export type Share<Batch> = { readonly batch: Batch; readonly from: number; readonly to: number; readonly indices: Indices };

// Each size is a compiled graph.
const POSITIONS_ROUND = 128;
// Memory grows with what is run at once, and beyond this nothing gets faster: 8 × 256 tokens on two lanes take as long in four shares as in two.
const SHARE_TOKENS = 512;

/** Into how many shares whole rows go: one for each lane, and more where those would be large; on one lane they stay together. */
export function countShares({ rows, length }: Pick<PositionBatch, "rows" | "length">, { lanes }: { lanes: number }): number {
  return lanes === 1 ? 1 : Math.max(lanes, Math.ceil((rows * length) / SHARE_TOKENS));
}

/** At most `count` shares of neighbouring rows, which cost about the same. Positions that are padding are in no share. */
export function shareOut<Batch extends PositionBatch>(
  batch: Batch,
  { count, costs, pick }: { count: number; costs: readonly number[]; pick: PickPositions<Batch> },
): Share<Batch>[] {
  const every = { batch, from: 0, to: batch.rows, indices: Int32Array.from(batch.positions, (_, index) => index) };
  if (count === 1 || batch.rows === 1) return [every];
  const { length, tokens, positions, targets } = batch;
  const last = countPositions(batch) - 1;
  return cutRows(costs, count).map(([from, to]) => {
    const inside = (position: number, index: number): boolean =>
      position >= from * length && position < to * length && index <= Math.max(last, 0);
    const indices = every.indices.filter((index) => inside(at(positions, index), index));
    const size = roundUp(Math.max(1, indices.length), POSITIONS_ROUND);
    const placed = new Int32Array(size);
    indices.forEach((index, place) => (placed[place] = at(positions, index) - from * length));
    return {
      batch: {
        ...batch,
        ...pick(batch, { indices, size }),
        rows: to - from,
        tokens: tokens.subarray(from * length, to * length),
        positions: placed,
        targets: pickRows(targets, indices, { width: 1, size }),
      },
      from,
      to,
      indices,
    };
  });
}

/** [from, to) of each share: neighbours, cut where the costs before come nearest to its part of them all; none is empty. */
function cutRows(costs: readonly number[], count: number): [number, number][] {
  const shares = Math.min(count, costs.length);
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const cuts = [0];
  let [row, before] = [0, 0];
  for (let share = 1; share < shares; share += 1) {
    const wanted = (total * share) / shares;
    const last = costs.length - (shares - share);
    do {
      before += at(costs, row);
      row += 1;
    } while (row < last && before + at(costs, row) / 2 <= wanted);
    cuts.push(row);
  }
  return cuts.map((from, share) => [from, cuts[share + 1] ?? costs.length]);
}

/** Rows `indices` of an array [N, width] as [size, width], followed by zeros. */
export function pickRows<Values extends Float32Array | Int32Array>(
  values: Values,
  indices: Indices,
  { width, size }: { width: number; size: number },
): Values {
  const picked = values instanceof Int32Array ? new Int32Array(size * width) : new Float32Array(size * width);
  return copyRows(values, indices, { width, into: picked as Values });
}

/** The same in memory that may hold anything: as many rows as there is room for. */
export function copyRows<Values extends Float32Array | Int32Array>(
  values: Values,
  indices: Indices,
  { width, into }: { width: number; into: Values },
): Values {
  indices.forEach((index, place) => into.set(values.subarray(index * width, (index + 1) * width), place * width));
  into.fill(0, indices.length * width);
  return into;
}

/** One output of all shares for every position of the batch: [total, width], zero where no share has the position. */
export function joinOutputs(
  shares: readonly { readonly indices: Indices; readonly batch: PositionBatch }[],
  outputs: readonly Readonly<Record<string, Float32Array>>[],
  { name, total }: { name: string; total: number },
): Float32Array {
  const parts = zipStrict(shares, outputs).map(([{ indices, batch }, { [name]: values }]) => {
    invariant(values !== undefined, `${name} expected`);
    return { indices, values, width: values.length / batch.positions.length };
  });
  const { indices: firsts, values: whole, width } = at(parts, 0);
  if (parts.length === 1 && firsts.length === total) return whole;
  const joined = new Float32Array(total * width);
  for (const { indices, values } of parts)
    indices.forEach((index, place) => joined.set(values.subarray(place * width, (place + 1) * width), index * width));
  return joined;
}

/** What runs at once, awaited to the last: nothing goes on in memory that the next call fills. @throws what the first of them threw, in their order */
export async function together<Result>(runs: readonly Promise<Result>[]): Promise<Result[]> {
  const settled = await Promise.allSettled(runs);
  return settled.map((each) => {
    if (each.status === "rejected") throw each.reason;
    return each.value;
  });
}
