/** A base whose frozen tensors are held by sessions and left in a checkpoint's files, in a process of its own: prints what loading and a step of an adapter take. */
import { parseModelConfig } from "../../../shared/model-config.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { readJson } from "../../../trainer/model/weight-files.ts";
import { randomBatch } from "../tiny.ts";

const folder = process.argv[2] ?? "";
const config = parseModelConfig(readJson(folder, "config.json"));
const engine = new EngineCore({ config, threads: 1, placement: "device", byLayer: { keptBytes: 0, logitBytes: 2 ** 22 } });
const rssBytes = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss;
};
const before = rssBytes();
await engine.loadCheckpoint(folder);
const loaded = rssBytes() - before;
await engine.createAdapter("a", { rank: 4, alpha: 8, targets: ["q_proj"], seed: 2 });
const { weights, ...positions } = randomBatch({ rows: 1, length: 24, positions: 20, vocab: config.vocabSize });
await engine.accumulateAdapter("a", { ...positions, crossEntropy: { weights } });
const trained = rssBytes() - before;
process.stdout.write(JSON.stringify({ loaded, trained, held: engine.bytesHeld }));
await engine.close();
