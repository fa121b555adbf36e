/**
 * Writes each family's checkpoint, an adapter that was trained over it and what we make of both, for transformers and PEFT to be
 * asked the same:
 *
 *     node test/trainer/model/write-families.ts <folder> && python bench/peers/family_log_probs.py <folder>
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseModelConfig } from "../../../shared/model-config.ts";
import type { TensorType } from "../../../shared/safetensors.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { readAdapterFiles, writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { randomBatch } from "../tiny.ts";
import { FAMILIES, familyWeights, writeFamily } from "./families.ts";
import type { RawConfig } from "./reference.ts";

const SIZES = { hidden_size: 64, intermediate_size: 96, num_hidden_layers: 4, vocab_size: 200 };
const TYPES: readonly TensorType[] = ["BF16", "F16", "F32"];
const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
const STEPS = 8; // at a rate that moves log-probs by nats

type Case = { readonly name: string; readonly folder: string; readonly type: TensorType; readonly shards: number };

/** Writes one case. Resolves to what transformers is asked, and what we answer. */
async function writeCase(root: string, published: RawConfig, { name, folder, type, shards }: Case): Promise<Record<string, unknown>> {
  const path = join(root, folder);
  const written = { ...published, ...SIZES };
  await writeFamily(path, { config: written, weights: familyWeights(written, type), type, shards });
  const config = parseModelConfig(written);
  const engine = new EngineCore({ config, threads: 1 });
  await engine.loadCheckpoint(path);
  const batch = randomBatch({ rows: 2, length: 60, positions: 120, vocab: SIZES.vocab_size });
  const bare = await engine.score(batch);
  await engine.createAdapter("trained", { rank: 8, alpha: 16, targets: TARGETS, seed: 3 });
  const weights = new Float32Array(batch.positions.length).fill(1);
  for (let step = 0; step < STEPS; step += 1) {
    await engine.accumulateAdapter("trained", { ...batch, crossEntropy: { weights } });
    await engine.stepAdapter("trained", { lr: 1e-2, divisor: weights.length });
  }
  const files = writeAdapterFiles(config, await engine.readAdapter("trained"), path);
  await mkdir(join(path, "adapter"), { recursive: true });
  await writeFile(join(path, "adapter/adapter_config.json"), files.configBytes);
  await writeFile(join(path, "adapter/adapter_model.safetensors"), files.weightBytes);
  await engine.loadAdapter("published", readAdapterFiles(config, files));
  const adapted = await engine.score(batch, { adapter: "published" });
  await engine.close();
  const { rows, length, tokens, positions, targets } = batch;
  const asked = { rows, length, tokens: [...tokens], positions: [...positions], targets: [...targets] };
  return { name, folder, type, ...asked, base: [...bare.logProbs], adapter: [...adapted.logProbs] };
}

const [root] = process.argv.slice(2);
if (root === undefined) {
  process.stderr.write("a folder to write to expected, got none\n");
  process.exit(2);
}
const cases = [];
for (const [index, [name, published]] of Object.entries(FAMILIES).entries()) {
  const place = { name, folder: `family-${index}`, type: TYPES[index % TYPES.length] ?? "F32", shards: 1 + (index % 2) * 2 };
  cases.push(await writeCase(root, published, place));
}
await writeFile(join(root, "cases.json"), JSON.stringify(cases));
