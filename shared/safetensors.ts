/**
 * The safetensors file format: a length, a JSON header, and tensors one after the other.
 * Reads and writes F32, F16 and BF16; refuses any other element type, holes, overlaps and sizes that do not match shapes.
 * Writing is deterministic: names in code-unit order, no clock, so equal tensors give equal bytes.
 * Format: https://github.com/huggingface/safetensors#format
 */
import { z } from "zod";
import { AppError } from "./errors.ts";
import { decodeBfloat16, decodeFloat16, encodeBfloat16, encodeFloat16 } from "./float16.ts";

export type TensorType = "F32" | "F16" | "BF16";
export type Tensor = { readonly type: TensorType; readonly shape: readonly number[]; readonly bytes: Uint8Array };
export type FloatTensor = { readonly shape: readonly number[]; readonly values: Float32Array };

/** Where a tensor lies in its file: bytes [start, end). */
export type TensorPlace = { readonly type: TensorType; readonly shape: readonly number[]; readonly start: number; readonly end: number };

const BYTES_PER_ELEMENT: Readonly<Record<TensorType, number>> = { F32: 4, F16: 2, BF16: 2 };
/** At the beginning of a file; they give the bytes of the header that follows. */
export const LENGTH_BYTES = 8;
const MAX_HEADER_BYTES = 100_000_000; // the format's own bound: a length beyond it is no length

const Entry = z.object({
  dtype: z.enum(["F32", "F16", "BF16"]),
  shape: z.array(z.number().int().min(0)),
  data_offsets: z.tuple([z.number().int().min(0), z.number().int().min(0)]),
});
const Header = z.record(z.string(), z.unknown());

/** Reads a file's tensors as views of `file`. @throws {policy/refused} naming the tensor that does not fit. */
export function parseSafetensors(file: Uint8Array): Map<string, Tensor> {
  const length = headerBytes(file.subarray(0, LENGTH_BYTES), file.length);
  const places = parseSafetensorsHeader(file.subarray(LENGTH_BYTES, LENGTH_BYTES + length), file.length);
  return new Map(Array.from(places, ([name, { type, shape, start, end }]) => [name, { type, shape, bytes: file.subarray(start, end) }]));
}

/** Bytes of the header of a file of `fileBytes` that begins so. @throws {policy/refused} for a length that no such file has */
export function headerBytes(beginning: Uint8Array, fileBytes: number): number {
  if (beginning.length < LENGTH_BYTES) refuse(`header length of ${LENGTH_BYTES} bytes expected, got a file of ${fileBytes}`);
  const length = Number(new DataView(beginning.buffer, beginning.byteOffset).getBigUint64(0, true));
  const most = Math.min(fileBytes - LENGTH_BYTES, MAX_HEADER_BYTES);
  if (length > most) refuse(`header of at most ${most} bytes expected, got ${length}`);
  return length;
}

/** Where each tensor of a file of `fileBytes` lies, from its header alone. @throws {policy/refused} naming the tensor that does not fit. */
export function parseSafetensorsHeader(header: Uint8Array, fileBytes: number): Map<string, TensorPlace> {
  const start = LENGTH_BYTES + header.length;
  const entries = Object.entries(parseFields(header))
    .filter(([name]) => name !== "__metadata__")
    .map(([name, field]) => ({ name, ...parseEntry(name, field) }))
    .sort((a, b) => a.data_offsets[0] - b.data_offsets[0]);
  const places = new Map<string, TensorPlace>();
  let expected = 0;
  for (const {
    name,
    dtype,
    shape,
    data_offsets: [from, to],
  } of entries) {
    const size = elementCount(shape) * BYTES_PER_ELEMENT[dtype];
    if (from !== expected || to - from !== size)
      refuse(`tensor ${name}: bytes ${expected}..${expected + size} expected for ${dtype} [${shape.join(", ")}], got ${from}..${to}`);
    places.set(name, { type: dtype, shape, start: start + from, end: start + to });
    expected = to;
  }
  if (start + expected !== fileBytes) refuse(`file of ${start + expected} bytes expected, got ${fileBytes}`);
  return places;
}

/** A tensor's elements as float32, a fresh copy. F16 and BF16 widen exactly. */
export function toFloat32({ type, bytes }: Tensor): Float32Array {
  // Of a Buffer `slice` is no copy.
  const copy = new Uint8Array(bytes).buffer;
  return type === "F32" ? new Float32Array(copy) : widen(type, new Uint16Array(copy));
}

/** 16-bit elements as float32, exactly; into `target` where one is given. */
export function widen(type: Exclude<TensorType, "F32">, halves: Uint16Array, target?: Float32Array): Float32Array {
  return type === "BF16" ? decodeBfloat16(halves, target) : decodeFloat16(halves, target);
}

/** The bytes of a file with these tensors; F16 and BF16 round to nearest even. */
export function writeSafetensors(
  tensors: ReadonlyMap<string, FloatTensor>,
  { type = "F32", metadata = {} }: { type?: TensorType; metadata?: Readonly<Record<string, string>> } = {},
): Uint8Array<ArrayBuffer> {
  const names = [...tensors.keys()].sort();
  const fields: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  const bodies: Uint8Array[] = [];
  let offset = 0;
  for (const name of names) {
    const tensor = tensors.get(name);
    if (tensor === undefined) continue;
    if (elementCount(tensor.shape) !== tensor.values.length)
      refuse(`tensor ${name}: ${elementCount(tensor.shape)} values expected for [${tensor.shape.join(", ")}], got ${tensor.values.length}`);
    const body = encode(tensor.values, type);
    fields[name] = { dtype: type, shape: tensor.shape, data_offsets: [offset, offset + body.length] };
    bodies.push(body);
    offset += body.length;
  }
  return assemble(fields, bodies, offset);
}

function parseFields(header: Uint8Array): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder().decode(header));
  } catch (cause) {
    throw new AppError("policy/refused", "safetensors: a JSON header expected, got text that does not parse", { cause });
  }
  const fields = Header.safeParse(content);
  if (!fields.success) return refuse("a JSON object as header expected");
  return fields.data;
}

function parseEntry(name: string, field: unknown): z.infer<typeof Entry> {
  const entry = Entry.safeParse(field);
  if (!entry.success) return refuse(`tensor ${name}: ${z.prettifyError(entry.error)}, got ${JSON.stringify(field)}`);
  return entry.data;
}

function encode(values: Float32Array, type: TensorType): Uint8Array {
  const elements = type === "F32" ? values : type === "BF16" ? encodeBfloat16(values) : encodeFloat16(values);
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength);
}

function assemble(fields: Record<string, unknown>, bodies: readonly Uint8Array[], bodyBytes: number): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(fields);
  const unpadded = new TextEncoder().encode(json).length;
  const header = new TextEncoder().encode(json + " ".repeat((8 - (unpadded % 8)) % 8)); // tensors start 8-byte aligned
  const file = new Uint8Array(LENGTH_BYTES + header.length + bodyBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, LENGTH_BYTES);
  let at = LENGTH_BYTES + header.length;
  for (const body of bodies) {
    file.set(body, at);
    at += body.length;
  }
  return file;
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

function refuse(what: string): never {
  throw new AppError("policy/refused", `safetensors: ${what}`);
}
