/** The files that the embedded policy reads: those of `base/`, or random weights of its sizes where there is none yet. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ModelConfig } from "../shared/model-config.ts";
import { CHAT_TEMPLATE } from "../trainer/pretrain/chat-template.ts";
import { tokenizerJson, trainBpe } from "../trainer/pretrain/bpe.ts";
import { parseSafetensors, toFloat32, writeSafetensors } from "../shared/safetensors.ts";
import { randomCheckpoint, toHuggingFaceConfig } from "./random-checkpoint.ts";

export type NamedFiles = Map<string, Uint8Array<ArrayBuffer>>;

const NAMES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
export const BASE_FOLDER = fileURLToPath(new URL("../base/", import.meta.url));

/** The shipped base's sizes: 5.8M parameters. */
export const SHIPPED_SIZES: ModelConfig = {
  vocabSize: 4096,
  hiddenSize: 256,
  layerCount: 8,
  headCount: 4,
  kvHeadCount: 2,
  headDim: 64,
  intermediateSize: 512,
  contextTokens: 1024,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tiedHead: true,
  qkNorm: true,
  qkvBias: false,
};

export function hasBase(): boolean {
  return NAMES.every((name) => existsSync(`${BASE_FOLDER}${name}`));
}

export async function readBaseFiles(): Promise<NamedFiles> {
  return new Map(await Promise.all(NAMES.map(async (name) => [name, new Uint8Array(await readFile(`${BASE_FOLDER}${name}`))] as const)));
}

/** Random weights of these sizes; the tokenizer knows bytes and special tokens only. */
export function randomBaseFiles(config: ModelConfig, seed: number): NamedFiles {
  const json = (content: unknown): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(content));
  return new Map([
    ["config.json", json(toHuggingFaceConfig(config))],
    ["model.safetensors", randomCheckpoint(config, seed)],
    ["tokenizer.json", json(tokenizerJson(trainBpe(new Map(), 0)))],
    ["tokenizer_config.json", json({ chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>", pad_token: "<|pad|>" })],
  ]);
}

/** The same base cut off after its first layers: a smaller model with the same vocabulary, which says nothing sensible. */
export function firstLayers(files: NamedFiles, layers: number): NamedFiles {
  const read = (name: string): Uint8Array<ArrayBuffer> => files.get(name) ?? new Uint8Array();
  const config = JSON.parse(new TextDecoder().decode(read("config.json"))) as object;
  const kept = Array.from(parseSafetensors(read("model.safetensors"))).filter(
    ([name]) => Number(/^model\.layers\.(\d+)\./.exec(name)?.[1] ?? -1) < layers,
  );
  const tensors = new Map(kept.map(([name, tensor]) => [name, { shape: tensor.shape, values: toFloat32(tensor) }]));
  return new Map(files)
    .set("config.json", new TextEncoder().encode(JSON.stringify({ ...config, num_hidden_layers: layers })))
    .set("model.safetensors", writeSafetensors(tensors, { type: "F32" }));
}
