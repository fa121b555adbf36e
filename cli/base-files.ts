/** Puts a base checkpoint into the bucket under its digests and names it by the digest of its manifest. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Miniflare } from "miniflare";
import { canonicalJson, sha256 } from "../shared/digest.ts";
import { checkEmbeddedShape } from "../shared/embedded-shape.ts";
import { AppError } from "../shared/errors.ts";
import { parseModelConfig } from "../shared/model-config.ts";
import type { BaseManifest } from "../shared/policy.ts";

const REQUIRED_FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
const OPTIONAL_FILES = ["generation_config.json", "chat_template.jinja"];

/** A bucket as Miniflare hands it to Node: R2's interface on undici's own Headers. */
export type R2Bucket = Awaited<ReturnType<Miniflare["getR2Bucket"]>>;

export type Base = { digest: string; manifest: BaseManifest; manifestJson: string; files: Map<string, Uint8Array<ArrayBuffer>> };

/** Reads a Hugging Face folder; `files` is by digest. @throws {input/notFound | policy/refused} naming what the folder lacks, or what the Worker cannot run */
export async function readBase(folder: string): Promise<Base> {
  const missing = REQUIRED_FILES.filter((name) => !existsSync(join(folder, name)));
  if (missing.length > 0) throw new AppError("input/notFound", `base folder ${folder}: ${missing.join(", ")} expected, not found`);
  checkEmbeddedShape(parseModelConfig(JSON.parse(await readFile(join(folder, "config.json"), "utf8"))));
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const manifest: BaseManifest = { name: basename(resolve(folder)), files: {} };
  for (const name of [...REQUIRED_FILES, ...OPTIONAL_FILES.filter((each) => existsSync(join(folder, each)))]) {
    const bytes = new Uint8Array(await readFile(join(folder, name)));
    const digest = await sha256(bytes);
    manifest.files[name] = digest;
    files.set(digest, bytes);
  }
  const manifestJson = canonicalJson(manifest);
  return { digest: await sha256(manifestJson), manifest, manifestJson, files };
}

/** Uploads what the bucket lacks, the manifest last, so that a manifest found means that its files are there. */
export async function uploadBase(bucket: R2Bucket, base: Base): Promise<void> {
  if ((await bucket.head(artifactKey(base.digest))) !== null) return;
  for (const [digest, bytes] of base.files) {
    if ((await bucket.head(artifactKey(digest))) === null) await bucket.put(artifactKey(digest), bytes);
  }
  await bucket.put(artifactKey(base.digest), base.manifestJson);
}

/** The same for a bucket that takes files: `list` says where each lies and under which key it goes. */
export async function writeUploadList(base: Base, folder: string): Promise<{ list: string; manifestFile: string }> {
  const entries = await Promise.all(
    [...base.files].map(async ([digest, bytes]) => {
      const file = join(folder, digest);
      await writeFile(file, bytes);
      return { key: artifactKey(digest), file };
    }),
  );
  const [list, manifestFile] = [join(folder, "list.json"), join(folder, "manifest.json")];
  await writeFile(list, JSON.stringify(entries));
  await writeFile(manifestFile, base.manifestJson);
  return { list, manifestFile };
}

// As edge/artifacts.ts names them.
function artifactKey(digest: string): string {
  return `files/${digest}`;
}
