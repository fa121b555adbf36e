/** A trainer anywhere: given a URL and a key it fetches the base, takes the lease, and works; it leaves what it is told to stop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { chooseDevice } from "../../../trainer/onnx/device.ts";
import { fetchBase } from "../../../trainer/policy/fetch-base.ts";
import { call, putAgent, putFile, utf8 } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const AGENT = "anywhere";
let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nextstate-anywhere-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

const lease = async (body: unknown) => (await call(edge, "trainer", `POST /trainer/v1/agents/${AGENT}/lease`, body)).body;

describe("npm run trainer", { timeout: 200_000 }, () => {
  it("needs a URL and a key, and nothing else", async () => {
    await putAgent(edge, AGENT);
    const args = [
      resolve("trainer/main.ts"),
      "--url",
      edge.url,
      "--key",
      edge.keys.trainer,
      "--name",
      "far",
      "--threads",
      "1",
      "--wait-ms",
      "500",
    ];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => void (said += chunk.toString()));
    await expect.poll(() => said, { timeout: 100_000 }).toContain("line:opened");
    const { device, reason } = await chooseDevice("auto");
    expect(said).toContain(`trainer:device device="${device}" reason=${JSON.stringify(reason)} compute="float32"`);
    expect(await lease({ holder: "near" })).toMatchObject({ status: "taken", holder: "far" });
    expect((await readdir(join(folder, ".nextstate", "trainer", "bases", edge.baseDigest, "base"))).toSorted()).toContain(
      "model.safetensors",
    );
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    // It gave the lease back, so nobody waits for its end.
    expect(await lease({ holder: "near" })).toMatchObject({ status: "held" });
  });
});

describe("fetchBase", () => {
  const client = () => createEdgeClient({ edge: edge.url, key: edge.keys.trainer });

  it("fetches a base once, whole or not at all", async () => {
    const place = await fetchBase(client(), { digest: edge.baseDigest, folder: join(folder, "once") });
    await writeFile(join(place, "mark"), "here");
    const asked: string[] = [];
    const counting = { getFile: (digest: string) => (asked.push(digest), client().getFile(digest)) };
    expect(await fetchBase(counting, { digest: edge.baseDigest, folder: join(folder, "once") })).toBe(place);
    expect([asked, await readdir(place)]).toEqual([[edge.baseDigest], expect.arrayContaining(["mark", "config.json"])]);
    let left = 2;
    const breaking = { getFile: (digest: string) => (left-- > 0 ? client().getFile(digest) : Promise.reject(new Error("gone"))) };
    await expect(fetchBase(breaking, { digest: edge.baseDigest, folder: join(folder, "half") })).rejects.toThrow("gone");
    expect(await readdir(join(folder, "half", edge.baseDigest))).toEqual([]);
  });

  it("begins again where a process of the same number was killed, and clears away what nobody is at any more", async () => {
    const place = join(folder, "killed", edge.baseDigest);
    const name = basename(await fetchBase(client(), { digest: edge.baseDigest, folder: join(folder, "named") }));
    const [own, old, young] = [`.${name}-${process.pid}`, `.${name}-1`, `.${name}-2`] as const;
    for (const each of [own, old, young]) {
      await mkdir(join(place, each), { recursive: true });
      await writeFile(join(place, each, "config.json"), "half");
    }
    const longAgo = new Date(Date.now() - 2 * 24 * 3_600_000);
    await utimes(join(place, old), longAgo, longAgo);
    const fetched = await fetchBase(client(), { digest: edge.baseDigest, folder: join(folder, "killed") });
    expect(await readFile(join(fetched, "config.json"), "utf8")).toContain("vocab_size");
    expect((await readdir(place)).toSorted()).toEqual([young, name]);
  });

  it.each(["../outside", ".hidden", "a/b", ""])("writes no file called %j", async (name) => {
    const { digest: file } = await putFile(edge, utf8("content"));
    const { digest } = await putFile(edge, utf8(JSON.stringify({ name: "base", files: { [name]: file } })));
    await expect(fetchBase(client(), { digest, folder: join(folder, "names") })).rejects.toThrow("plain file names expected");
  });
});
