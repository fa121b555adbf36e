/** The adapter under which a base judges: trained beside a tiny base, written, and read back for the engine. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parseHint, parseReward, parseWish, WISH_SYSTEM } from "../../../shared/jobs.ts";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { openJudge } from "../../../trainer/policy/answerer.ts";
import { loadBase } from "../../../trainer/policy/base.ts";
import { JUDGE_ADAPTERS, type JudgeAdapter, readJudgeAdapter } from "../../../trainer/policy/judge-adapter.ts";
import { JobMixture } from "../../../trainer/pretrain/job-mixture.ts";
import { trainJudge } from "../../../trainer/pretrain/judge-run.ts";
import { trainTokenizer } from "../../../trainer/pretrain/tokenizer.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const folder = mkdtempSync(join(tmpdir(), "judge-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const sgd = { dialogues: [DIALOGUE, { ...DIALOGUE, id: "1_00043" }], schemas: SCHEMAS };

describe("JobMixture", () => {
  const tokenizer = new Tokenizer(trainTokenizer(sgd, { size: 400, seed: 1, context: 4096 }));
  const mixtureOf = (adapter: JudgeAdapter): JobMixture => new JobMixture({ sgd, tokenizer, maxTokens: 4096, adapter });
  const answersOf = (adapter: JudgeAdapter): { text: string; wish: boolean }[] => {
    const mixture = mixtureOf(adapter);
    return Array.from({ length: 120 }, (_, index) => mixture.at(1, index)).map(({ tokens, weights }) => {
      const answer = tokens.filter((token, place) => weights[place] === 1 && token !== tokenizer.eosId);
      return { text: tokenizer.decode(answer), wish: tokenizer.decode(tokens).includes(WISH_SYSTEM) };
    });
  };

  it.each(JUDGE_ADAPTERS)("draws the same example again: %s", (adapter) => {
    expect(mixtureOf(adapter).at(1, 7)).toEqual(mixtureOf(adapter).at(1, 7));
  });

  it("teaches answers that the jobs' readers can read, and of every kind", () => {
    const judged = answersOf("judge");
    expect(judged.filter(({ wish }) => wish)).toEqual([]);
    expect(new Set(judged.map(({ text }) => parseReward(text) ?? parseHint(text).kind))).toEqual(new Set([-1, 0, 1, "hint", "none"]));
    const wished = answersOf("wish");
    expect(wished.every(({ wish }) => wish)).toBe(true);
    expect(new Set(wished.map(({ text }) => parseWish(text)))).toEqual(new Set(["ask", "go", "none"]));
  });
});

describe("trainJudge", { timeout: 60_000 }, () => {
  it.each(JUDGE_ADAPTERS)("writes an adapter beside the base, under which the jobs are done: %s", async (adapter) => {
    const base = await writeRandomBase(join(folder, adapter));
    const losses: number[] = [];
    await trainJudge({
      ...{ sgd, adapter, base, out: base, runTokens: 60_000, rank: 4, rate: 10, threads: 2, device: "cpu", seed: 1 },
      onStep: ({ loss }) => losses.push(loss),
    });
    expect(losses.at(-1)).toBeLessThan(losses[0] ?? 0);
    const loaded = loadBase(base);
    expect(readJudgeAdapter(adapter, loaded)).toMatchObject({ rank: 4, alpha: 8 });
    const engine = await Engine.start({ config: loaded.config, threads: 1, tokenizer: loaded.tokenizerFiles });
    await engine.loadCheckpoint(base);
    const sampler = await openJudge(engine, loaded);
    expect(sampler.knowsWishes).toBe(adapter === "wish");
    const prompt = { job: adapter, messages: [{ role: "user" as const, content: "No." }], tools: [] };
    const [score = 0] = await sampler.score(prompt, ["-1"]);
    const [bare = 0] = await (await openJudge(engine, { ...loaded, folder })).score(prompt, ["-1"]);
    expect(score).not.toBe(bare);
    await engine.close();
  });
});
