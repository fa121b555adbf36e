/** Adapters of real models, larger than an isolate holds: to the edge in parts, whole to the engine's machine, and back to a trainer. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startAdapterHost, type AdapterHost } from "../../../cli/adapter-host.ts";
import { sha256 } from "../../../shared/digest.ts";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { ADAPTER_PART_BYTES, MOST_ADAPTER_BYTES, type AdapterFiles } from "../../../shared/policy.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { uploadAdapter } from "../../../trainer/policy/publish.ts";
import { call, manifestOf, putAgent, putFile, utf8 } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { largeAdapter, QWEN3_4B } from "../../helpers/large-adapter.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import { KEY } from "./stand-in.ts";
import { Vllm } from "./stand-ins.ts";

const HOST_KEY = "key-of-the-host";
const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY, ENGINE_KEY_HOST: HOST_KEY } });
const engine = new Vllm();
const adapter = largeAdapter(16);
let folder = "";
let host: AdapterHost;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-large-"));
  host = await startAdapterHost({ folder, key: HOST_KEY });
  await engine.start();
});
afterAll(async () => {
  await Promise.all([host.close(), engine.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** A client, and the methods and paths of what it asked. */
function counting() {
  const asked: string[] = [];
  const client = createEdgeClient({
    edge: edge.url,
    key: edge.keys.trainer,
    fetch: (input, init) => (asked.push(`${init?.method} ${input instanceof Request ? input.url : input.toString()}`), fetch(input, init)),
  });
  return { client, asked };
}

/** An agent whose engine serves Qwen3-4B, as `upload` would have stored it. */
async function qwenAgent(name: string): Promise<void> {
  const { digest: config } = await putFile(edge, utf8(JSON.stringify(QWEN3_4B)));
  const manifest = { name: "Qwen3-4B", files: { "config.json": config, "model.safetensors": "0".repeat(64) } };
  const { digest: base } = await putFile(edge, utf8(JSON.stringify(manifest)));
  await putAgent(edge, name, {
    engine: {
      ...{ kind: "openai", flavour: "vllm", url: engine.url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST", base },
      adapterHost: { url: host.url, keySecret: "ENGINE_KEY_HOST" },
    },
  });
}

const partsLeft = async (): Promise<string[]> => (await (await edge.getR2()).list({ prefix: "uploads/" })).objects.map(({ key }) => key);

describe("an adapter of Qwen3-4B at rank 16", { timeout: 120_000 }, () => {
  const bytes = adapter.weightBytes.length;
  let files: AdapterFiles;

  it("goes to the edge in parts, once, and goes on where an upload broke off", async () => {
    expect(bytes).toBeGreaterThan(3 * ADAPTER_PART_BYTES);
    const digest = await sha256(adapter.weightBytes);
    const first = adapter.weightBytes.subarray(0, ADAPTER_PART_BYTES);
    const { client, asked } = counting();
    await fetch(`${edge.url}/trainer/v1/files/${digest}/parts/${await sha256(first)}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${edge.keys.trainer}` },
      body: first,
    });
    expect(await client.missingFiles([digest])).toEqual([digest]);
    files = await uploadAdapter(client, adapter);
    expect(files.weightsDigest).toBe(digest);
    const sent = (): string[] => asked.filter((each) => each.startsWith("PUT") && each.includes("/parts/"));
    expect(sent()).toHaveLength(Math.ceil(bytes / ADAPTER_PART_BYTES) - 1);
    await uploadAdapter(client, adapter);
    expect(sent()).toHaveLength(Math.ceil(bytes / ADAPTER_PART_BYTES) - 1);
    expect(await partsLeft()).toEqual([]);
  });

  it("is served: whole where the engine reads it, whatever the embedded kernel could hold", async () => {
    await qwenAgent("qwen");
    const published = await publishOn(edge, "qwen", files);
    expect(published).toMatchObject({ status: 200, body: { status: "published", version: 1, release: "stable" } });
    const { body: version } = await call(edge, "admin", "GET /api/agents/qwen/versions/1");
    const placed = engine.adapters.get(`nextstate-${version.policyDigest}`) ?? "";
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(join(placed, "adapter_model.safetensors"))) hash.update(chunk as Buffer);
    expect(hash.digest("hex")).toBe(files.weightsDigest);
    const talk = talkTo(edge, "qwen");
    await talk.ask([says("hi")]);
    expect(turnsOf(await talk.logged("turn:finished", 1))).toMatchObject([{ policyVersion: 1, policyDigest: version.policyDigest }]);
  });

  it("comes back to a trainer byte for byte, in parts or as one stream", async () => {
    const { client, asked } = counting();
    expect(Buffer.compare(await client.getFile(files.weightsDigest), adapter.weightBytes)).toBe(0);
    expect(asked).toHaveLength(Math.ceil(bytes / ADAPTER_PART_BYTES));
    const whole = await fetch(`${edge.url}/trainer/v1/files/${files.weightsDigest}`, {
      headers: { authorization: `Bearer ${edge.keys.trainer}` },
    });
    expect(await sha256(new Uint8Array(await whole.arrayBuffer()))).toBe(files.weightsDigest);
  });

  it("is refused with numbers where the embedded policy answers, and for a base of other shapes", async () => {
    await putAgent(edge, "embedded");
    expect((await publishOn(edge, "embedded", files)).body.error.message).toBe(
      `adapter: adapter_model.safetensors, which the embedded policy holds, of at most 33554432 bytes expected, got ${bytes}`,
    );
    await qwenAgent("other");
    const { client } = counting();
    const small = parseModelConfig({ ...QWEN3_4B, hidden_size: 64, intermediate_size: 96, num_hidden_layers: 2 });
    const misfit = await uploadAdapter(client, largeAdapter(2, small));
    expect((await publishOn(edge, "other", misfit)).body.error.message).toMatch(
      /layers\.0\.self_attn\.q_proj\.lora_A\.weight: shape \[2, 2560\] expected, got \[2, 64\]/,
    );
    const { body: head } = await call(edge, "trainer", "GET /trainer/v1/agents/other/lines/shared/head");
    const manifest = manifestOf({ agent: "other", baseDigest: head.baseDigest, adapter: { ...files, rank: 8 } });
    const { body } = await call(edge, "trainer", "POST /trainer/v1/agents/other/lines/shared/versions", { parent: 0, manifest });
    expect(body.error.message).toBe("manifest.adapter: rank 16 and alpha 32 as in its files expected, got 8 and 32");
  });
});

