/**
 * Plain values as a file that `torch.load` reads. It is a zip archive, stored, with `data.pkl`, a pickle of protocol 2, in it
 * (https://docs.pytorch.org/docs/stable/notes/serialization.html#serialized-file-format-for-torch-save). No tensors, no classes: lists,
 * dictionaries, strings, numbers, booleans and None, which unpickle without code of anybody's.
 */
import { crc32 } from "node:zlib";
import { AppError } from "../../shared/errors.ts";

export type Plain = null | boolean | number | string | Float | readonly Plain[] | { readonly [key: string]: Plain };

/** A number that Python is to read as a float, whole or not. */
export class Float {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** The file's bytes; the same value gives the same bytes. @throws {train/nonFinite} for a number that is none */
export function torchFile(value: Plain): Uint8Array<ArrayBuffer> {
  return storedZip([
    { name: "archive/data.pkl", content: pickle(value) },
    { name: "archive/byteorder", content: Buffer.from("little") },
    { name: "archive/version", content: Buffer.from("3\n") },
  ]);
}

// Opcodes of https://docs.python.org/3/library/pickletools.html
const [PROTO, STOP, NONE, TRUE, FALSE] = [0x80, 0x2e, 0x4e, 0x88, 0x89];
const [INT32, LONG, DOUBLE, UNICODE] = [0x4a, 0x8a, 0x47, 0x58];
const [MARK, EMPTY_LIST, APPENDS, EMPTY_DICT, SETITEMS] = [0x28, 0x5d, 0x65, 0x7d, 0x75];

function pickle(value: Plain): Buffer {
  const parts: Buffer[] = [Buffer.of(PROTO, 2)];
  write(value, parts);
  parts.push(Buffer.of(STOP));
  return Buffer.concat(parts);
}

function write(value: Plain, parts: Buffer[]): void {
  if (value === null) parts.push(Buffer.of(NONE));
  else if (typeof value === "boolean") parts.push(Buffer.of(value ? TRUE : FALSE));
  else if (value instanceof Float) parts.push(float(value.value));
  else if (typeof value === "number") parts.push(Number.isInteger(value) ? whole(value) : float(value));
  else if (typeof value === "string") parts.push(text(value));
  else if (isList(value)) {
    parts.push(Buffer.of(EMPTY_LIST, MARK));
    for (const each of value) write(each, parts);
    parts.push(Buffer.of(APPENDS));
  } else {
    parts.push(Buffer.of(EMPTY_DICT, MARK));
    for (const [key, each] of Object.entries(value)) {
      parts.push(text(key));
      write(each, parts);
    }
    parts.push(Buffer.of(SETITEMS));
  }
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

function float(value: number): Buffer {
  if (!Number.isFinite(value)) throw new AppError("train/nonFinite", `export: finite numbers expected, got ${value}`);
  const bytes = Buffer.alloc(9);
  bytes.writeUInt8(DOUBLE);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function whole(value: number): Buffer {
  const small = value >= -(2 ** 31) && value < 2 ** 31;
  const bytes = Buffer.alloc(small ? 5 : 10);
  bytes.writeUInt8(small ? INT32 : LONG);
  if (small) bytes.writeInt32LE(value, 1);
  else {
    bytes.writeUInt8(8, 1);
    bytes.writeBigInt64LE(BigInt(value), 2);
  }
  return bytes;
}

function text(value: string): Buffer {
  const content = Buffer.from(value, "utf8");
  const head = Buffer.alloc(5);
  head.writeUInt8(UNICODE);
  head.writeUInt32LE(content.length, 1);
  return Buffer.concat([head, content]);
}

const VERSION = 20; // of the format, 2.0
const NEW_YEAR_1980 = 0x21; // the first day that an entry can have: the same content gives the same bytes
const LIMIT = 2 ** 32 - 1;

/** Entries uncompressed (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3). */
function storedZip(entries: readonly { name: string; content: Buffer }[]): Uint8Array<ArrayBuffer> {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    if (offset + content.length > LIMIT)
      throw new AppError("input/tooLarge", `export: rollouts of at most ${LIMIT} bytes expected, got more; export less with --most`);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(NEW_YEAR_1980, 8);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    locals.push(Buffer.from("PK\u0003\u0004"), common, Buffer.from(name), content);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from("PK\u0001\u0002"), Buffer.of(VERSION, 0), common, rest, Buffer.from(name));
    offset += 30 + Buffer.byteLength(name) + content.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...locals, directory, end]));
}
