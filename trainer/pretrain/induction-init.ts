/**
 * Starts a decoder with one circuit that copies (an induction head, Olsson et al., arXiv:2209.11895) in place, as
 * mimetic initialisation does for other patterns (Trockman & Kolter, arXiv:2305.09828). Left to chance, a small model
 * finds it only after many millions of tokens, and calls are mostly copying.
 *
 *   block 0, head 0   attends to the token before, by position alone, and writes what it was into a subspace U
 *   block 1, head 0   asks "where did a token like mine stand before?" in U, and writes what stood there
 *
 * Everything else stays random, and training is free to change all of it.
 */
import { at, invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { Random } from "../random.ts";

// Norm gains of queries and keys in the two blocks: scores reach GAIN² · √K, enough to single out one position.
const GAIN = 1.6;
// Share of each frequency in the previous-token score, ∝ θ^SHARPNESS; numerically best at this gain.
const SHARPNESS = 1.15;
// Sizes against an embedding of deviation σ: what every token has in common, and what the two heads write.
const COMMON = 0.6;
const WRITE_SHARE = 0.6;

type Matrix = { values: Float32Array; columns: number };

/** Changes `weights` (Hugging Face names) in place. @throws when the model has fewer than two blocks or no QK norm. */
export function plantInductionHead(weights: Map<string, Float32Array>, config: ModelConfig, seed: number): void {
  invariant(config.layerCount >= 2 && config.qkNorm, "an induction head needs two blocks with norms on queries and keys");
  const { hiddenSize: width, headDim } = config;
  const random = new Random(seed);
  const embedding = tensor(weights, "model.embed_tokens.weight");
  const deviation = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0) / embedding.length);
  const common = Float32Array.from({ length: width }, () => (random.next() < 0.5 ? -1 : 1));
  embedding.forEach((value, index) => (embedding[index] = value + COMMON * deviation * at(common, index % width)));

  const reads = orthonormalRows(headDim, width, random); // P
  const writes = orthonormalRows(headDim, width, random); // Uᵀ
  const matches = orthonormalRows(headDim, headDim, random); // R
  const copies = orthonormalRows(headDim, width, random);
  const block = (layer: number, name: string): Matrix => ({
    values: tensor(weights, `model.layers.${layer}.self_attn.${name}.weight`),
    columns: name === "o_proj" ? config.headCount * headDim : width,
  });
  for (const layer of [0, 1]) for (const norm of ["q_norm", "k_norm"]) block(layer, norm).values.fill(GAIN);

  // Rank one: whatever the token, its query and key point the same way, so only their rotation tells them apart.
  setRows(block(0, "q_proj"), headDim, (row, column) => (at(positionQuery(config), row) * at(common, column)) / Math.sqrt(width));
  setRows(block(0, "k_proj"), headDim, (row, column) => (at(positionKey(config), row) * at(common, column)) / Math.sqrt(width));
  // A normed input has length √width, of which a projection keeps √headDim.
  const scale = (WRITE_SHARE * deviation * Math.sqrt(width)) / Math.sqrt(headDim);
  setRows(block(0, "v_proj"), headDim, (row, column) => at(reads, row * width + column));
  setColumns(block(0, "o_proj"), width, headDim, (row, column) => scale * at(writes, column * width + row));

  // Fast rotations would scramble a match over a distance, so content is compared in the slow ones.
  const slow = (row: number): number => (row % (headDim / 2) >= headDim / 5 ? 1 : 0.05);
  const mixed = (basis: Float32Array) => (row: number, column: number) => {
    let sum = 0;
    for (let inner = 0; inner < headDim; inner += 1) sum += at(matches, row * headDim + inner) * at(basis, inner * width + column);
    return slow(row) * sum;
  };
  setRows(block(1, "q_proj"), headDim, mixed(reads));
  setRows(block(1, "k_proj"), headDim, mixed(writes));
  setRows(block(1, "v_proj"), headDim, (row, column) => at(copies, row * width + column));
  setColumns(block(1, "o_proj"), width, headDim, (row, column) => 2 * scale * at(copies, column * width + row));
}

/** The query of the previous-token head: amplitude ∝ √(θ^SHARPNESS) on the first of each rotated pair. */
function positionQuery({ headDim, ropeTheta }: ModelConfig): Float32Array {
  return Float32Array.from({ length: headDim }, (_, index) => (index < headDim / 2 ? amplitude(index, headDim, ropeTheta) : 0));
}

/** The same turned ahead by one position, so that query and key agree best at a distance of one. */
function positionKey({ headDim, ropeTheta }: ModelConfig): Float32Array {
  const half = headDim / 2;
  return Float32Array.from({ length: headDim }, (_, index) => {
    const angle = ropeTheta ** (-(index % half) / half);
    return amplitude(index % half, headDim, ropeTheta) * (index < half ? Math.cos(angle) : Math.sin(angle));
  });
}

function amplitude(pair: number, headDim: number, ropeTheta: number): number {
  return Math.sqrt(ropeTheta ** ((-pair / (headDim / 2)) * SHARPNESS));
}

/** [rows, columns] with orthonormal rows, by Gram–Schmidt over normal draws. */
function orthonormalRows(rows: number, columns: number, random: Random): Float32Array {
  const basis = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const own = basis.subarray(row * columns, (row + 1) * columns);
    own.forEach((_, index) => (own[index] = random.normal()));
    for (let earlier = 0; earlier < row; earlier += 1) {
      const other = basis.subarray(earlier * columns, (earlier + 1) * columns);
      const overlap = own.reduce((sum, value, index) => sum + value * at(other, index), 0);
      own.forEach((value, index) => (own[index] = value - overlap * at(other, index)));
    }
    const length = Math.sqrt(own.reduce((sum, value) => sum + value * value, 0));
    own.forEach((value, index) => (own[index] = value / length));
  }
  return basis;
}

function setRows({ values, columns }: Matrix, rows: number, value: (row: number, column: number) => number): void {
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) values[row * columns + column] = value(row, column);
}

function setColumns({ values, columns }: Matrix, rows: number, count: number, value: (row: number, column: number) => number): void {
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < count; column += 1) values[row * columns + column] = value(row, column);
}

function tensor(weights: Map<string, Float32Array>, name: string): Float32Array {
  const values = weights.get(name);
  invariant(values !== undefined, `a model with ${name}`);
  return values;
}
