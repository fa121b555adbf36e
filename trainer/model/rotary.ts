/** Rotary positions: how fast each pair of a head's values turns, and the tables that graphs look angles up in. */
import type { Graph, Node } from "../autodiff/graph.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { Recent } from "../../shared/recent.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { RopeScaling } from "../../shared/rope-scaling.ts";

type Scaling<Kind extends RopeScaling["kind"]> = Extract<RopeScaling, { kind: Kind }>;
type Sizes = Pick<ModelConfig, "headDim" | "ropeTheta">;

/** [K/2] radians per position of each pair, θ^(−2i/K) (RoPE, arXiv:2104.09864) where positions are not stretched. */
export function rotaryFrequencies({ headDim, ropeTheta, ropeScaling }: ModelConfig): Float64Array {
  const plain = Float64Array.from({ length: headDim / 2 }, (_, pair) => ropeTheta ** ((-2 * pair) / headDim));
  if (ropeScaling === undefined) return plain;
  if (ropeScaling.kind === "llama3") return plain.map((frequency) => llama3Frequency(frequency, ropeScaling));
  const kept = yarnShares({ headDim, ropeTheta }, ropeScaling);
  return plain.map((frequency, pair) => between(frequency / ropeScaling.factor, frequency, kept[pair] ?? 0));
}

/** Tables [positions, K/2] of cosines and sines, for positions from 0. */
export function rotaryTables(graph: Graph, config: ModelConfig, positions: number): { cos: Node; sin: Node } {
  const { headDim, ropeTheta, ropeScaling } = config;
  const half = headDim / 2;
  const key = canonicalJson({ headDim, ropeTheta, ropeScaling: ropeScaling ?? null });
  const known = knownTables.get(key);
  const tables = known !== undefined && known.cos.length >= positions * half ? known : computeTables(config, positions);
  knownTables.set(key, tables);
  const table = (values: Float32Array): Node => graph.constant(values.subarray(0, positions * half), [positions, half]);
  return { cos: table(tables.cos), sin: table(tables.sin) };
}

type Tables = { readonly cos: Float32Array; readonly sin: Float32Array };

// Every graph of a model reads the beginning of the same two, also those of one layer, which have a configuration of their own.
const knownTables = new Recent<string, Tables>(2);

function computeTables(config: ModelConfig, positions: number): Tables {
  const frequencies = rotaryFrequencies(config);
  const half = frequencies.length;
  const length = config.ropeScaling?.kind === "yarn" ? config.ropeScaling.attentionFactor : 1;
  const angles = Float64Array.from(
    { length: positions * half },
    (_, index) => Math.floor(index / half) * (frequencies[index % half] ?? Number.NaN),
  );
  const table = (turn: (angle: number) => number): Float32Array => Float32Array.from(angles, (angle) => length * turn(angle));
  return { cos: table(Math.cos), sin: table(Math.sin) };
}

/** Llama 3.1 (arXiv:2407.21783 §3.4.2): between the two bounds the share left as it was grows with the turns in the original context. */
function llama3Frequency(frequency: number, scaling: Scaling<"llama3">): number {
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalTokens } = scaling;
  const turns = (originalTokens * frequency) / (2 * Math.PI);
  return between(frequency / factor, frequency, clampToUnit((turns - low) / (high - low)));
}

/** Share of its own frequency that each pair keeps: YaRN's ramp over pairs (arXiv:2309.00071 §3.2). */
function yarnShares({ headDim, ropeTheta }: Sizes, { originalTokens, betaFast, betaSlow, truncate }: Scaling<"yarn">): Float64Array {
  // The pair, counted as a real number, that turns so many times over the original context.
  const pairOf = (turns: number): number => (headDim * Math.log(originalTokens / (turns * 2 * Math.PI))) / (2 * Math.log(ropeTheta));
  const [fast, slow] = [pairOf(betaFast), pairOf(betaSlow)];
  const first = Math.max(truncate ? Math.floor(fast) : fast, 0);
  const last = Math.min(truncate ? Math.ceil(slow) : slow, headDim - 1);
  const width = last === first ? 0.001 : last - first; // as the published code has it where both bounds fall together
  return Float64Array.from({ length: headDim / 2 }, (_, pair) => 1 - clampToUnit((pair - first) / width));
}

function between(from: number, to: number, share: number): number {
  return from + (to - from) * share;
}

function clampToUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}
