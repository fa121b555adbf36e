/** Everything an engine does with a base whose frozen tensors are held, over several lengths, in a process of its own: prints what each leaves in memory. */
import { EngineCore } from "../../../trainer/engine/core.ts";
import { randomBatch, tinyConfig, WEIGHTY } from "../tiny.ts";

const config = tinyConfig(WEIGHTY);
const engine = new EngineCore({ config, threads: 1, placement: "device", byLayer: { keptBytes: 0, logitBytes: 2 ** 22 } });
await engine.initialise({ seed: 1 });
await engine.createAdapter("a", { rank: 4, alpha: 8, targets: ["q_proj", "o_proj", "gate_proj"], seed: 2 });
let weightBytes = 0;
for (const { byteLength } of (await engine.readWeights()).values()) weightBytes += byteLength;
const after: { rssBytes: number; bytesHeld: number }[] = [];
for (const length of [24, 48, 96, 160]) {
  const { weights, ...positions } = randomBatch({ rows: 2, length, positions: 20, vocab: 2048 });
  await engine.score(positions);
  await engine.score(positions, { adapter: "a", fullLogProbs: true });
  await engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights } });
  await engine.stepAdapter("a", { lr: 1e-3 });
  const prompts = [length, 5].map((size) => Int32Array.from({ length: size }, (_, index) => index));
  for (const adapter of [{}, { adapter: "a" }])
    await engine.generate({ prompts, maxTokens: 3, stopTokens: [], temperature: 0, seed: 0, ...adapter });
  globalThis.gc?.();
  after.push({ rssBytes: process.memoryUsage().rss, bytesHeld: engine.bytesHeld });
}
process.stdout.write(JSON.stringify({ weightBytes, headBytes: 4 * 512 * (2048 + 1), after }));
await engine.close();
