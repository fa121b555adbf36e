/** Which parent a version is trained from, and that bases are never mixed. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBase } from "../../../cli/base-files.ts";
import { AppError } from "../../../shared/errors.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { createParentLoader, hasBase } from "../../../trainer/policy/parent.ts";
import { largeAdapter } from "../../helpers/large-adapter.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nextstate-parent-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("createParentLoader", () => {
  it("gives the bare base for a version without an adapter, and refuses an edge with another base", async () => {
    const own = await writeRandomBase(join(folder, "own"), 1);
    const other = await writeRandomBase(join(folder, "other"), 2);
    const [served, foreign] = [await readBase(own), await readBase(other)];
    // A base that an engine serves may be known by its name alone.
    const named = { digest: "named", manifestJson: '{"name": "Qwen/Qwen3-4B", "files": {}}' };
    const manifests = new Map([served, foreign, named].map(({ digest, manifestJson }) => [digest, new TextEncoder().encode(manifestJson)]));
    const load = createParentLoader(
      { getFile: async (digest) => manifests.get(digest) ?? new Uint8Array() },
      { base: loadBase(own), folder: own },
    );
    expect(await load({ adapter: null, baseDigest: served.digest })).toBeNull();
    expect([await hasBase(load, { baseDigest: served.digest }), await hasBase(load, { baseDigest: foreign.digest })]).toEqual([
      true,
      false,
    ]);
    await expect(load({ adapter: null, baseDigest: foreign.digest })).rejects.toThrow(
      /model.safetensors in .* of the edge's base expected/,
    );
    await expect(load({ adapter: null, baseDigest: named.digest })).rejects.toMatchObject({ code: "policy/digest" });
  });

  it("compares the base once, whoever asks at once and however it comes out, and again where the edge was away", async () => {
    const [own, other] = [await writeRandomBase(join(folder, "once"), 4), await writeRandomBase(join(folder, "not"), 5)];
    const [served, foreign] = [await readBase(own), await readBase(other)];
    const manifests = new Map([served, foreign].map(({ digest, manifestJson }) => [digest, new TextEncoder().encode(manifestJson)]));
    const asked: string[] = [];
    const away = new AppError("upstream/unreachable", "no edge");
    const getFile = async (digest: string): Promise<Uint8Array<ArrayBuffer>> => {
      asked.push(digest);
      if (asked.length === 1) throw away;
      return manifests.get(digest) ?? new Uint8Array();
    };
    const load = createParentLoader({ getFile }, { base: loadBase(own), folder: own });
    const has = ({ digest }: { digest: string }): Promise<boolean> => hasBase(load, { baseDigest: digest });
    await expect(has(served)).rejects.toBe(away);
    expect(await Promise.all([has(served), has(served), has(foreign), has(foreign)])).toEqual([true, true, false, false]);
    expect([await has(served), await has(foreign)]).toEqual([true, false]);
    expect(asked).toEqual([served.digest, served.digest, foreign.digest]);
  });

  it("reads an adapter that is asked for twice running once, and another one in between anew", async () => {
    const own = await writeRandomBase(join(folder, "twice"), 3);
    const [{ digest, manifestJson }, base] = [await readBase(own), loadBase(own)];
    const { configBytes, weightBytes, rank, alpha } = largeAdapter(2, base.config);
    const asked: string[] = [];
    const getFile = async (file: string): Promise<Uint8Array<ArrayBuffer>> => {
      asked.push(file);
      return file === digest ? new TextEncoder().encode(manifestJson) : file.endsWith("config") ? configBytes : weightBytes;
    };
    const load = createParentLoader({ getFile }, { base, folder: own });
    const head = (name: string) => ({
      adapter: { configDigest: `${name} config`, weightsDigest: `${name} weights`, rank, alpha },
      baseDigest: digest,
    });
    const first = await load(head("a"));
    expect([await load(head("a")), first?.rank]).toEqual([first, 2]);
    await load(head("b"));
    await load(head("a"));
    expect(asked).toEqual([digest, ...["a", "b", "a"].flatMap((name) => [`${name} config`, `${name} weights`])]);
  });
});
