/** Log-probabilities of a batch under the base or an adapter over it, without gradients. */
import { AppError } from "../../shared/errors.ts";
import { buildScoring } from "../model/scoring.ts";
import type { Adapter } from "./adapters.ts";
import { type PositionBatch, type PreparedBatch, checkPositions } from "./batch.ts";
import { prepareBatch } from "./continued-batch.ts";
import { type EngineContext, adapterKey, tensorFeeds } from "./feeds.ts";
import { headRows, scoreHead } from "./head.ts";
import { forwardLayers } from "./layers.ts";
import { joinOutputs, together } from "./shares.ts";

export type Candidates = { /** [N·k] most probable first */ readonly tokens: Int32Array; /** [N·k] */ readonly logProbs: Float32Array };

export type Scores = {
  /** [N] ln π of the targets */
  readonly logProbs: Float32Array;
  /** [N] the most probable token */
  readonly argmax: Int32Array;
  /** [N·V] ln π */
  readonly full?: Float32Array;
  readonly topK?: Candidates;
};

export type ScoreOptions = { readonly fullLogProbs?: boolean; readonly topK?: number };

export async function scoreBatch(
  context: EngineContext,
  batch: PositionBatch,
  { adapter, fullLogProbs = false, topK }: ScoreOptions & { adapter?: Adapter | undefined },
): Promise<Scores> {
  const { config } = context;
  checkPositions(batch, config);
  if (topK !== undefined && (topK < 1 || topK > config.vocabSize))
    throw new AppError("input/invalid", `topK: 1 to ${config.vocabSize} expected, got ${topK}`);
  const full = fullLogProbs || topK !== undefined;
  const shares = await prepareBatch(context, { adapter, batch, pick: () => ({}) });
  const run = context.byLayer ? runByLayer : runWhole;
  const outputs = await together(shares.map((share) => run(context, share, { adapter, full })));
  const joined = (name: string): Float32Array => joinOutputs(shares, outputs, { name, total: batch.positions.length });
  const [logProbs, argmax, all] = [joined("logProbs"), joined("argmax"), full ? joined("full") : undefined];
  return {
    logProbs,
    argmax: Int32Array.from(argmax),
    ...(fullLogProbs && all ? { full: all } : {}),
    ...(topK !== undefined && all ? { topK: topCandidates(all, { vocabSize: config.vocabSize, count: topK }) } : {}),
  };
}

type Run = { readonly adapter: Adapter | undefined; readonly full: boolean };

/** Outputs of `buildScoring`. */
function runWhole(
  { config, base, sessions }: EngineContext,
  { bucket, feeds }: PreparedBatch<PositionBatch>,
  { adapter, full }: Run,
): Promise<Record<string, Float32Array>> {
  const shape = adapter?.shape;
  return sessions.run(
    `score ${Object.values(bucket)} ${full} ${adapterKey(shape)}`,
    () => buildScoring(config, bucket, { adapter: shape, full }),
    { ...tensorFeeds(base.buffer), ...(adapter ? tensorFeeds(adapter.parameters) : {}), ...feeds },
  );
}

async function runByLayer(
  context: EngineContext,
  { bucket, feeds }: PreparedBatch<PositionBatch>,
  { adapter, full }: Run,
): Promise<Record<string, Float32Array>> {
  const { hidden } = await forwardLayers({ context, bucket, feeds, adapter });
  return scoreHead(context, headRows(hidden, feeds, context.config.hiddenSize), { full });
}

/** The `count` most probable tokens of every row of `all` [N, V]; among equals the smaller token first. */
export function topCandidates(all: Float32Array, { vocabSize, count }: { vocabSize: number; count: number }): Candidates {
  const rows = all.length / vocabSize;
  const tokens = new Int32Array(rows * count);
  const logProbs = new Float32Array(rows * count).fill(-Infinity);
  for (let row = 0; row < rows; row += 1) {
    const kept = { tokens: tokens.subarray(row * count, (row + 1) * count), logProbs: logProbs.subarray(row * count, (row + 1) * count) };
    for (let token = 0; token < vocabSize; token += 1) insert(kept, token, all[row * vocabSize + token] ?? -Infinity);
  }
  return { tokens, logProbs };
}

/** Keeps `logProbs` in falling order. */
function insert({ tokens, logProbs }: Candidates, token: number, logProb: number): void {
  let place = logProbs.length;
  while (place > 0 && logProb > (logProbs[place - 1] ?? 0)) place -= 1;
  if (place === logProbs.length) return;
  logProbs.copyWithin(place + 1, place);
  tokens.copyWithin(place + 1, place);
  logProbs[place] = logProb;
  tokens[place] = token;
}
