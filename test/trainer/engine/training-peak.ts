/** A step of an adapter in a process of its own: prints the most memory that it took, and what of it parameters are. */
import { z } from "zod";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { randomBatch, tinyConfig } from "../tiny.ts";

const given = z
  .object({
    layers: z.number(),
    vocab: z.number(),
    /** That are trained, of 512 tokens. */
    positions: z.number(),
    byLayer: z.union([z.literal(false), z.object({ keptBytes: z.number(), logitBytes: z.number() })]),
  })
  .parse(JSON.parse(process.argv[2] ?? ""));
const config = tinyConfig({
  vocab_size: given.vocab,
  hidden_size: 128,
  intermediate_size: 512,
  num_hidden_layers: given.layers,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
});
const { weights, ...positions } = randomBatch({ rows: 2, length: 256, positions: given.positions, vocab: given.vocab });
const engine = new EngineCore({ config, threads: 1, byLayer: given.byLayer });
await engine.initialise({ seed: 1 });
await engine.createAdapter("a", { rank: 4, alpha: 8, targets: ["q_proj", "o_proj", "gate_proj", "down_proj"], seed: 2 });
await engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights } });
await engine.stepAdapter("a", { lr: 1e-3 });
const bytesOf = (tensors: Map<string, Float32Array>): number => [...tensors.values()].reduce((sum, values) => sum + values.byteLength, 0);
const peakBytes = process.resourceUsage().maxRSS * 1024;
// Of an adapter: values, gradient and two moments.
const parameterBytes = bytesOf(await engine.readWeights()) + 4 * bytesOf((await engine.readAdapter("a")).tensors);
process.stdout.write(JSON.stringify({ peakBytes, parameterBytes }));
await engine.close();
