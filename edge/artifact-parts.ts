/**
 * Files that are larger than a request: kept in parts until all are there, then joined to one object whose digest storage itself checks.
 * A part at a time passes through the isolate, and none is held once the file is whole.
 */
import { AppError } from "../shared/errors.ts";
import { artifactKey, checkDigest } from "./artifacts.ts";

/** What nobody has joined after so long is of an upload that was given up. */
const GIVEN_UP_MS = 24 * 3_600_000;
const MOST_DELETED = 1_000; // that R2 takes in one call
const WRONG_DIGEST = "(10037)"; // as R2 ends the message of a put whose bytes are others than its sha256 says

function partPrefix(digest: string): string {
  return `uploads/${digest}/`;
}

/** Keeps a part of a file until it is joined. @throws {policy/digest} where the bytes have another digest */
export async function putPart(
  bucket: R2Bucket,
  { digest, part }: { digest: string; part: string },
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  await checkDigest(part, bytes, "policy/digest");
  await bucket.put(`${partPrefix(digest)}${part}`, bytes, { sha256: part });
}

/**
 * Makes a file of its parts, which are dropped then.
 * @returns those that are not there; none where the file is
 * @throws {policy/digest} where together they are another file
 */
export async function joinParts(bucket: R2Bucket, digest: string, parts: readonly string[]): Promise<string[]> {
  const prefix = partPrefix(digest);
  const { objects } = await bucket.list({ prefix });
  const isThere = (await bucket.head(artifactKey(digest))) !== null;
  const sizes = new Map(objects.map(({ key, size }) => [key.slice(prefix.length), size]));
  const missing = isThere ? [] : [...new Set(parts)].filter((part) => !sizes.has(part));
  if (missing.length > 0) return missing;
  const bytes = parts.reduce((sum, part) => sum + (sizes.get(part) ?? 0), 0);
  const keys = parts.map((part) => `${prefix}${part}`);
  const fault = isThere ? undefined : await putJoined(bucket, { digest, keys, bytes }).then(() => undefined, digestFault);
  await dropParts(bucket, objects);
  if (fault !== undefined)
    throw new AppError("policy/digest", `file ${digest}: parts that are it expected, got ${bytes} bytes of another digest`, {
      cause: fault,
    });
  return [];
}

/** The refusal of what has another digest; anything else is thrown on. */
function digestFault(thrown: unknown): Error {
  if (thrown instanceof Error && thrown.message.includes(WRONG_DIGEST)) return thrown;
  throw thrown;
}

/** Those of one file, and what uploads have left that were given up. */
async function dropParts(bucket: R2Bucket, own: readonly R2Object[]): Promise<void> {
  const { objects } = await bucket.list({ prefix: "uploads/" });
  const old = objects.filter(({ uploaded }) => Date.now() - uploaded.getTime() > GIVEN_UP_MS);
  const keys = [...new Set([...own, ...old].map(({ key }) => key))];
  await bucket.delete(keys.slice(0, MOST_DELETED));
}

async function putJoined(
  bucket: R2Bucket,
  { digest, keys, bytes }: { digest: string; keys: readonly string[]; bytes: number },
): Promise<void> {
  const { readable, writable } = new FixedLengthStream(bytes);
  const put = bucket.put(artifactKey(digest), readable, { sha256: digest });
  await Promise.all([put, pipeAll(bucket, keys, writable)]);
}

async function pipeAll(bucket: R2Bucket, keys: readonly string[], writable: WritableStream<Uint8Array>): Promise<void> {
  try {
    for (const key of keys) {
      const object = await bucket.get(key);
      if (object === null) throw new AppError("internal", `internal: part ${key} is not stored any more`);
      await object.body.pipeTo(writable, { preventClose: true });
    }
    await writable.close();
  } catch (thrown) {
    await writable.abort(thrown).catch(() => undefined); // the put that reads from it hears of it, and fails
    throw thrown;
  }
}
