/** Files of a tar archive, gzipped or not, by their last name. Layout: https://www.gnu.org/software/tar/manual/html_node/Standard.html */
import { gunzipSync } from "node:zlib";
import { AppError } from "../../shared/errors.ts";

const BLOCK = 512;
const [NAME_BYTES, SIZE_AT, SIZE_BYTES, TYPE_AT] = [100, 124, 12, 156];
const REGULAR = new Set(["0", "\0"]);

/** @throws {upstream/invalid} for bytes that are no archive */
export function filesOfTar(archive: Uint8Array): Map<string, Uint8Array<ArrayBuffer>> {
  const bytes = archive[0] === 0x1f && archive[1] === 0x8b ? gunzipSync(archive) : Buffer.from(archive);
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  for (let start = 0; start + BLOCK <= bytes.length && bytes[start] !== 0;) {
    const size = Number.parseInt(text(bytes, start + SIZE_AT, SIZE_BYTES), 8);
    if (!Number.isInteger(size) || start + BLOCK + size > bytes.length)
      throw new AppError("upstream/invalid", `archive: a tar file expected, got an entry of ${size} bytes at ${start} of ${bytes.length}`);
    const name = text(bytes, start, NAME_BYTES);
    if (REGULAR.has(String.fromCharCode(bytes[start + TYPE_AT] ?? 0)))
      files.set(name.slice(name.lastIndexOf("/") + 1), new Uint8Array(bytes.subarray(start + BLOCK, start + BLOCK + size)));
    start += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function text(bytes: Buffer, start: number, length: number): string {
  return bytes
    .toString("utf8", start, start + length)
    .replace(/\0.*$/s, "")
    .trim();
}
