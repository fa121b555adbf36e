/**
 * Trains an adapter on exported rows through the training port, whoever is behind it. The clipped objective against the log-probs that were
 * recorded, or where there are none against those of the parent, a mean over rows of the mean over each row's tokens.
 */
import { zipStrict } from "../../shared/assert.ts";
import type { PositionBatch } from "../engine/batch.ts";
import type { TrainingPort } from "../engine/training-port.ts";
import type { ExportRow } from "../export/rows.ts";
import { CLIP } from "../learn/update/objective.ts";

const ROWS_AT_ONCE = 64; // of one request

export type RowTraining = {
  readonly adapter: string;
  readonly steps: number;
  readonly lr: number;
  readonly onStep?: (step: { done: number; of: number; loss: number }) => void;
};

type Part = { readonly batch: PositionBatch; readonly rows: readonly ExportRow[]; readonly old: Float32Array };
type Port = Pick<TrainingPort, "score" | "accumulateAdapter" | "stepAdapter">;

/** Loss before each step; answers without a token have none. The adapter must be there, and be the parent's as long as no step was made. */
export async function trainRows(port: Port, all: readonly ExportRow[], { adapter, steps, lr, onStep }: RowTraining): Promise<number[]> {
  const rows = all.filter(({ response }) => response.length > 0);
  const parts: Part[] = [];
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
    const own = rows.slice(start, start + ROWS_AT_ONCE);
    const batch = batchOf(own);
    parts.push({ batch, rows: own, old: await oldLogProbs(port, own, { batch, adapter }) });
  }
  const losses: number[] = [];
  for (let step = 0; step < steps; step += 1) {
    let loss = 0;
    for (const part of parts) {
      const { losses: own } = await port.accumulateAdapter(adapter, { ...part.batch, policy: policyOf(part, rows.length) });
      loss += own.policy ?? 0;
    }
    await port.stepAdapter(adapter, { lr });
    losses.push(loss);
    onStep?.({ done: step + 1, of: steps, loss });
  }
  return losses;
}

/** Every response token of the rows as a position, row by row. */
function batchOf(rows: readonly ExportRow[]): PositionBatch {
  const length = Math.max(...rows.map(({ prompt, response }) => prompt.length + response.length - 1));
  const tokens = new Int32Array(rows.length * length);
  rows.forEach(({ prompt, response }, row) => tokens.set([...prompt, ...response.slice(0, -1)], row * length));
  const positions = rows.flatMap(({ prompt, response }, row) => response.map((_, index) => row * length + prompt.length - 1 + index));
  const targets = rows.flatMap(({ response }) => response);
  return { rows: rows.length, length, tokens, positions: Int32Array.from(positions), targets: Int32Array.from(targets) };
}

async function oldLogProbs(
  port: Pick<TrainingPort, "score">,
  rows: readonly ExportRow[],
  { batch, adapter }: { batch: PositionBatch; adapter: string },
): Promise<Float32Array> {
  // ln π is of temperature 1, as the loss takes it; at 0 that is what is recorded, at any other it is of another distribution.
  const recorded = rows.map(({ rolloutLogProbs, temperature }) => (temperature === 0 || temperature === 1 ? rolloutLogProbs : null));
  if (recorded.every((each) => each !== null)) return Float32Array.from(recorded.flat());
  const { logProbs } = await port.score(batch, { adapter });
  let start = 0;
  const known = zipStrict(rows, recorded).flatMap(([{ response }, own]) => {
    const scored = [...logProbs.subarray(start, (start += response.length))];
    return own ?? scored;
  });
  return Float32Array.from(known);
}

function policyOf({ rows, old }: Part, count: number) {
  const weights = rows.flatMap(({ mask }) => {
    const trained = mask.reduce<number>((sum, each) => sum + each, 0);
    return mask.map((each) => each / Math.max(1, trained) / count);
  });
  const advantages = rows.flatMap((row) => row.advantages);
  return { weights: Float32Array.from(weights), advantages: Float32Array.from(advantages), oldLogProbs: old, ...CLIP };
}
