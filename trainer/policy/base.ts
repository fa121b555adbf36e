/** The base checkpoint as the trainer loads it: a standard Hugging Face folder on disk, checked against the digest the edge serves. */
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { parseSafetensors, toFloat32 } from "../../shared/safetensors.ts";
import { Tokenizer } from "../../shared/tokenizer.ts";
import { parseModelConfig as parseModelShape, type ModelConfig as ModelShape } from "../../shared/model-config.ts";
import { parseModelConfig, type ModelConfig } from "../model/config.ts";

export type Base = {
  /** The folder's own name, which PEFT records with an adapter. */
  readonly name: string;
  /** Sizes as adapters and the edge know them. */
  readonly shape: ModelShape;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  /** Hugging Face parameter names → values. */
  readonly weights: ReadonlyMap<string, Float32Array>;
};

const TokenizerJson = z.looseObject({ added_tokens: z.array(z.looseObject({ id: z.number().int(), content: z.string() })).optional() });
const TokenizerConfigJson = z.looseObject({ chat_template: z.string().optional(), eos_token: z.string().optional(), pad_token: z.string().optional() });

/** @throws {input/notFound} naming the file that is missing. */
export function loadBase(folder: string): Base {
  const tensors = parseSafetensors(readBytes(folder, "model.safetensors"));
  return {
    name: basename(resolve(folder)),
    shape: parseModelShape(readJson(folder, "config.json")),
    config: parseModelConfig(readJson(folder, "config.json")),
    tokenizer: new Tokenizer({ tokenizer: TokenizerJson.parse(readJson(folder, "tokenizer.json")), config: TokenizerConfigJson.parse(readJson(folder, "tokenizer_config.json")) }),
    weights: new Map([...tensors].map(([name, tensor]) => [name, toFloat32(tensor)])),
  };
}

function readJson(folder: string, name: string): unknown {
  return JSON.parse(readBytes(folder, name).toString("utf8"));
}

function readBytes(folder: string, name: string): Buffer {
  try {
    return readFileSync(join(folder, name));
  } catch (cause) {
    throw new AppError("input/notFound", `${name} of a Hugging Face folder expected in ${folder}, got none`, { cause });
  }
}
