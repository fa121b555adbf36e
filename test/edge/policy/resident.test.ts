/** The isolate's policy is loaded once, by whoever comes first; a load that fails is not the end. */
import { describe, expect, it } from "vitest";
import { randomBaseFiles, SHIPPED_SIZES } from "../../../bench/base-files.ts";
import type { ReadFile } from "../../../edge/policy/completion.ts";
import { BaseManifest } from "../../../shared/policy.ts";
import { residentPolicy } from "../../../edge/policy/resident.ts";
import { sha256 } from "../../../shared/digest.ts";
import { kernelModule } from "../kernel/decode.ts";

const SIZES = { ...SHIPPED_SIZES, vocabSize: 320, hiddenSize: 32, layerCount: 1, headDim: 32, intermediateSize: 32 };

/** A stored base: its manifest's digest, and a reader that counts. */
async function storedBase(
  seed: number,
): Promise<{ baseDigest: string; readFile: ReadFile; reads: () => number; store: Map<string, Uint8Array<ArrayBuffer>> }> {
  const store = new Map<string, Uint8Array<ArrayBuffer>>();
  const put = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
    const digest = await sha256(bytes);
    store.set(digest, bytes);
    return digest;
  };
  const files = await Promise.all(Array.from(randomBaseFiles(SIZES, seed), async ([name, bytes]) => [name, await put(bytes)] as const));
  const baseDigest = await put(new TextEncoder().encode(JSON.stringify({ name: "random", files: Object.fromEntries(files) })));
  let reads = 0;
  const readFile: ReadFile = async (digest) => {
    reads += 1;
    const bytes = store.get(digest);
    if (bytes === undefined) throw new Error(`stored file expected, got ${digest}`);
    return bytes;
  };
  return { baseDigest, readFile, reads: () => reads, store };
}

describe("residentPolicy", () => {
  it("loads a base once for all who ask at the same time", async () => {
    const { baseDigest, readFile, reads } = await storedBase(1);
    const policies = await Promise.all(Array.from({ length: 5 }, () => residentPolicy({ kernelModule, baseDigest, readFile })));
    expect(new Set(policies).size).toBe(1);
    expect(reads()).toBe(5); // the manifest and four files
  });

  it("replaces the base when another is asked for", async () => {
    const [first, second] = [await storedBase(2), await storedBase(3)];
    const policy = await residentPolicy({ kernelModule, ...first });
    expect(await residentPolicy({ kernelModule, ...second })).not.toBe(policy);
  });

  it("lets one who waited load for himself when the first load fails", async () => {
    const { baseDigest, readFile } = await storedBase(4);
    const failing: ReadFile = async () => Promise.reject(new Error("storage is down"));
    const [first, second] = await Promise.allSettled([
      residentPolicy({ kernelModule, baseDigest, readFile: failing }),
      residentPolicy({ kernelModule, baseDigest, readFile }),
    ]);
    expect([first?.status, second?.status]).toEqual(["rejected", "fulfilled"]);
  });

  it("names the file that a base lacks", async () => {
    const { readFile, store } = await storedBase(5);
    const manifest = new TextEncoder().encode(JSON.stringify({ name: "empty", files: {} }));
    const baseDigest = await sha256(manifest);
    store.set(baseDigest, manifest);
    await expect(residentPolicy({ kernelModule, baseDigest, readFile })).rejects.toThrow("file config.json expected");
  });

  it("calls a stored base that the kernel cannot run the server's fault, not the client's", async () => {
    const { baseDigest, readFile, store } = await storedBase(6);
    const { files } = BaseManifest.parse(JSON.parse(new TextDecoder().decode(store.get(baseDigest))));
    const cut: ReadFile = async (digest) => {
      const bytes = await readFile(digest);
      return digest === files["model.safetensors"] ? bytes.slice(0, bytes.length - 8) : bytes;
    };
    const failure = await residentPolicy({ kernelModule, baseDigest, readFile: cut }).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: "upstream/invalid", status: 502 });
  });
});
