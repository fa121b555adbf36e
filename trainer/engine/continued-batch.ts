/** Batches whose rows go on after kept prefixes: what precedes an answer is looked up, only the answer is computed. */
import { AppError } from "../../shared/errors.ts";
import { at } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { activatedFrom, type Invocation } from "../../shared/lora.ts";
import type { Adapter } from "./adapters.ts";
import { bucketOf, countPositions, type PositionBatch, positionFeeds, type PreparedBatch, roundUp } from "./batch.ts";
import type { EngineContext } from "./feeds.ts";
import { withoutPadding } from "./dense.ts";
import { packBatch, usedLengths } from "./packing.ts";
import { type PickPositions, type Share, countShares, shareOut } from "./shares.ts";

// Each size is a compiled graph; what is padded costs attention alone.
const TAIL_SIZES = [8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768] as const;
const SLOT_SIZES = [128, 256, 384, 512, 768] as const;
const SLOT_ROUND = 256; // beyond them
const ATTENDED = 640; // slots; attending to them takes as long as a token's matrices do
const MAX_TAIL = 192; // without an adapter, a row with more to compute than this saves little

export type PreparedShare<Batch extends PositionBatch> = PreparedBatch<Batch> & Pick<Share<Batch>, "indices">;

/**
 * What is run at once of a batch. Rows behind an invocation go on after kept prefixes: always under an adapter that has one, under the
 * bare base where it is worth while. Else rows of a base that is run by layer are packed where that makes fewer of them.
 * @throws {input/invalid} for a row without the adapter's invocation before its first position
 */
export async function prepareBatch<Batch extends PositionBatch>(
  { config, prefixes, byLayer, invocation: own, sessions }: EngineContext,
  { adapter, batch, pick }: { adapter: Adapter | undefined; batch: Batch; pick: PickPositions<Batch> },
): Promise<PreparedShare<Batch>[]> {
  const invocation = adapter === undefined ? own : adapter.invocation;
  const split = invocation === undefined ? undefined : splitBatch(batch, invocation);
  if (split === undefined && adapter?.invocation !== undefined)
    throw new AppError(
      "input/invalid",
      `tokens: the adapter's invocation ${adapter.invocation.join()} before the first position of every row expected`,
    );
  if (split === undefined || (adapter === undefined && split.batch.length > MAX_TAIL)) {
    const costs = new Array<number>(batch.rows).fill(1);
    return shareOut(batch, { count: countShares(batch, sessions), costs, pick }).map(({ batch: share, indices }) => {
      const packed = byLayer && packBatch(share, config);
      return { ...(packed ?? { batch: share, bucket: bucketOf(share), feeds: positionFeeds(share) }), indices };
    });
  }
  const { costs, ...ordered } = orderRows(split, config);
  const rows = await prefixes.of(ordered.prefixes);
  return shareOut(ordered.batch, { count: sessions.lanes, costs, pick }).map(({ batch: share, from, to, indices }, lane) => {
    const lengths = ordered.prefixes.slice(from, to).map(({ length }) => length);
    const slots = slotsFor(Math.max(...lengths), config);
    const dense = withoutPadding(share);
    const shape = { ...bucketOf(share), slots };
    const timeOf = (cell: number): bigint =>
      BigInt(Math.min(at(lengths, cell % share.rows) + Math.floor(cell / share.rows), config.contextTokens - 1));
    // A token that is in no cell has the time of the first: beyond the last, the rotary tables may end.
    const times = BigInt64Array.from(dense?.cells ?? share.tokens.keys(), (cell) => timeOf(cell % share.tokens.length));
    return {
      batch: dense?.batch ?? share,
      bucket: dense === undefined ? shape : { ...shape, tokens: dense.cells.length },
      feeds: {
        ...positionFeeds(dense?.batch ?? share),
        ...prefixes.feeds(rows.slice(from, to), { rows: share.rows, slots, lane }),
        ...(dense && {
          cells: { values: dense.cells, shape: [dense.cells.length] },
          held: { values: dense.held, shape: [dense.held.length] },
        }),
        times: { values: times, shape: [times.length, 1] },
      },
      indices,
    };
  });
}

