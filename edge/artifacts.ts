/** Files in R2 by the SHA-256 of their bytes. What is stored under a digest never changes. */
import { sha256 } from "../shared/digest.ts";
import { AppError } from "../shared/errors.ts";

/** Largest body taken over HTTP, and largest file held: it is in memory while its digest is computed, and an isolate has 128 MB. */
export const MAX_ARTIFACT_BYTES = 33_554_432;

export function artifactKey(digest: string): string {
  return `files/${digest}`;
}

/** Where the payload of an event lies that is too large for a row. */
export function payloadKey(eventId: string): string {
  return `payloads/${eventId}`;
}

/** Stores bytes under the digest that they are claimed to have. @throws {policy/digest} where they have another. */
export async function putArtifact(bucket: R2Bucket, digest: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  await checkDigest(digest, bytes, "policy/digest");
  await bucket.put(artifactKey(digest), bytes, { sha256: digest });
}

/** Bytes of a file, checked. @returns undefined where there is none. @throws {upstream/invalid} where R2 holds other bytes. */
export async function getArtifact(bucket: R2Bucket, digest: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const object = await bucket.get(artifactKey(digest));
  if (object === null) return undefined;
  const bytes = new Uint8Array(await object.arrayBuffer());
  await checkDigest(digest, bytes, "upstream/invalid");
  return bytes;
}

/**
 * A file as a stream, or some of it: what is larger than an isolate may hold. Nothing is checked here: storage has checked its digest
 * when it was put, and whoever gets it does again.
 */
export async function openArtifact(
  bucket: R2Bucket,
  digest: string,
  range?: { offset: number; length: number },
): Promise<{ bytes: number; body: ReadableStream<Uint8Array> } | undefined> {
  const object = await bucket.get(artifactKey(digest), range === undefined ? {} : { range });
  if (object === null) return undefined;
  const body: unknown = object.body; // in the tests' program, whose streams are Node's, it is of another type
  return { bytes: object.size, body: body as ReadableStream<Uint8Array> };
}

/** Undefined where nothing is stored. */
export async function artifactBytes(bucket: R2Bucket, digest: string): Promise<number | undefined> {
  return (await bucket.head(artifactKey(digest)))?.size;
}

/** Those of the digests under which nothing is stored. */
export async function missingArtifacts(bucket: R2Bucket, digests: readonly string[]): Promise<string[]> {
  const heads = await Promise.all(digests.map((digest) => bucket.head(artifactKey(digest))));
  return digests.filter((_, index) => heads[index] === null);
}

/** @throws with the code for bytes of another digest */
export async function checkDigest(
  digest: string,
  bytes: Uint8Array<ArrayBuffer>,
  code: "policy/digest" | "upstream/invalid",
): Promise<void> {
  const actual = await sha256(bytes);
  if (actual !== digest) throw new AppError(code, `file ${digest}: SHA-256 of its ${bytes.length} bytes is ${actual}`);
}
