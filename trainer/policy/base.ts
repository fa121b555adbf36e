/** The base checkpoint as the trainer holds it: a standard Hugging Face folder on disk. */
import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { canonicalJson } from "../../shared/digest.ts";
import type { TemplateArguments } from "../../shared/engine.ts";
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { BaseManifest } from "../../shared/policy.ts";
import { Recent } from "../../shared/recent.ts";
import type { Tokenizer, TokenizerFiles } from "../../shared/tokenizer.ts";
import { rowTokensOf } from "../learn/lesson/rows.ts";
import { readCheckpoint } from "../model/checkpoint.ts";
import { checkpointFiles } from "../upload/parts.ts";
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
  /** Tokens of the longest row that is trained or scored. */
  readonly rowTokens: number;
};

/** Of a checkpoint: one file, or several with what says which tensor each holds. */
export const WEIGHTS = /\.safetensors(\.index\.json)?$/;

/**
 * Holds the folder against the base that the edge serves: a version made for another base would be nonsense there.
 * @param options.weights false: only what reads and writes its tokens is compared
 * @throws {policy/digest} naming the file that differs, or that the edge's base has not
 */
export async function checkSameBase(folder: string, manifest: BaseManifest, { weights = true } = {}): Promise<void> {
  const names = Object.keys(manifest.files);
  if (!names.some((name) => name.endsWith(".safetensors")))
    throw new AppError(
      "policy/digest",
      `base ${manifest.name}: a checkpoint with safetensors expected, got ${names.length === 0 ? "one that its engine knows by name" : names.join(", ")}`,
    );
  for (const [name, expected] of Object.entries(manifest.files)) {
    if (!weights && WEIGHTS.test(name)) continue;
    if (!existsSync(join(folder, name)))
      throw new AppError("policy/digest", `${name} in ${folder}: a file of digest ${expected} expected, got none`);
    const got = await digestOf(join(folder, name));
    if (got !== expected)
      throw new AppError("policy/digest", `${name} in ${folder}: digest ${expected} of the edge's base expected, got ${got}`);
  }
  // A template beside the tokenizer, ends to stop at, weights in one file beside shards: each would be read first, and no digest is of it.
  const unknown = checkpointFiles(folder, { weights }).find((name) => manifest.files[name] === undefined);
  if (unknown !== undefined)
    throw new AppError(
      "policy/digest",
      `${unknown} in ${folder}: a file of the edge's base, ${names.join(", ")}, expected, got one that it has not`,
    );
}

/** @param options.rowTokens most tokens of a row, where the context has more. @throws {policy/refused} naming the file or field at fault. */
export function loadBase(folder: string, { rowTokens }: { rowTokens?: number } = {}): Base {
  const { config, tokenizer, tokenizerFiles } = readCheckpoint(folder);
  const grammars = new AnswerGrammars(tokenizerFiles, { tokenizer, vocabSize: config.vocabSize });
  return { name: baseNameOf(folder), folder, config, tokenizer, tokenizerFiles, grammars, rowTokens: rowTokensOf(config, rowTokens) };
}

/** The base whose chat template is given what an agent's engine gives its own: prompts are then the ones that it serves. */
export function underTemplate<Held extends Pick<Base, "tokenizer">>(base: Held, templateArguments: TemplateArguments): Held {
  return { ...base, tokenizer: base.tokenizer.withTemplateArguments(templateArguments) };
}

const MOST_KEPT = 4; // agents of one base rarely differ in them

/** What is made of the base for agents whose engines give the template these arguments: once for each, until so many others were asked for. */
export function perTemplate<Held extends Pick<Base, "tokenizer">, Made>(
  base: Held,
  make: (base: Held) => Made,
): (templateArguments?: TemplateArguments) => Made {
  const known = new Recent<string, Made>(MOST_KEPT);
  return (templateArguments = {}) => {
    const key = canonicalJson(templateArguments);
    const made = known.get(key) ?? make(underTemplate(base, templateArguments));
    known.set(key, made);
    return made;
  };
}

/** SHA-256 of a file that may be larger than memory. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  return hash.digest("hex");
}
