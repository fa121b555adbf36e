/**
 * The weights of a Hugging Face folder, one safetensors file or several with an index, read a tensor at a time by its
 * offset: what is read is widened where it will stay, and no file is ever whole in memory.
 */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { invariant } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import { headerBytes, LENGTH_BYTES, parseSafetensorsHeader, type TensorPlace, widen } from "../../shared/safetensors.ts";

const WHOLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";
const CHUNK = 2 ** 22; // elements read at a time: 8 MiB of 16 bits
const EXPONENT = 0x7f800000; // all ones in what is infinite or no number

type FilePlace = TensorPlace & {
  readonly file: number;
  readonly fileName: string;
  /** Of the file when it was opened. */ readonly changedMs: number;
};

const Index = z.object({ weight_map: z.record(z.string(), z.string()) });

/** Open files: close them. */
export class WeightFiles {
  readonly tensors: ReadonlyMap<string, FilePlace>;
  readonly #files: readonly number[];
  readonly #halves = new Uint16Array(CHUNK);

  private constructor(tensors: ReadonlyMap<string, FilePlace>, files: readonly number[]) {
    this.tensors = tensors;
    this.#files = files;
  }

  /** Reads headers only. @throws {policy/refused} naming the file that is missing or the tensor that no file has as the index says */
  static open(folder: string): WeightFiles {
    const index = existsSync(join(folder, WHOLE)) ? undefined : readIndex(folder);
    const names = index === undefined ? [WHOLE] : [...new Set(Object.values(index))].sort();
    const files: number[] = [];
    try {
      const tensors = new Map<string, FilePlace>();
      for (const fileName of names) {
        const file = openWeights(folder, fileName);
        files.push(file);
        const changedMs = fstatSync(file).mtimeMs;
        for (const [name, place] of readPlaces(file, fileName)) {
          if (index !== undefined && index[name] !== fileName)
            refuse(`${INDEX}: tensor ${name} in ${fileName} expected, got ${index[name] ?? "none"}`);
          tensors.set(name, { ...place, file, fileName, changedMs });
        }
      }
      const missing = Object.keys(index ?? {}).find((name) => !tensors.has(name));
      if (missing !== undefined) refuse(`${index?.[missing]}: tensor ${missing} expected, as ${INDEX} says, got none`);
      return new WeightFiles(tensors, files);
    } catch (error) {
      files.forEach((file) => closeSync(file));
      throw error;
    }
  }

  /** Fills `target` with a tensor's elements from `first` on. @throws {policy/refused} for a file that ends early or was changed, or a value that is no number */
  readInto(name: string, target: Float32Array, first = 0): void {
    for (let at = 0; at < target.length; at += CHUNK) this.#readPart(name, first + at, target.subarray(at, at + CHUNK));
  }

  /** Reads tensors of `size` elements through one buffer, and keeps none. @throws {policy/refused} as `readInto` */
  check(tensors: readonly { readonly name: string; readonly size: number }[]): void {
    const part = new Float32Array(Math.min(CHUNK, Math.max(...tensors.map(({ size }) => size))));
    for (const { name, size } of tensors) for (let at = 0; at < size; at += CHUNK) this.#readPart(name, at, part.subarray(0, size - at));
  }

  /** Whether two tensors of `size` elements are the same. */
  areEqual(one: string, other: string, size: number): boolean {
    const [left, right] = [new Float32Array(Math.min(CHUNK, size)), new Float32Array(Math.min(CHUNK, size))];
    for (let at = 0; at < size; at += CHUNK) {
      const expected = this.#readPart(one, at, left.subarray(0, size - at));
      const read = this.#readPart(other, at, right.subarray(0, size - at));
      if (read.some((value, index) => value !== expected[index])) return false;
    }
    return true;
  }

  close(): void {
    this.#files.forEach((file) => closeSync(file));
  }

