/** The same policy in workerd and in Node: one kernel, the same tokens, the same log-probs to the last bit. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PolicyWorker, startPolicyWorker } from "../../../bench/edge-host.ts";
import type { PostedRequest } from "../../../bench/edge-protocol.ts";
import type { BaseFiles } from "../../../edge/policy/policy.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { complete, completionRequest, readBaseFolder, smallPolicy, storedAdapter } from "./small-base.ts";

const NAMES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"];
const PROMPT = Array.from({ length: 90 }, (_, index) => 7 + ((index * 31) % 250));

let base: BaseFiles;
let worker: PolicyWorker;

beforeAll(async () => {
  const folder = await writeRandomBase(await mkdtemp(join(tmpdir(), "nextstate-workerd-")));
  base = await readBaseFolder(folder);
  const files = await Promise.all(NAMES.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))] as const));
  await rm(folder, { recursive: true });
  worker = await startPolicyWorker(new Map(files));
}, 60_000);

afterAll(() => worker.close());

function posted(fields: Partial<PostedRequest>): PostedRequest {
  const { readFile: _readFile, signal: _signal, ...request } = completionRequest({ promptTokens: PROMPT, ...fields });
  return request;
}

describe("the policy in workerd", () => {
  it("answers bit for bit as in Node, at temperature 0 and above, under the base and under an adapter", async () => {
    const policy = await smallPolicy({ files: base });
    const version = await storedAdapter(base, 3);
    for (const digest of [version.adapter?.configDigest, version.adapter?.weightsDigest])
      await worker.store(await version.readFile(digest ?? ""));
    for (const temperature of [0, 1.3]) {
      for (const files of [{}, { policyDigest: version.policyDigest, adapter: version.adapter }]) {
        const there = await worker.complete(posted({ temperature, maxTokens: 120, ...files }));
        const here = await complete(policy, { promptTokens: PROMPT, temperature, maxTokens: 120, readFile: version.readFile, ...files });
        expect(there.tokens).toEqual(here.tokens.map(({ tokenId, logProb }) => ({ tokenId, logProb })));
      }
    }
  });

  it("answers 16 requests at once as one by one", async () => {
    const requests = Array.from({ length: 16 }, (_, seed) => posted({ seed, cacheKey: `together ${seed}`, maxTokens: 60 }));
    const together = await Promise.all(requests.map((request) => worker.complete(request)));
    for (const [index, request] of requests.entries()) {
      expect(together[index]?.tokens).toEqual((await worker.complete({ ...request, cacheKey: `alone ${index}` })).tokens);
    }
  });

  it("says what a request got wrong", async () => {
    await expect(worker.complete(posted({ maxTokens: 0 }))).rejects.toThrow("input/invalid");
  });
});
