/** Files of the edge by digest: small ones in one piece, larger ones in parts. */
import { z } from "zod";
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { ADAPTER_PART_BYTES, MOST_ADAPTER_BYTES } from "../../shared/policy.ts";
import type { EdgePort } from "./edge-port.ts";
import type { Transport } from "./transport.ts";

const FILE_TIMEOUT_MS = 120_000; // a part of a base over a thin line
const JOIN_TIMEOUT_MS = 300_000; // hundreds of megabytes are read and written again
const TOO_LARGE = 413;

const MissingList = z.object({ missing: z.array(z.string()) });

export function fileCalls(transport: Transport): Pick<EdgePort, "putFile" | "missingFiles" | "getFile"> {
  return {
    async putFile(bytes) {
      if (bytes.length > MOST_ADAPTER_BYTES)
        throw new AppError("input/tooLarge", `file: at most ${MOST_ADAPTER_BYTES} bytes expected, got ${bytes.length}`, {
          details: { status: TOO_LARGE },
        });
      const digest = await sha256(bytes);
      if (bytes.length > ADAPTER_PART_BYTES) await putInParts(transport, digest, bytes);
      else await transport.call(`/files/${digest}`, { method: "PUT", body: bytes, timeoutMs: FILE_TIMEOUT_MS });
      return digest;
    },
    missingFiles: async (digests) =>
      (await transport.callJson(MissingList, "/files/missing", { method: "POST", body: JSON.stringify({ digests }) })).missing,
    async getFile(digest) {
      const bytes = await getInParts(transport, digest);
      const got = await sha256(bytes);
      if (got !== digest) throw new AppError("policy/digest", `file ${digest} expected, got bytes of ${got}`);
      return bytes;
    },
  };
}

/** Sends what the edge has not, and has it joined: an upload that broke off goes on. @throws {upstream/invalid} where parts do not stay */
async function putInParts(transport: Transport, digest: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  const parts = new Map<string, Uint8Array<ArrayBuffer>>();
  const order: string[] = [];
  for (let start = 0; start < bytes.length; start += ADAPTER_PART_BYTES) {
    const part = bytes.subarray(start, start + ADAPTER_PART_BYTES);
    const name = await sha256(part);
    parts.set(name, part);
    order.push(name);
  }
  const join = () =>
    transport.callJson(MissingList, `/files/${digest}/parts`, {
      method: "POST",
      body: JSON.stringify({ parts: order }),
      timeoutMs: JOIN_TIMEOUT_MS,
    });
  for (const name of (await join()).missing) {
    const body = parts.get(name);
    if (body !== undefined) await transport.call(`/files/${digest}/parts/${name}`, { method: "PUT", body, timeoutMs: FILE_TIMEOUT_MS });
  }
  const { missing } = await join();
  if (missing.length > 0)
    throw new AppError("upstream/invalid", `file ${digest}: the parts that were sent expected, got ${missing.join(", ")} missing`);
}

async function getInParts(transport: Transport, digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (let start = 0; ; start += ADAPTER_PART_BYTES) {
    // What does not know `start` gives the whole file, or its beginning again and again.
    if (start > MOST_ADAPTER_BYTES)
      throw new AppError("upstream/invalid", `file ${digest}: at most ${MOST_ADAPTER_BYTES} bytes expected, got more`);
    const part = await transport.call(`/files/${digest}?start=${start}`, { timeoutMs: FILE_TIMEOUT_MS, mostBytes: ADAPTER_PART_BYTES });
    parts.push(part);
    if (part.length < ADAPTER_PART_BYTES) break;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : new Uint8Array(Buffer.concat(parts));
}
