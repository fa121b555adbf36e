/** The adapter host: who may put what where, and that an adapter is there whole or not at all. */
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startAdapterHost, type AdapterHost } from "../../cli/adapter-host.ts";
import { sha256 } from "../../shared/digest.ts";
import { utf8 } from "../helpers/call.ts";

const NAME = `nextstate-${"a".repeat(64)}`;
const [config, weights] = [utf8('{"peft_type": "LORA"}'), utf8("weights")];
let folder = "";
let host: AdapterHost | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-host-"));
  const hook = join(folder, "..", `${folder.split("/").at(-1)}-hook.sh`);
  await writeFile(hook, `#!/bin/sh\ntest -f "$1/adapter_model.safetensors" && echo "$1" >> "${hook}.ran"\n`);
  await chmod(hook, 0o755);
  host = await startAdapterHost({ folder, engineFolder: "/mnt/adapters", key: "secret", hook });
});
afterAll(async () => {
  await host?.close();
  await rm(folder, { recursive: true, force: true });
  for (const suffix of ["-hook.sh", "-hook.sh.ran"]) await rm(`${folder}${suffix}`, { force: true });
});

const ask = async (method: string, path: string, body?: BodyInit, key = "secret"): Promise<[number, unknown]> => {
  const response = await fetch(`${host?.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body }),
  });
  return [response.status, await response.json()];
};
const files = async () => ({ "adapter_config.json": await sha256(config), "adapter_model.safetensors": await sha256(weights) });

it("does nothing for another key, and nothing outside its folder", async () => {
  expect((await ask("DELETE", `/adapters/${NAME}`, undefined, "another"))[0]).toBe(401);
  for (const name of ["..%2f..%2fetc", "nextstate-", `${NAME}x`, "other"])
    expect((await ask("POST", `/adapters/${name}`, JSON.stringify({ files: await files() })))[0]).toBe(400);
  expect((await ask("POST", `/adapters/${NAME}`, JSON.stringify({ files: { ...(await files()), "../x": "0".repeat(64) } })))[0]).toBe(400);
  expect((await ask("GET", "/"))[0]).toBe(404);
});

it("takes bytes under their own digest only", async () => {
  expect(await ask("PUT", `/files/${"b".repeat(64)}`, weights)).toEqual([
    422,
    { error: { message: expect.stringContaining("SHA-256 of its 7 bytes is") } },
  ]);
  expect(await readdir(join(folder, ".files"))).toEqual([]);
});

it("says what it lacks, places an adapter once it lacks nothing, runs the hook, and takes it away", async () => {
  const placing = JSON.stringify({ files: await files() });
  const { "adapter_config.json": configDigest, "adapter_model.safetensors": weightsDigest } = await files();
  expect(await ask("POST", `/adapters/${NAME}`, placing)).toEqual([200, { missing: [configDigest, weightsDigest] }]);
  await ask("PUT", `/files/${configDigest}`, config);
  expect(await ask("POST", `/adapters/${NAME}`, placing)).toEqual([200, { missing: [weightsDigest] }]);
  expect(await readdir(folder)).toEqual([".files"]);
  await ask("PUT", `/files/${weightsDigest}`, weights);
  expect(await ask("POST", `/adapters/${NAME}`, placing)).toEqual([200, { path: `/mnt/adapters/${NAME}` }]);
  expect(await readFile(join(folder, NAME, "adapter_model.safetensors"), "utf8")).toBe("weights");
  expect(await readFile(`${folder}-hook.sh.ran`, "utf8")).toBe(`${join(folder, NAME)}\n`);
  expect((await ask("DELETE", `/adapters/${NAME}`))[0]).toBe(200);
  expect(await readdir(folder)).toEqual([".files"]);
});
