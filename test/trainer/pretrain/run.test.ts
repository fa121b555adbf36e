/** A run goes on from what its checkpoint folder holds: 16-bit weights and the data position. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { pretrain, type StepReport } from "../../../trainer/pretrain/run.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const folder = mkdtempSync(join(tmpdir(), "pretrain-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const TINY = {
  model_type: "qwen3",
  vocab_size: 400,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  max_position_embeddings: 1024,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  tie_word_embeddings: true,
};

async function run(out: string, steps: number): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  const sgd = { dialogues: [DIALOGUE, { ...DIALOGUE, id: "1_00043" }], schemas: SCHEMAS };
  await pretrain({
    ...{ sgd, configJson: TINY, out, from: out, runTokens: 4096 * steps, tokensPerStep: 4096, checkpointEverySteps: 1000 },
    ...{
      rate: 3,
      warmupSteps: 1,
      decayShare: 0,
      threads: 1,
      device: "cpu",
      seed: 4,
      say: () => undefined,
      onStep: (step) => reports.push({ ...step, state: { ...step.state } }),
    },
  });
  return reports;
}

describe("pretrain", () => {
  it("goes on where the folder's checkpoint stands, and learns", async () => {
    const out = join(folder, "resumed");
    const first = await run(out, 12);
    const before = readCheckpoint(out);
    const second = await run(out, 4);
    expect(second[0]?.state.steps).toBe((first.at(-1)?.state.steps ?? 0) + 1);
    expect(second[0]?.state.examples).toBeGreaterThan(first.at(-1)?.state.examples ?? 0);
    // The first loss after the restart is of the stored weights, which the run before had already lowered.
    expect(second[0]?.loss).toBeLessThan(first[0]?.loss ?? 0);
    // Steps hold different rows, so single ones say little.
    const mean = (steps: readonly StepReport[]): number => steps.reduce((sum, { loss }) => sum + loss, 0) / steps.length;
    expect(mean(second)).toBeLessThan(mean(first.slice(-4)));
    expect(mean(first.slice(-4))).toBeLessThan(mean(first.slice(0, 4)));
    expect(readCheckpoint(out).tokenizerFiles).toEqual(before.tokenizerFiles);
    const schedule = "rate ×3, 1 steps of warm-up, falling to zero over the last 0 %";
    const runs = [
      `from 0 tokens: 49,152 more planned, ${schedule}`,
      `from ${first.at(-1)?.state.tokens.toLocaleString("en")} tokens: 16,384 more planned, ${schedule}`,
    ];
    expect(second[0]?.state.runs).toEqual(runs);
    const card = readFileSync(join(out, "README.md"), "utf8");
    for (const each of runs) expect(card).toContain(`- ${each}\n`);
    expect(readdirSync(out).filter((name) => name.endsWith(".partial"))).toEqual([]);
  }, 120_000);
});
