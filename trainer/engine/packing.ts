/** Several short sequences in one row: each sees itself alone and begins at time 0, as it would in a row of its own. */
import { at } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { bucketOf, type PositionBatch, positionFeeds, type PreparedBatch } from "./batch.ts";

/** Where a sequence lies in a packed batch. */
type Place = { readonly row: number; readonly start: number; readonly segment: number };

const PADDING = 0; // the segment of what belongs to no sequence

/** The batch in fewer rows of the same length, or undefined where that is not possible. What follows a row's last position is left out. */
export function packBatch<Batch extends PositionBatch>(
  batch: Batch,
  { kvHeadCount }: Pick<ModelConfig, "kvHeadCount">,
): PreparedBatch<Batch> | undefined {
  const lengths = usedLengths(batch);
  const { places, rows } = placeSequences(lengths, batch.length);
  if (rows >= batch.rows) return undefined;
  const { length } = batch;
  const tokens = new Int32Array(rows * length);
  const times = new BigInt64Array(rows * length); // time-major, as graphs read them
  const segments = new Float32Array(rows * kvHeadCount * length).fill(PADDING);
  lengths.forEach((used, sequence) => {
    const { row, start, segment } = at(places, sequence);
    tokens.set(batch.tokens.subarray(sequence * length, sequence * length + used), row * length + start);
    for (let time = 0; time < used; time += 1) times[(start + time) * rows + row] = BigInt(time);
    for (let head = row * kvHeadCount; head < (row + 1) * kvHeadCount; head += 1)
      segments.fill(segment, head * length + start, head * length + start + used);
  });
  const positions = batch.positions.map((position) => {
    const { row, start } = at(places, Math.floor(position / length));
    return row * length + start + (position % length);
  });
  const packed = { ...batch, rows, tokens, positions };
  return {
    batch: packed,
    bucket: { ...bucketOf(packed), packed: true },
    feeds: {
      ...positionFeeds(packed),
      times: { values: times, shape: [times.length, 1] },
      segments: { values: segments, shape: [rows * kvHeadCount, 1, length] },
    },
  };
}

/** Tokens of each row up to its last position; 0 for a row without one. */
export function usedLengths({ rows, length, positions }: Pick<PositionBatch, "rows" | "length" | "positions">): number[] {
  const lengths = new Array<number>(rows).fill(0);
  for (const position of positions) {
    const row = Math.floor(position / length);
    lengths[row] = Math.max(at(lengths, row), (position % length) + 1);
  }
  return lengths;
}

/** First fit, the longest first: at most 11/9 of the fewest rows, and 6/9 of one (Dósa 2007). */
function placeSequences(lengths: readonly number[], length: number): { places: Place[]; rows: number } {
  const order = [...lengths.keys()].toSorted((a, b) => at(lengths, b) - at(lengths, a) || a - b);
  const filled: { tokens: number; sequences: number }[] = [];
  const places: Place[] = [];
  for (const sequence of order) {
    const used = at(lengths, sequence);
    const fit = filled.findIndex(({ tokens }) => tokens + used <= length);
    const row = fit < 0 ? filled.push({ tokens: 0, sequences: 0 }) - 1 : fit;
    const into = at(filled, row);
    into.sequences += 1;
    places[sequence] = { row, start: into.tokens, segment: into.sequences };
    into.tokens += used;
  }
  return { places, rows: filled.length };
}