describe("files in parts", () => {
  it("are refused where the parts are another file, and leave nothing", async () => {
    const part = utf8("a part");
    const name = await sha256(part);
    const digest = await sha256(utf8("another file"));
    const headers = { authorization: `Bearer ${edge.keys.trainer}` };
    const put = await fetch(`${edge.url}/trainer/v1/files/${digest}/parts/${digest}`, { method: "PUT", headers, body: part });
    expect([put.status, JSON.stringify(await put.json())]).toEqual([
      422,
      expect.stringContaining(`file ${digest}: SHA-256 of its 6 bytes is ${name}`),
    ]);
    await fetch(`${edge.url}/trainer/v1/files/${digest}/parts/${name}`, { method: "PUT", headers, body: part });
    const joined = await call(edge, "trainer", `POST /trainer/v1/files/${digest}/parts`, { parts: [name] });
    expect([joined.status, joined.body.error.code]).toEqual([422, "policy/digest"]);
    expect(await partsLeft()).toEqual([]);
    expect((await call(edge, "trainer", "POST /trainer/v1/files/missing", { digests: [digest] })).body).toEqual({ missing: [digest] });
  });

  it("have a largest size, which is told before anything is sent", async () => {
    const { client, asked } = counting();
    await expect(client.putFile(new Uint8Array(MOST_ADAPTER_BYTES + 1))).rejects.toThrow(
      `file: at most ${MOST_ADAPTER_BYTES} bytes expected, got ${MOST_ADAPTER_BYTES + 1}`,
    );
    expect(asked).toEqual([]);
    const digest = "0".repeat(64);
    const { status } = await call(edge, "trainer", `POST /trainer/v1/files/${digest}/parts`, { parts: Array(41).fill(digest) });
    expect(status).toBe(400);
  });
});
