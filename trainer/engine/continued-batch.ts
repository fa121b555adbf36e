/** Batches whose rows go on after kept prefixes: what precedes an answer is looked up, only the answer is computed. */
import { AppError } from "../../shared/errors.ts";
import { at } from "../../shared/assert.ts";
import { activatedFrom, type Invocation } from "../../shared/lora.ts";
import type { Adapter } from "./adapters.ts";
import { bucketOf, type PositionBatch, positionFeeds, type PreparedBatch } from "./batch.ts";
import type { EngineContext } from "./feeds.ts";
import { packBatch } from "./packing.ts";
import { type PickPositions, type Share, shareOut } from "./shares.ts";

// Each size is a compiled graph, which costs less than the empty tokens of a few runs.
const TAIL_SIZES = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 128, 192, 256, 384, 512, 768] as const;
const SLOT_ROUND = 128;
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
  const count = sessions.lanes;
  const invocation = adapter === undefined ? own : adapter.invocation;
  const split = invocation === undefined ? undefined : splitBatch(batch, invocation);
  if (split === undefined && adapter?.invocation !== undefined)
    throw new AppError(
      "input/invalid",
      `tokens: the adapter's invocation ${adapter.invocation.join()} before the first position of every row expected`,
    );
  if (split === undefined || (adapter === undefined && split.batch.length > MAX_TAIL)) {
    const costs = new Array<number>(batch.rows).fill(1);
    return shareOut(batch, { count, costs, pick }).map(({ batch: share, indices }) => {
      const packed = byLayer && packBatch(share, config);
      return { ...(packed ?? { batch: share, bucket: bucketOf(share), feeds: positionFeeds(share) }), indices };
    });
  }
  const rows = await prefixes.of(split.prefixes);
  const costs = split.prefixes.map((prefix) => 1 + prefix.length / ATTENDED);
  return shareOut(split.batch, { count, costs, pick }).map(({ batch: share, from, to, indices }, lane) => {
    const lengths = split.prefixes.slice(from, to).map(({ length }) => length);
    const slots = Math.min(config.contextTokens, Math.ceil(Math.max(...lengths, 1) / SLOT_ROUND) * SLOT_ROUND);
    const times = new BigInt64Array(share.tokens.length);
    lengths.forEach((length, row) => {
      for (let step = 0; step < share.length; step += 1)
        times[step * share.rows + row] = BigInt(Math.min(length + step, config.contextTokens - 1));
    });
    return {
      batch: share,
      bucket: { ...bucketOf(share), slots },
      feeds: {
        ...positionFeeds(share),
        ...prefixes.feeds(rows.slice(from, to), { rows: share.rows, slots, lane }),
        times: { values: times, shape: [times.length, 1] },
      },
      indices,
    };
  });
}

/** Every row cut where its invocation activates; undefined where one has none before its first position. */
export function splitBatch<Batch extends PositionBatch>(
  batch: Batch,
  invocation: Invocation,
): { readonly prefixes: Int32Array[]; readonly batch: Batch } | undefined {
  const { rows, length, tokens, positions } = batch;
  const firsts = new Array<number>(rows).fill(Number.POSITIVE_INFINITY);
  const lasts = new Array<number>(rows).fill(-1);
  for (const position of positions) {
    const [row, time] = [Math.floor(position / length), position % length];
    if (time === 0) continue; // padding of N: nothing is predicted before an invocation
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
    return time === 0 ? 0 : row * tail + time - at(from, row);
  });
  const prefixes = from.map((start, row) => tokens.slice(row * length, row * length + start));
  return { prefixes, batch: { ...batch, length: tail, tokens: rest, positions: moved } };
}
