/** The base checkpoint as the trainer holds it: a standard Hugging Face folder on disk. */
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { parseModelConfig, type ModelConfig as ModelShape } from "../../shared/model-config.ts";
import type { BaseManifest } from "../../shared/policy.ts";
import type { Tokenizer, TokenizerFiles } from "../../shared/tokenizer.ts";
import { readCheckpoint } from "../model/checkpoint.ts";
import type { ModelConfig } from "../../shared/model-config.ts";

export type Base = {
  /** The folder's own name, which PEFT records with an adapter. */
  readonly name: string;
  /** Sizes as adapters and the edge know them. */
  readonly shape: ModelShape;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly tokenizerFiles: TokenizerFiles;
  /** What answers are held to, as the edge holds them. */
  readonly grammars: AnswerGrammars;
  /** Hugging Face parameter names → values. */
  readonly weights: Map<string, Float32Array>;
};

/**
 * Holds the folder against the base that the edge serves: a version made for another base would be nonsense there.
 * @throws {policy/digest} naming the file that differs
 */
export async function checkSameBase(folder: string, manifest: BaseManifest): Promise<void> {
  if (manifest.files["model.safetensors"] === undefined)
    throw new AppError(
      "policy/digest",
      `base ${manifest.name}: a checkpoint with model.safetensors expected, got one that its engine knows by name`,
    );
  for (const [name, expected] of Object.entries(manifest.files)) {
    const got = await sha256(new Uint8Array(readFileSync(join(folder, name))));
    if (got !== expected)
      throw new AppError("policy/digest", `${name} in ${folder}: digest ${expected} of the edge's base expected, got ${got}`);
  }
}

/** @throws {policy/refused | input/unsupported} naming the field or tensor at fault. */
export function loadBase(folder: string): Base {
  const { config, weights, tokenizer, tokenizerFiles } = readCheckpoint(folder);
  const shape = parseModelConfig(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")));
  const grammars = new AnswerGrammars(tokenizerFiles, { tokenizer, vocabSize: config.vocabSize });
  return { name: basename(resolve(folder)), shape, config, tokenizer, tokenizerFiles, grammars, weights };
}
