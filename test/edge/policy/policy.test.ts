/** Answers of the embedded policy: reproducible, cached by prefix and weights, fair, and free to stop at any point. */
import { describe, expect, it } from "vitest";
import { complete, completionRequest, smallBase, smallPolicy, storedAdapter } from "./small-base.ts";

const PROMPT = Array.from("user: where is the tea?\n", (character) => character.charCodeAt(0) + 7);

describe("policy", () => {
  it("gives the same tokens and log-probs for the same seed, cold or warm, and others for another seed", async () => {
    const policy = await smallPolicy();
    const first = await complete(policy, { promptTokens: PROMPT, seed: 42 });
    const warm = await complete(policy, { promptTokens: PROMPT, seed: 42 });
    const other = await complete(policy, { promptTokens: PROMPT, seed: 43 });
    expect(warm.end.reusedTokens).toBe(PROMPT.length - 1);
    expect(warm.tokens).toEqual(first.tokens);
    expect((await complete(await smallPolicy(), { promptTokens: PROMPT, seed: 42 })).tokens).toEqual(first.tokens);
    expect(other.ids).not.toEqual(first.ids);
  });

  it("takes the most likely token at temperature 0, whatever the seed", async () => {
    const policy = await smallPolicy();
    const { tokens } = await complete(policy, { promptTokens: PROMPT, temperature: 0, seed: 1, topLogProbs: 1 });
    for (const { tokenId, logProb, topLogProbs } of tokens) expect(topLogProbs).toMatchObject([{ tokenId, logProb }]);
    expect((await complete(policy, { promptTokens: PROMPT, temperature: 0, seed: 2, topLogProbs: 1 })).tokens).toEqual(tokens);
  });

  it("prefills in a second turn only what the first has not run", async () => {
    const policy = await smallPolicy();
    const first = await complete(policy, { promptTokens: PROMPT, maxTokens: 10 });
    const ran = [...PROMPT, ...first.ids.slice(0, -1)]; // the last token was chosen and never run
    const second = await complete(policy, { promptTokens: [...PROMPT, ...first.ids, 50, 51, 52] });
    expect(second.end).toMatchObject({ reusedTokens: ran.length, prefilledTokens: 4 });
    expect(policy.stats()).toMatchObject({ reusedTokens: ran.length, prefilledTokens: PROMPT.length + 4 });
  });

  it("answers a warm second turn bit for bit as a cold one", async () => {
    const policy = await smallPolicy();
    const first = await complete(policy, { promptTokens: PROMPT });
    const promptTokens = [...PROMPT, ...first.ids, 50, 51, 52];
    const warm = await complete(policy, { promptTokens, seed: 9 });
    const cold = await complete(policy, { promptTokens, seed: 9, cacheKey: "another session" });
    expect(warm.end.reusedTokens).toBeGreaterThan(PROMPT.length);
    expect(cold.end.reusedTokens).toBe(0);
    expect(warm.tokens).toEqual(cold.tokens);
  });

  it("never reads keys and values of one policy under another", async () => {
    const base = await smallBase();
    const policy = await smallPolicy({ files: base });
    const version = await storedAdapter(base, 5);
    const bare = await complete(policy, { promptTokens: PROMPT });
    const adapted = await complete(policy, { promptTokens: PROMPT, ...version });
    expect(adapted.end.reusedTokens).toBe(0);
    expect(adapted.tokens.map(({ logProb }) => logProb)).not.toEqual(bare.tokens.map(({ logProb }) => logProb));
    expect((await complete(await smallPolicy({ files: base }), { promptTokens: PROMPT, ...version })).tokens).toEqual(adapted.tokens);
    expect((await complete(policy, { promptTokens: PROMPT })).tokens).toEqual(bare.tokens);
  });

  describe("with an activated adapter", () => {
    const INVOCATION = PROMPT.slice(-3);
    const SHARED = PROMPT.length - INVOCATION.length;

    it("goes on from what another version has read, as it would from nothing", async () => {
      const base = await smallBase();
      const policy = await smallPolicy({ files: base });
      const [one, two] = [await storedAdapter(base, 5, INVOCATION), await storedAdapter(base, 6, INVOCATION)];
      const first = await complete(policy, { promptTokens: PROMPT, ...one });
      const second = await complete(policy, { promptTokens: PROMPT, ...two });
      const bare = await complete(policy, { promptTokens: PROMPT });
      const again = await complete(policy, { promptTokens: PROMPT, ...one });
      expect([first, second, bare, again].map(({ end }) => end.reusedTokens)).toEqual([0, SHARED, SHARED, SHARED]);
      expect(again.tokens).toEqual(first.tokens);
      for (const [answer, version] of [
        [second, two],
        [bare, {}],
      ] as const)
        expect((await complete(await smallPolicy({ files: base }), { promptTokens: PROMPT, ...version })).tokens).toEqual(answer.tokens);
      expect(new Set([first, second, bare].map(({ tokens }) => JSON.stringify(tokens.map(({ logProb }) => logProb)))).size).toBe(3);
    });

    it("reads its own answers as the base does, warm or cold", async () => {
      const base = await smallBase();
      const policy = await smallPolicy({ files: base });
      const version = await storedAdapter(base, 5, INVOCATION);
      const first = await complete(policy, { promptTokens: PROMPT, ...version });
      const promptTokens = [...PROMPT, ...first.ids, 50, 51, ...INVOCATION];
      const warm = await complete(policy, { promptTokens, seed: 9, ...version });
      const cold = await complete(await smallPolicy({ files: base }), { promptTokens, seed: 9, ...version });
      expect([warm.end.reusedTokens, cold.end.reusedTokens]).toEqual([SHARED, 0]);
      expect(warm.tokens).toEqual(cold.tokens);
    });

    it("differs from one that acts on every token", async () => {
      const base = await smallBase();
      const policy = await smallPolicy({ files: base });
      const [activated, everywhere] = [await storedAdapter(base, 5, INVOCATION), await storedAdapter(base, 5)];
      const answers = [
        await complete(policy, { promptTokens: PROMPT, ...activated }),
        await complete(policy, { promptTokens: PROMPT, ...everywhere, policyDigest: "everywhere" }),
      ];
      expect(answers[0]?.tokens.map(({ logProb }) => logProb)).not.toEqual(answers[1]?.tokens.map(({ logProb }) => logProb));
      expect(answers[1]?.end.reusedTokens).toBe(0);
    });

    it("refuses a prompt without its invocation", async () => {
      const base = await smallBase();
      const version = await storedAdapter(base, 5, [3, 3]);
      await expect(complete(await smallPolicy({ files: base }), { promptTokens: PROMPT, ...version })).rejects.toMatchObject({
        code: "policy/refused",
        message: expect.stringContaining("invocation 3,3"),
      });
    });
  });

  it("reads an adapter's files once while it stays resident", async () => {
    const base = await smallBase();
    const policy = await smallPolicy({ files: base });
    const version = await storedAdapter(base, 6);
    let reads = 0;
    const readFile = async (digest: string): Promise<Uint8Array<ArrayBuffer>> => {
      reads += 1;
      return version.readFile(digest);
    };
    await complete(policy, { promptTokens: PROMPT, ...version, readFile });
    await complete(policy, { promptTokens: PROMPT, ...version, readFile });
    expect(reads).toBe(2);
  });

  it("refuses an adapter that is not what its manifest says", async () => {
    const base = await smallBase();
    const policy = await smallPolicy({ files: base });
    const version = await storedAdapter(base, 6);
    const adapter = version.adapter && { ...version.adapter, rank: 5 };
    await expect(complete(policy, { promptTokens: PROMPT, ...version, adapter })).rejects.toThrow(
      "rank 5, alpha 8 expected by its manifest, got 4, 8",
    );
  });

  it("answers two requests of one session at once as it answers each alone", async () => {
    const policy = await smallPolicy();
    const together = await Promise.all([1, 2].map((seed) => complete(policy, { promptTokens: PROMPT, seed })));
    const alone = await smallPolicy();
    for (const [index, seed] of [1, 2].entries()) {
      const expected = await complete(alone, { promptTokens: PROMPT, seed, cacheKey: `${seed}` });
      expect(together[index]?.tokens).toEqual(expected.tokens);
    }
  });

  it("lets 16 answers advance together: none is done before all have begun", async () => {
    const policy = await smallPolicy();
    const order: string[] = [];
    const stream = async (name: number): Promise<void> => {
      const request = completionRequest({ promptTokens: PROMPT, cacheKey: `${name}`, maxTokens: 40, seed: name });
      for await (const step of policy.complete(request)) order.push(`${name} ${step.kind}`);
    };
    await Promise.all(Array.from({ length: 16 }, (_, name) => stream(name)));
    const lastBegun = Math.max(...Array.from({ length: 16 }, (_, name) => order.indexOf(`${name} token`)));
    expect(order.findIndex((entry) => entry.endsWith("end"))).toBeGreaterThan(lastBegun);
  });

  it("stops on its reader's abort and is left usable", async () => {
    const policy = await smallPolicy();
    const abort = new AbortController();
    const steps = policy.complete(completionRequest({ promptTokens: PROMPT, maxTokens: 200, signal: abort.signal }));
    await steps.next();
    abort.abort();
    await expect(steps.next()).rejects.toMatchObject({ code: "session/aborted" });
    const after = await complete(policy, { promptTokens: PROMPT, seed: 3 });
    expect(after.tokens).toEqual((await complete(await smallPolicy(), { promptTokens: PROMPT, seed: 3 })).tokens);
  });

  it("frees what it held when its reader leaves", async () => {
    const policy = await smallPolicy();
    for await (const step of policy.complete(completionRequest({ promptTokens: PROMPT, maxTokens: 200 }))) if (step.kind === "token") break;
    const { kvBytes } = policy.stats();
    const again = await complete(policy, { promptTokens: PROMPT, maxTokens: 2 });
    expect(again.end.reusedTokens).toBe(PROMPT.length - 1);
    expect(policy.stats().kvBytes).toBe(kvBytes);
  });

  it("ends with length at the limit and with stop at the end token", async () => {
    const policy = await smallPolicy();
    expect((await complete(policy, { promptTokens: PROMPT, maxTokens: 3, seed: 5 })).end.finishReason).toBe("length");
    const long = await complete(policy, { promptTokens: PROMPT, maxTokens: 1500, seed: 5, toolChoice: "none" });
    expect(long.end.finishReason).toBe("stop");
    expect(long.ids.at(-1)).toBe(policy.tokenizer.eosId);
    expect(long.ids.indexOf(policy.tokenizer.eosId)).toBe(long.ids.length - 1);
  });

  it("waits for memory that other answers hold instead of failing", async () => {
    const policy = await smallPolicy({ kvBytes: 1024 * 1024 }); // one whole context
    const answers = await Promise.all(
      [1, 2, 3].map((seed) => complete(policy, { promptTokens: PROMPT, seed, cacheKey: `${seed}`, maxTokens: 1500 })),
    );
    const alone = await smallPolicy();
    for (const [index, seed] of [1, 2, 3].entries()) {
      const expected = await complete(alone, { promptTokens: PROMPT, seed, cacheKey: `${seed}`, maxTokens: 1500 });
      expect(answers[index]?.ids).toEqual(expected.ids);
    }
    expect(policy.stats().kvBytes).toBeLessThanOrEqual(1024 * 1024);
  });

  it("refuses a prompt and answer beyond the context, and numbers out of range", async () => {
    const policy = await smallPolicy();
    const tooLong = complete(policy, { promptTokens: PROMPT, maxTokens: policy.contextTokens });
    await expect(tooLong).rejects.toMatchObject({ code: "input/invalid", message: expect.stringContaining(`${policy.contextTokens}`) });
    await expect(complete(policy, { promptTokens: PROMPT, temperature: -1 })).rejects.toMatchObject({ code: "input/invalid" });
    await expect(complete(policy, { promptTokens: PROMPT, topP: 0 })).rejects.toMatchObject({ code: "input/invalid" });
  });
});
