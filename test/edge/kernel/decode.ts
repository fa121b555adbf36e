/** Runs tokens through the kernel outside any cache: what tests of the kernel's numbers need. */
import { readFileSync } from "node:fs";
import { createKernel } from "../../../edge/kernel/kernel.ts";
import { adapterTableBytes, writeAdapterTable } from "../../../edge/policy/adapter-table.ts";
import { Decoder } from "../../../edge/policy/decoder.ts";
import { loadWeights } from "../../../edge/policy/weights.ts";
import type { Adapter } from "../../../shared/lora.ts";
import type { ModelConfig } from "../../../shared/model-config.ts";

export const kernelModule = new WebAssembly.Module(readFileSync(new URL("../../../edge/kernel/kernel.wasm", import.meta.url)));

export function createDecoder(config: ModelConfig, checkpoint: Uint8Array): Decoder {
  const kernel = createKernel(kernelModule);
  return new Decoder(kernel, loadWeights(kernel, config, checkpoint));
}

export function placeAdapter({ kernel, model }: Decoder, adapter: Adapter): number {
  const table = kernel.heap.allocate(adapterTableBytes(model.config, adapter));
  writeAdapterTable(kernel, model.config, { adapter, table });
  return table;
}

/** Fresh pages for a sequence of up to `tokens` tokens; the address of their table. */
export function placePages({ kernel, pageBytes }: Decoder, tokens: number): number {
  const pages = Array.from({ length: Math.ceil(tokens / 64) }, () => kernel.heap.allocate(pageBytes));
  const table = kernel.heap.allocate(pages.length * 4);
  kernel.words(table, pages.length).set(pages);
  return table;
}

/** Logits of every position, [T][V], from calls of `block` rows. */
export function kernelLogits(
  decoder: Decoder,
  tokens: readonly number[],
  {
    block,
    adapter = 0,
    pages = placePages(decoder, tokens.length),
    from = 0,
  }: { block: number; adapter?: number; pages?: number; from?: number },
): Float32Array[] {
  const logits: Float32Array[] = [];
  for (let start = from; start < tokens.length; start += block) {
    const rows = tokens.slice(start, start + block).map((token, index) => ({ token, position: start + index, pages, adapter }));
    decoder.forward(rows, 0);
    rows.forEach((_, index) => logits.push(decoder.logits(index).slice()));
  }
  return logits;
}