function slotsFor(tokens: number, { contextTokens }: Pick<ModelConfig, "contextTokens">): number {
  return Math.min(contextTokens, SLOT_SIZES.find((size) => size >= tokens) ?? roundUp(tokens, SLOT_ROUND));
}

type Split<Batch extends PositionBatch> = { readonly prefixes: readonly Int32Array[]; readonly batch: Batch };

/**
 * The rows so that shares of neighbours need few slots and are alike: those with the longest prefixes first, and of those that need as
 * many slots the longest answers at both ends.
 */
function orderRows<Batch extends PositionBatch>(
  { prefixes, batch }: Split<Batch>,
  config: ModelConfig,
): Split<Batch> & { /** Of each row, in tokens through its matrices. */ readonly costs: readonly number[] } {
  const { length, tokens, positions, targets } = batch;
  const used = usedLengths(batch);
  const slots = prefixes.map((prefix) => slotsFor(prefix.length, config));
  const sorted = [...prefixes.keys()].toSorted((a, b) => at(slots, b) - at(slots, a) || at(used, b) - at(used, a) || a - b);
  const classes = [...Map.groupBy(sorted, (row) => String(at(slots, row))).values()];
  const order = classes.flatMap((rows) => [
    ...rows.filter((_, rank) => rank % 2 === 0),
    ...rows.filter((_, rank) => rank % 2 === 1).toReversed(),
  ]);
  const places = new Int32Array(order.length);
  order.forEach((row, place) => (places[row] = place));
  const moved = new Int32Array(tokens.length);
  order.forEach((row, place) => moved.set(tokens.subarray(row * length, (row + 1) * length), place * length));
  const count = countPositions({ positions, targets });
  const placed = positions.map((position, index) =>
    index < count ? at(places, Math.floor(position / length)) * length + (position % length) : 0,
  );
  return {
    prefixes: order.map((row) => at(prefixes, row)),
    batch: { ...batch, tokens: moved, positions: placed },
    costs: order.map((row) => at(used, row) + (length * at(slots, row)) / ATTENDED),
  };
}

/** Every row cut where its invocation activates; undefined where one has none before its first position. */
export function splitBatch<Batch extends PositionBatch>(batch: Batch, invocation: Invocation): Split<Batch> | undefined {
  const { rows, length, tokens, positions } = batch;
  const firsts = new Array<number>(rows).fill(Number.POSITIVE_INFINITY);
  const lasts = new Array<number>(rows).fill(-1);
  for (const position of positions) {
    if (position === 0) continue; // padding of N: nothing is predicted before an invocation
    const [row, time] = [Math.floor(position / length), position % length];
    firsts[row] = Math.min(at(firsts, row), time);
    lasts[row] = Math.max(at(lasts, row), time);
  }
  const starts = firsts.map((first, row) =>
    first === Number.POSITIVE_INFINITY ? 0 : activatedFrom(tokens.subarray(row * length, (row + 1) * length), invocation, first),
  );
  if (starts.includes(undefined)) return undefined;
  const from = starts.map((start) => start ?? 0);
  const longest = Math.max(...lasts.map((last, row) => last + 1 - at(from, row)), 1);
  const tail = TAIL_SIZES.find((size) => size >= longest) ?? length;
  const rest = new Int32Array(rows * tail);
  from.forEach((start, row) => rest.set(tokens.subarray(row * length + start, row * length + at(lasts, row) + 1), row * tail));
  const moved = positions.map((position) => {
    const [row, time] = [Math.floor(position / length), position % length];
    return position === 0 ? 0 : row * tail + time - at(from, row);
  });
  const prefixes = from.map((start, row) => tokens.slice(row * length, row * length + start));
  return { prefixes, batch: { ...batch, length: tail, tokens: rest, positions: moved } };
}
