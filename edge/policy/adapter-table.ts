/** A LoRA adapter → the kernel's adapter table, in one block: records first, then the matrices. */
import { AppError } from "../../shared/errors.ts";
import { type Adapter, linearNames, linearShape, type LoraPair } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import * as layout from "../kernel/assembly/layout.ts";
import type { Kernel } from "../kernel/kernel.ts";

/** As the kernel has room for (edge/kernel/assembly/index.ts). */
const MAX_RANK = 256;
/** What an isolate sets aside for adapters, and so the most that one may take. */
export const ADAPTER_BUDGET_BYTES = 20 * 1024 * 1024;

/** Why an adapter that fits the model could still not be run; undefined where it could. */
export function adapterFault(config: ModelConfig, adapter: Adapter): string | undefined {
  const { rank, alpha } = adapter;
  if (rank > MAX_RANK) return `adapter: rank of at most ${MAX_RANK} expected, got ${rank}`;
  if (!Number.isFinite(Math.fround(alpha / rank))) return `adapter: a finite alpha/rank expected, got ${alpha}/${rank}`;
  const bytes = adapterTableBytes(config, adapter);
  return bytes <= ADAPTER_BUDGET_BYTES ? undefined : `adapter of at most ${ADAPTER_BUDGET_BYTES} bytes expected, got ${bytes}`;
}

/** Bytes that `writeAdapterTable` fills. */
export function adapterTableBytes(config: ModelConfig, adapter: Adapter): number {
  const floats = adapter.pairs.reduce((sum, { a, b }) => sum + a.length + b.length, 0);
  return (recordWords(config) + floats) * 4;
}

/** Writes an adapter at `table`. @throws {policy/refused} for a rank above the kernel's room */
export function writeAdapterTable(kernel: Kernel, config: ModelConfig, { adapter, table }: { adapter: Adapter; table: number }): void {
  const maxRank = kernel.exports.maxRank();
  if (adapter.rank > maxRank) throw new AppError("policy/refused", `adapter: rank of at most ${maxRank} expected, got ${adapter.rank}`);
  const records = kernel.words(table, recordWords(config)).fill(0);
  const scales = kernel.floats(table, records.length);
  let at = table + records.length * 4;
  for (const pair of adapter.pairs) {
    const record = (pair.layer * layout.LINEAR_COUNT + linearNames().indexOf(pair.linear)) * layout.LORA_WORDS;
    records[record + layout.LORA_A] = at;
    records[record + layout.LORA_B] = at + pair.a.length * 4;
    records[record + layout.LORA_RANK] = adapter.rank;
    scales[record + layout.LORA_SCALE] = adapter.alpha / adapter.rank;
    kernel.floats(at, pair.a.length).set(pair.a);
    kernel.floats(at + pair.a.length * 4, pair.b.length).set(transpose(pair, adapter.rank, linearShape(config, pair.linear).out));
    at += (pair.a.length + pair.b.length) * 4;
  }
}

/** B [out, rank] → [rank, out], so that the kernel adds whole vectors of outputs. */
function transpose({ b }: LoraPair, rank: number, out: number): Float32Array {
  const transposed = new Float32Array(b.length);
  for (let row = 0; row < out; row += 1)
    for (let column = 0; column < rank; column += 1) transposed[column * out + row] = b[row * rank + column] ?? 0;
  return transposed;
}

function recordWords(config: ModelConfig): number {
  return config.layerCount * layout.LINEAR_COUNT * layout.LORA_WORDS;
}
