/** Reads and writes a Hugging Face folder: config.json, model.safetensors, tokenizer.json, tokenizer_config.json. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSafetensors, toFloat32, writeSafetensors } from "../../shared/safetensors.ts";
import { Tokenizer, type TokenizerFiles } from "../../shared/tokenizer.ts";
import { type ModelConfig, parseModelConfig } from "../../shared/model-config.ts";
import { listParameters } from "./parameters.ts";

export type Checkpoint = { config: ModelConfig; weights: Map<string, Float32Array>; tokenizer: Tokenizer; tokenizerFiles: TokenizerFiles };

/** @throws {input/unsupported | policy/refused} naming the field or tensor at fault. */
export function readCheckpoint(folder: string): Checkpoint {
  const tokenizerFiles = readTokenizerFiles(folder);
  const tensors = parseSafetensors(new Uint8Array(readFileSync(join(folder, "model.safetensors"))));
  return {
    config: parseModelConfig(readJson(join(folder, "config.json"))),
    weights: new Map([...tensors].map(([name, tensor]) => [name, toFloat32(tensor)])),
    tokenizer: new Tokenizer(tokenizerFiles),
    tokenizerFiles,
  };
}

export function readTokenizerFiles(folder: string): TokenizerFiles {
  return {
    tokenizer: readJson(join(folder, "tokenizer.json")) as TokenizerFiles["tokenizer"],
    config: readJson(join(folder, "tokenizer_config.json")) as TokenizerFiles["config"],
  };
}

/** Writes the folder; weights are rounded to float16, which keeps three more bits than bfloat16 at this size's magnitudes. */
export function writeCheckpoint(
  folder: string,
  {
    configJson,
    weights,
    tokenizerFiles,
    extra = {},
  }: {
    configJson: Record<string, unknown>;
    weights: ReadonlyMap<string, Float32Array>;
    tokenizerFiles: TokenizerFiles;
    extra?: Record<string, unknown>;
  },
): void {
  mkdirSync(folder, { recursive: true });
  const shapes = new Map(listParameters(parseModelConfig(configJson)).map(({ name, shape }) => [name, shape]));
  const tensors = new Map([...weights].map(([name, values]) => [name, { shape: shapes.get(name) ?? [values.length], values }]));
  writeWhole(join(folder, "model.safetensors"), writeSafetensors(tensors, { type: "F16", metadata: { format: "pt" } }));
  writeWhole(join(folder, "config.json"), pretty(configJson));
  writeWhole(join(folder, "generation_config.json"), pretty({ eos_token_id: 2, pad_token_id: 0, do_sample: false }));
  writeWhole(join(folder, "tokenizer.json"), JSON.stringify(tokenizerFiles.tokenizer));
  writeWhole(join(folder, "tokenizer_config.json"), pretty(tokenizerFiles.config));
  for (const [name, content] of Object.entries(extra))
    writeWhole(join(folder, name), typeof content === "string" ? content : pretty(content));
}

/** A killed run leaves the old file or the new one, never half of it. */
function writeWhole(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.partial`, content);
  renameSync(`${path}.partial`, path);
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
