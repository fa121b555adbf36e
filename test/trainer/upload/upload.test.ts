/** A base of several files, larger than a request may be, on its way to a real edge and back to a trainer. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BaseManifest, PART_BYTES } from "../../../shared/policy.ts";
import { type FloatTensor, parseSafetensors, toFloat32, writeSafetensors } from "../../../shared/safetensors.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { checkSameBase } from "../../../trainer/policy/base.ts";
import { fetchBase } from "../../../trainer/policy/fetch-base.ts";
import { uploadCommand } from "../../../trainer/upload/command.ts";
import { readPart, splitBase } from "../../../trainer/upload/parts.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { runCommand, type Ran } from "../run-command.ts";

const edge = withEdge();
let folder = "";
let base = "";
const SHARDS = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] as const;

/** A random base in two shards, of which the second needs two parts. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-upload-"));
  base = await writeRandomBase(join(folder, "sharded"));
  const whole = join(base, "model.safetensors");
  const tensors = parseSafetensors(new Uint8Array(await readFile(whole)));
  const small = new Map<string, FloatTensor>(
    [...tensors].map(([name, tensor]) => [name, { shape: tensor.shape, values: toFloat32(tensor) }]),
  );
  const values = Float32Array.from({ length: 2_200_000 }, (_, index) => (index % 8_191) / 8_191);
  await writeFile(join(base, SHARDS[0]), writeSafetensors(small, { type: "BF16" }));
  await writeFile(join(base, SHARDS[1]), writeSafetensors(new Map([["padding", { shape: [values.length], values }]]), { type: "F32" }));
  const weight_map = Object.fromEntries([...[...small.keys()].map((name) => [name, SHARDS[0]]), ["padding", SHARDS[1]]]);
  await writeFile(join(base, "model.safetensors.index.json"), JSON.stringify({ metadata: {}, weight_map }));
  await rm(whole);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const client = () => createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
const upload = (...args: string[]): Promise<Ran> => runCommand(uploadCommand, ...args, "--url", edge.url, "--key", edge.keys.trainer);

describe("npm run trainer -- upload", { timeout: 200_000 }, () => {
  it("sends what is missing in parts, and trainers fetch the same base back", async () => {
    const { manifest, parts } = splitBase(base, { onRead: () => undefined });
    const [first] = parts.slice(-2);
    if (first === undefined) throw new Error("two parts of the last shard expected");
    // An earlier run broke off after this one.
    await client().putFile(readPart(first));
    // The edge's own base has some of the same files.
    const missing = await client().missingFiles(parts.map((part) => part.digest));
    expect(missing.length).toBeGreaterThan(0);
    const sent = await upload("--base", base);
    expect([sent.code, sent.err]).toEqual([0, expect.stringContaining("uploading")]);
    const { base: digest, ...told } = JSON.parse(sent.out);
    expect(told).toMatchObject({
      name: "sharded",
      parts: parts.length,
      sent: missing.length,
      files: expect.arrayContaining([...SHARDS]),
    });
    expect(JSON.parse((await upload("--base", base)).out)).toMatchObject({ base: digest, sent: 0 });

    const stored = BaseManifest.parse(JSON.parse(Buffer.from(await client().getFile(digest)).toString()));
    expect(stored).toEqual(manifest);
    expect(Object.values(stored.parts ?? {}).map((each) => each.length)).toEqual([2]);
    expect(parts.every(({ bytes }) => bytes <= PART_BYTES)).toBe(true);
    const place = await fetchBase(client(), { digest, folder: join(folder, "fetched") });
    await checkSameBase(place, stored);
    expect(readdirSync(place).toSorted()).toEqual(readdirSync(base).toSorted());

    // An engine that serves it is told so, and the agent's line begins from it.
    const engine = { kind: "openai", flavour: "vllm", url: "http://127.0.0.1:9", model: "sharded", base: digest };
    await putAgent(edge, "sharded", { engine });
    expect((await call(edge, "trainer", "GET /trainer/v1/agents/sharded/lines/shared/head")).body).toMatchObject({ baseDigest: digest });
    const tokens = await fetchBase(client(), { digest, folder: join(folder, "tokens"), weights: false });
    expect(readdirSync(tokens).filter((name) => name.includes("safetensors"))).toEqual([]);
  });

  it("finds a shard that is another's, and one that is not there", async () => {
    const { manifest } = splitBase(base, { onRead: () => undefined });
    const other = await mkdtemp(join(folder, "other-"));
    for (const name of readdirSync(base)) await writeFile(join(other, name), await readFile(join(base, name)));
    await expect(checkSameBase(other, manifest)).resolves.toBeUndefined();
    await writeFile(join(other, SHARDS[1]), "something else");
    await expect(checkSameBase(other, manifest)).rejects.toThrow(`${SHARDS[1]} in ${other}: digest`);
    await rm(join(other, SHARDS[1]));
    await expect(checkSameBase(other, manifest)).rejects.toThrow(`${SHARDS[1]} in ${other}: a file of digest`);
    expect(await upload("--base", other)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${SHARDS[1]} expected, as model.safetensors.index.json says`),
    });
    expect(await upload("--base", folder)).toMatchObject({ code: 2, err: expect.stringContaining("config.json expected, got none") });
  });

  it.each([
    { name: "chat_template.jinja", content: "{{ messages[0].content }}" },
    { name: "generation_config.json", content: '{"eos_token_id": 3}' },
    { name: "model.safetensors", content: undefined },
  ])("finds a $name that would be read beside what the digest is of", async ({ name, content }) => {
    const { manifest } = splitBase(base, { onRead: () => undefined });
    const { [name]: _, ...files } = manifest.files;
    const other = await mkdtemp(join(folder, "beside-"));
    for (const each of Object.keys(files)) await writeFile(join(other, each), await readFile(join(base, each)));
    await expect(checkSameBase(other, { ...manifest, files })).resolves.toBeUndefined();
    await writeFile(join(other, name), content ?? (await readFile(join(base, SHARDS[0]))));
    await expect(checkSameBase(other, { ...manifest, files })).rejects.toMatchObject({
      code: "policy/digest",
      message: expect.stringContaining(`${name} in ${other}: a file of the edge's base`),
    });
    const told = checkSameBase(other, { ...manifest, files }, { weights: false });
    if (content === undefined) await expect(told).resolves.toBeUndefined();
    else await expect(told).rejects.toMatchObject({ code: "policy/digest" });
  });

  it("refuses parts that are not the file", async () => {
    const { manifest, parts } = splitBase(base, { onRead: () => undefined });
    for (const part of parts) await client().putFile(readPart(part));
    const shuffled = {
      ...manifest,
      parts: Object.fromEntries(Object.entries(manifest.parts ?? {}).map(([file, each]) => [file, each.toReversed()])),
    };
    const digest = await client().putFile(new Uint8Array(Buffer.from(JSON.stringify(shuffled))));
    await expect(fetchBase(client(), { digest, folder: join(folder, "shuffled") })).rejects.toThrow("parts of a file of digest");
    expect(readdirSync(join(folder, "shuffled", digest))).toEqual([]);
  });
});
