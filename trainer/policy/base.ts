/** The base checkpoint as the trainer holds it: a standard Hugging Face folder on disk. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { BaseManifest } from "../../shared/policy.ts";
import type { Tokenizer, TokenizerFiles } from "../../shared/tokenizer.ts";
import { readCheckpoint } from "../model/checkpoint.ts";
import { baseNameOf } from "./base-name.ts";

export type Base = {
  /** What PEFT records with an adapter. */
  readonly name: string;
  /** Where its weights are. */
  readonly folder: string;
  readonly config: ModelConfig;
  readonly tokenizer: Tokenizer;
  readonly tokenizerFiles: TokenizerFiles;
  /** What answers are held to, as the edge holds them. */
  readonly grammars: AnswerGrammars;
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
    const got = await digestOf(join(folder, name));
    if (got !== expected)
      throw new AppError("policy/digest", `${name} in ${folder}: digest ${expected} of the edge's base expected, got ${got}`);
  }
}

/** @throws {policy/refused} naming the file or field at fault. */
export function loadBase(folder: string): Base {
  const { config, tokenizer, tokenizerFiles } = readCheckpoint(folder);
  const grammars = new AnswerGrammars(tokenizerFiles, { tokenizer, vocabSize: config.vocabSize });
  return { name: baseNameOf(folder), folder, config, tokenizer, tokenizerFiles, grammars };
}

/** SHA-256 of a file that may be larger than memory. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  return hash.digest("hex");
}
