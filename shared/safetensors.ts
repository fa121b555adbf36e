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

const BYTES_PER_ELEMENT: Readonly<Record<TensorType, number>> = { F32: 4, F16: 2, BF16: 2 };
const LENGTH_BYTES = 8;

const Entry = z.object({
  dtype: z.enum(["F32", "F16", "BF16"]),
  shape: z.array(z.number().int().min(0)),
  data_offsets: z.tuple([z.number().int().min(0), z.number().int().min(0)]),
});
const Header = z.record(z.string(), z.unknown());

/** Reads a file's tensors as views of `file`. @throws {policy/refused} naming the tensor that does not fit. */
export function parseSafetensors(file: Uint8Array): Map<string, Tensor> {
  const header = parseHeader(file);
  const start = LENGTH_BYTES + header.length;
  const entries = Object.entries(header.fields)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, field]) => ({ name, ...parseEntry(name, field) }))
    .sort((a, b) => a.data_offsets[0] - b.data_offsets[0]);
  const tensors = new Map<string, Tensor>();
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
    tensors.set(name, { type: dtype, shape, bytes: file.subarray(start + from, start + to) });
    expected = to;
  }
  if (start + expected !== file.length) refuse(`file of ${start + expected} bytes expected, got ${file.length}`);
  return tensors;
}

/** A tensor's elements as float32, a fresh copy. F16 and BF16 widen exactly. */
export function toFloat32({ type, bytes }: Tensor): Float32Array {
  if (type === "F32") return new Float32Array(bytes.slice().buffer);
  const halves = new Uint16Array(bytes.slice().buffer);
  return type === "BF16" ? decodeBfloat16(halves) : decodeFloat16(halves);
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

function parseHeader(file: Uint8Array): { length: number; fields: Record<string, unknown> } {
  if (file.length < LENGTH_BYTES) refuse(`header length of ${LENGTH_BYTES} bytes expected, got a file of ${file.length}`);
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  if (length > file.length - LENGTH_BYTES) refuse(`header of at most ${file.length - LENGTH_BYTES} bytes expected, got ${length}`);
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new AppError("policy/refused", "safetensors: a JSON header expected, got text that does not parse", { cause });
  }
  const fields = Header.safeParse(content);
  if (!fields.success) return refuse("a JSON object as header expected");
  return { length, fields: fields.data };
}

function parseEntry(name: string, field: unknown): z.infer<typeof Entry> {
  const entry = Entry.safeParse(field);
  if (!entry.success) return refuse(`tensor ${name}: ${z.prettifyError(entry.error)}`);
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