  /** The elements from `first` on, as many as `target` holds. 32-bit ones are read in place, others widened from one small buffer. */
  #readPart(name: string, first: number, target: Float32Array): Float32Array {
    const tensor = this.tensors.get(name);
    invariant(tensor !== undefined, `a stored tensor expected, got ${name}`);
    const { type, start, end, file, fileName, changedMs } = tensor;
    if (fstatSync(file).mtimeMs !== changedMs) refuse(`${fileName}: the file that was opened expected, got one that was written since`);
    if (type === "F32") readFully(tensor, start + first * target.BYTES_PER_ELEMENT, bytesOf(target));
    else {
      const halves = this.#halves.subarray(0, target.length);
      readFully(tensor, start + first * halves.BYTES_PER_ELEMENT, bytesOf(halves));
      widen(type, halves, target);
    }
    const wrong = firstNotFinite(target);
    if (wrong !== undefined)
      refuse(`${fileName}: tensor ${name} of ${end - start} bytes: finite values expected, got ${target[wrong]} at ${first + wrong}`);
    return target;
  }
}

/** Which file each tensor is in. */
function readIndex(folder: string): Record<string, string> {
  if (!existsSync(join(folder, INDEX))) {
    const others = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(bin|pth|pt|gguf|safetensors)$/.test(name)) : [];
    refuse(`${folder}: ${WHOLE} or ${INDEX} expected, got ${others.join(", ") || "no weights"}`);
  }
  const index = Index.safeParse(readJson(folder, INDEX));
  if (!index.success) return refuse(`${INDEX}: ${z.prettifyError(index.error)}`);
  const outside = Object.values(index.data.weight_map).find((name) => basename(name) !== name);
  if (outside !== undefined) refuse(`${INDEX}: names of files beside it expected, got ${outside}`);
  return index.data.weight_map;
}

/** @throws {policy/refused} naming the file that is missing or no JSON */
export function readJson(folder: string, name: string): unknown {
  if (!existsSync(join(folder, name))) refuse(`${folder}: ${name} expected, got none`);
  try {
    return JSON.parse(readFileSync(join(folder, name), "utf8"));
  } catch (cause) {
    throw new AppError("policy/refused", `${name} in ${folder}: JSON expected, got text that does not parse`, { cause });
  }
}

function openWeights(folder: string, name: string): number {
  if (!existsSync(join(folder, name))) refuse(`${folder}: ${name} expected, as ${INDEX} says, got none`);
  return openSync(join(folder, name), "r");
}

function readPlaces(file: number, fileName: string): Map<string, TensorPlace> {
  const fileBytes = fstatSync(file).size;
  try {
    const beginning = new Uint8Array(Math.min(LENGTH_BYTES, fileBytes));
    readFully({ file, fileName }, 0, beginning);
    const header = new Uint8Array(headerBytes(beginning, fileBytes));
    readFully({ file, fileName }, LENGTH_BYTES, header);
    return parseSafetensorsHeader(header, fileBytes);
  } catch (error) {
    if (error instanceof AppError) throw new AppError(error.code, `${fileName}: ${error.message}`, { cause: error });
    throw error;
  }
}

function readFully({ file, fileName }: { file: number; fileName: string }, start: number, target: Uint8Array): void {
  for (let filled = 0; filled < target.length;) {
    const read = readSync(file, target, filled, target.length - filled, start + filled);
    if (read === 0) refuse(`${fileName}: ${start + target.length} bytes or more expected, got ${start + filled}`);
    filled += read;
  }
}

/** A plain loop over bits: a call per value is seconds of loading. */
function firstNotFinite({ buffer, byteOffset, length }: Float32Array): number | undefined {
  const words = new Uint32Array(buffer, byteOffset, length);
  for (let index = 0; index < length; index += 1) if (((words[index] ?? 0) & EXPONENT) === EXPONENT) return index;
  return undefined;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function refuse(what: string): never {
  throw new AppError("policy/refused", what);
}
