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

/** Says that an agent has versions with a file: agents may have the same one, and who lets go of it last takes it away. */
export async function claimArtifact(bucket: R2Bucket, digest: string, agent: string): Promise<void> {
  await bucket.put(claimKey(digest, agent), "");
}

/** Takes back what an agent said of a file, and leaves the file. */
export async function unclaimArtifact(bucket: R2Bucket, digest: string, agent: string): Promise<void> {
  await bucket.delete(claimKey(digest, agent));
}

/** Takes back what an agent said of a file, and the file itself where no other agent has it. */
export async function releaseArtifact(bucket: R2Bucket, digest: string, agent: string): Promise<void> {
  await unclaimArtifact(bucket, digest, agent);
  const { objects } = await bucket.list({ prefix: claimKey(digest, ""), limit: 1 });
  if (objects.length === 0) await bucket.delete(artifactKey(digest));
}

function claimKey(digest: string, agent: string): string {
  return `claims/${digest}/${agent}`;
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

/** A file as a response has it: checked where an isolate may hold it, else as a stream. Undefined where there is none. */
export async function servedArtifact(
  bucket: R2Bucket,
  digest: string,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | undefined> {
  const bytes = await artifactBytes(bucket, digest);
  if (bytes === undefined) return undefined;
  return bytes <= MAX_ARTIFACT_BYTES ? getArtifact(bucket, digest) : (await openArtifact(bucket, digest))?.body;
}

/** Undefined where nothing is stored. */
export async function artifactBytes(bucket: R2Bucket, digest: string): Promise<number | undefined> {
  return (await bucket.head(artifactKey(digest)))?.size;
}

/** What is wrong with what is stored under a digest, without reading it: nothing is, or bytes of which storage itself has computed another digest. */
export async function storedFault(bucket: R2Bucket, digest: string): Promise<string | undefined> {
  const object = await bucket.head(artifactKey(digest));
  if (object === null) return "nothing";
  const actual = object.checksums.toJSON().sha256 ?? digest;
  return actual === digest ? undefined : `${object.size} bytes of SHA-256 ${actual}`;
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
