/** PEFT to GGUF by llama.cpp's own `convert_lora_to_gguf.py`. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "../../shared/errors.ts";
import { adapterSizes, ggufInvocation } from "../../shared/lora.ts";
import { lastWords } from "./last-words.ts";

export type ConverterOptions = {
  /** Path of the script. */
  readonly convert: string;
  readonly python: string;
  /** Hugging Face folder of the base; without it the script asks the Hub for the one that the adapter names. */
  readonly base?: string | undefined;
};

const CONVERT_MS = 600_000;
const MOST_OUTPUT_BYTES = 16 * 2 ** 20;

/** An adapter's GGUF, inside its folder: who takes the folder away takes both. llama.cpp's adapters are known by their files' names. */
export function ggufOf(folder: string, name: string): string {
  return join(folder, name, `${name}.gguf`);
}

/** Resolves once the file is there, whole; making one that is there takes no time. @throws {policy/refused} with what the script said last */
export async function convert(
  { convert: script, python, base }: ConverterOptions,
  { folder, name, signal }: { folder: string; name: string; signal: AbortSignal },
): Promise<void> {
  const target = ggufOf(folder, name);
  if (existsSync(target)) return;
  const draft = join(folder, name, "draft.gguf");
  // As float32, which holds every BF16: in float16, the script's default, small weights would become others.
  const placed = join(folder, name);
  const source = await sourceOf(placed);
  const args = [script, "--outtype", "f32", "--outfile", draft, ...(base === undefined ? [] : ["--base", base]), source];
  try {
    await new Promise<void>((done, reject) => {
      execFile(python, args, { timeout: CONVERT_MS, maxBuffer: MOST_OUTPUT_BYTES, signal }, (error, stdout, stderr) => {
        if (error === null) return done();
        const how = error.killed === true ? `ended after ${CONVERT_MS / 1000} s` : `code ${error.code ?? error.signal}`;
        const said = lastWords(`${stdout}\n${stderr}`.split("\n"));
        reject(new AppError("policy/refused", `adapter ${name} could not be converted (${how}): ${said}`, { cause: error }));
      });
    });
  } finally {
    if (source !== placed) await rm(source, { recursive: true, force: true });
  }
  if (!existsSync(draft)) throw new AppError("policy/refused", `adapter ${name} could not be converted: ${script} wrote no file`);
  await rename(draft, target);
}

/** What the script reads: the adapter's folder, or one in it where the adapter waits for tokens, whose config has them as llama.cpp takes them. */
async function sourceOf(folder: string): Promise<string> {
  const config = await readFile(join(folder, CONFIG), "utf8");
  const { invocation } = adapterSizes(config);
  if (invocation === undefined) return folder;
  const source = join(folder, "source");
  await rm(source, { recursive: true, force: true }); // of a conversion that was cut off
  await mkdir(source);
  await writeFile(join(source, CONFIG), JSON.stringify({ ...JSON.parse(config), alora_invocation_tokens: ggufInvocation(invocation) }));
  await symlink(resolve(folder, WEIGHTS), join(source, WEIGHTS));
  return source;
}

const CONFIG = "adapter_config.json";
const WEIGHTS = "adapter_model.safetensors";
