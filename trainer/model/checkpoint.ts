/** Reads and writes a Hugging Face folder: config.json, safetensors, tokenizer.json, tokenizer_config.json, chat template, generation_config.json. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { writeSafetensors } from "../../shared/safetensors.ts";
import { Tokenizer, type TokenizerFiles } from "../../shared/tokenizer.ts";
import { type ModelConfig, parseModelConfig } from "../../shared/model-config.ts";
import { loadWeights } from "./load-weights.ts";
import { listParameters, ParameterBuffer } from "./parameters.ts";
import { readJson } from "./weight-files.ts";

/** All but the weights, which whoever computes with them reads where they will stay. */
export type Checkpoint = { folder: string; config: ModelConfig; tokenizer: Tokenizer; tokenizerFiles: TokenizerFiles };

const GENERATION = "generation_config.json";
const Ends = z.object({ eos_token_id: z.union([z.number(), z.array(z.number())]).nullish() });

/** @throws {policy/refused} naming the file or field at fault. */
export function readCheckpoint(folder: string): Checkpoint {
  const config = parseModelConfig(readJson(folder, "config.json"));
  const tokenizerFiles = readTokenizerFiles(folder);
  const tokenizer = new Tokenizer(tokenizerFiles, { endIds: readEndIds(folder, config) });
  return { folder, config, tokenizer, tokenizerFiles };
}

/** What the makers' own generation stops at: of Llama 3.1 the ends of text, of a message and of a turn. None where the file is missing or names none. */
function readEndIds(folder: string, { vocabSize }: ModelConfig): number[] {
  if (!existsSync(join(folder, GENERATION))) return [];
  const read = Ends.safeParse(readJson(folder, GENERATION));
  const ids = [read.data?.eos_token_id ?? []].flat();
  if (read.success && ids.every((id) => Number.isInteger(id) && id >= 0 && id < vocabSize)) return ids;
  const got = read.success ? ids.join() : z.prettifyError(read.error);
  throw new AppError("policy/refused", `${GENERATION}: eos_token_id: ids of the ${vocabSize} tokens in config.json expected, got ${got}`);
}

/** The weights by name, as float32. @throws {policy/refused} naming the tensor at fault */
export function readWeights({ folder, config }: Pick<Checkpoint, "folder" | "config">): Map<string, Float32Array> {
  const buffer = new ParameterBuffer(listParameters(config));
  loadWeights(folder, config, buffer);
  return new Map(buffer.parameters.map((parameter) => [parameter.name, buffer.view(parameter)]));
}

export function readTokenizerFiles(folder: string): TokenizerFiles {
  const tokenizer = readJson(folder, "tokenizer.json") as TokenizerFiles["tokenizer"];
  const config = readJson(folder, "tokenizer_config.json") as TokenizerFiles["config"];
  // Where newer folders keep it; it is what libraries take where both are there.
  const template = join(folder, "chat_template.jinja");
  return { tokenizer, config: existsSync(template) ? { ...config, chat_template: readFileSync(template, "utf8") } : config };
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
