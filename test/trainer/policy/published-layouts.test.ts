/** Checkpoints and adapters of each family have the names, shapes and fields that transformers and PEFT give them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LINEAR_PATHS, type LinearName, linearNames, linearShape, parseAdapter, writeAdapter } from "../../../shared/lora.ts";
import { type ModelConfig, parseModelConfig } from "../../../shared/model-config.ts";
import { parseSafetensors } from "../../../shared/safetensors.ts";
import { EngineCore } from "../../../trainer/engine/core.ts";
import { listAdapterParameters, targetedLayers } from "../../../trainer/model/adapter.ts";
import { listParameters } from "../../../trainer/model/parameters.ts";
import { readAdapterFiles, roundAdapter, writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { baseNameOf } from "../../../trainer/policy/base-name.ts";
import { FAMILIES, familyWeights } from "../model/families.ts";
import { randomBatch } from "../tiny.ts";

type Shapes = Record<string, number[]>;
type Layout = {
  config: Record<string, unknown>;
  adapterConfig: { target_modules: string[] };
  tensors: number;
  lastLayer: Shapes;
  parameters: number;
  lastParameters: Shapes;
};
const fixture = readFileSync(join(import.meta.dirname, "../../fixtures/peft-layouts.json"), "utf8");
// Its origin says what made it.
const { models } = JSON.parse(fixture) as { models: Record<string, Layout> };
const RANK = 8;

const shapesOf = (entries: readonly { name: string; shape: readonly number[] }[]): Shapes =>
  Object.fromEntries(entries.map(({ name, shape }) => [name, [...shape]]));

describe.each(Object.entries(models))("%s", (name, { config: raw, adapterConfig, tensors, lastLayer, parameters, lastParameters }) => {
  const config = parseModelConfig(raw);
  const inLastLayer = `.layers.${config.layerCount - 1}.`;

  it("has the published model's parameters", () => {
    const listed = listParameters(config);
    expect(listed.reduce((sum, { size }) => sum + size, 0)).toBe(parameters);
    expect(shapesOf(listed.filter((each) => each.name.includes(inLastLayer) || !each.name.includes(".layers.")))).toEqual(lastParameters);
  });

  it("has PEFT's adapter tensors", () => {
    const listed = listAdapterParameters(config, { rank: RANK, alpha: 16, layers: targetedLayers(config, linearNames()) });
    expect(listed.length).toBe(tensors);
    expect(shapesOf(listed.filter((each) => each.name.includes(inLastLayer)))).toEqual(lastLayer);
  });

  it("is written as PEFT writes it, and read back", () => {
    const pairs = linearNames().map((linear) => pairOf(config, linear));
    const files = writeAdapter(config, { rank: RANK, alpha: 16, pairs }, { baseModel: name, type: "BF16" });
    const written = parseSafetensors(files.adapterModel);
    expect(shapesOf(Array.from(written, ([each, { shape }]) => ({ name: each, shape })))).toEqual(lastLayer);
    expect(new Set(Array.from(written.values(), ({ type }) => type))).toEqual(new Set(["BF16"]));
    const { target_modules: targets, layers_to_transform: layers, ...fields } = JSON.parse(files.adapterConfig);
    expect(new Set(targets)).toEqual(new Set(adapterConfig.target_modules));
    expect(layers).toEqual([config.layerCount - 1]);
    expect(adapterConfig).toMatchObject(fields);
    expect(parseAdapter(config, files).pairs).toEqual(pairs);
    // What PEFT itself writes is read, too, with every field it has.
    expect(parseAdapter(config, { ...files, adapterConfig: JSON.stringify(adapterConfig) }).pairs).toEqual(pairs);
  });
});

describe.each(Object.entries(FAMILIES))("an adapter of %s", (_, raw) => {
  it("computes the same after a round trip through PEFT's files", async () => {
    const config = parseModelConfig(raw);
    const engine = new EngineCore({ config, threads: 1 });
    await engine.loadWeights(new Map(Array.from(familyWeights(raw), ([name, { values }]) => [name, values])));
    await engine.createAdapter("trained", { rank: 4, alpha: 8, targets: Object.keys(LINEAR_PATHS), seed: 1 });
    const batch = randomBatch({ rows: 2, length: 12, positions: 12, vocab: config.vocabSize });
    const base = await engine.score(batch);
    await engine.accumulateAdapter("trained", { ...batch, crossEntropy: { weights: batch.weights } });
    await engine.stepAdapter("trained", { lr: 0.05 });
    const rounded = roundAdapter(await engine.readAdapter("trained"));
    await engine.loadAdapter("rounded", rounded);
    const files = writeAdapterFiles(config, rounded, "base");
    expect(JSON.parse(new TextDecoder().decode(files.configBytes))).not.toHaveProperty("layers_to_transform");
    const read = readAdapterFiles(config, files);
    expect(read).toEqual(rounded);
    await engine.loadAdapter("read", read);
    const scores = await engine.score(batch, { adapter: "read" });
    expect(scores).toEqual(await engine.score(batch, { adapter: "rounded" }));
    expect(scores.logProbs).not.toEqual(base.logProbs);
    await engine.close();
  });
});

describe("the base's name in an adapter", () => {
  it("is the hub's where the folder is of Hugging Face's cache, else the folder's", () => {
    const cached = "/home/me/.cache/huggingface/hub/models--Qwen--Qwen3-0.6B/snapshots/c1899de289a04d12100db370d81485cdf75e47ca";
    expect(baseNameOf(cached)).toBe("Qwen/Qwen3-0.6B");
    expect(baseNameOf("/models/Qwen3-4B/")).toBe("Qwen3-4B");
    expect(baseNameOf("/models/snapshots/mine")).toBe("mine");
  });
});

/** One pair of the last layer with values that BF16 holds. */
function pairOf(config: ModelConfig, linear: LinearName): { layer: number; linear: LinearName; a: Float32Array; b: Float32Array } {
  const { out, in: width } = linearShape(config, linear);
  const values = (length: number): Float32Array => Float32Array.from({ length }, (_, index) => (index % 7) - 3);
  return { layer: config.layerCount - 1, linear, a: values(RANK * width), b: values(out * RANK) };
}
