/** The training port on Tinker's service: a server that answers in the published shapes, and the same training on the engine here. */
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { linearNames } from "../../../shared/lora.ts";
import type { ExportRow } from "../../../trainer/export/rows.ts";
import { writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { filesOfTar } from "../../../trainer/tinker/archive.ts";
import { TinkerClient } from "../../../trainer/tinker/client.ts";
import { TinkerEngine } from "../../../trainer/tinker/engine.ts";
import { trainRows } from "../../../trainer/tinker/train-rows.ts";
import { withRandomEngine } from "../../helpers/random-engine.ts";
import { Replay, tar } from "./replay.ts";

const made = withRandomEngine();
const replay = new Replay();
beforeAll(() => replay.start());
afterAll(() => replay.stop());
beforeEach(() => {
  replay.asked = [];
  replay.beats = [];
});
afterEach(() => {
  vi.useRealTimers();
});

const client = (): TinkerClient =>
  new TinkerClient({ environment: { TINKER_API_KEY: "tml-test", TINKER_BASE_URL: replay.url }, pollMs: 1, packMs: 1 });
const engineOf = async (): Promise<TinkerEngine> => {
  const engine = new TinkerEngine(client(), { baseModel: "Qwen/Qwen3-8B", config: made.base.config });
  await engine.createAdapter("a", { rank: 16, alpha: 32, targets: linearNames(), seed: 5 });
  return engine;
};

/** Two answers to one request, of which the first was liked. */
function rows(prompt: readonly number[], changes: Partial<ExportRow> = {}): ExportRow[] {
  const row = {
    ...{ eventId: "e", turnId: "t", group: "g", form: "reward" as const, messages: [], prompt, version: 0 },
    ...{ rolloutLogProbs: null, temperature: 1, truncated: false, mask: [1, 1] as const, ...changes },
  };
  return [
    { ...row, response: [10, 11], advantages: [1, 1], reward: 1 },
    { ...row, response: [20, 21], advantages: [-1, -1], reward: -1 },
  ];
}

describe("trainRows", () => {
  it("makes what was liked likelier and what was not less likely, on the engine here", async () => {
    const { engine } = made;
    const liked = rows([30, 31, 32]);
    await engine.createAdapter("rows", { rank: 4, alpha: 8, targets: linearNames(), seed: 1 });
    const likelihoods = async (): Promise<number[]> => {
      const tokens = Int32Array.from(liked.flatMap(({ prompt, response }) => [...prompt, response[0] ?? 0]));
      const at = { rows: 2, length: 4, tokens, positions: Int32Array.of(2, 3, 6, 7), targets: Int32Array.of(10, 11, 20, 21) };
      const { logProbs } = await engine.score(at, { adapter: "rows" });
      return [0, 2].map((start) => (logProbs[start] ?? 0) + (logProbs[start + 1] ?? 0));
    };
    const before = await likelihoods();
    const losses = await trainRows(engine, liked, { adapter: "rows", steps: 4, lr: 0.01 });
    const after = await likelihoods();
    expect(losses[0]).toBeCloseTo(0); // the ratio is 1 everywhere, and the advantages add up to 0
    expect(losses.at(-1)).toBeLessThan(0);
    expect(after[0]).toBeGreaterThan(before[0] ?? 0);
    expect(after[1]).toBeLessThan(before[1] ?? 0);
  });

  it("asks the service for the same in its published shapes", async () => {
    const engine = await engineOf();
    const losses = await trainRows(engine, rows([30, 31], { rolloutLogProbs: [-1.1, -1.11] }).slice(0, 1), {
      adapter: "a",
      steps: 1,
      lr: 1e-4,
    });
    expect(new Set(replay.asked.map(({ key }) => key))).toEqual(new Set(["tml-test"]));
    expect(replay.asked.map(({ path, body }) => [path, body])).toEqual([
      ["/api/v1/create_session", { type: "create_session", tags: ["nextstate"], user_metadata: null, sdk_version: "0.22.3" }],
      [
        "/api/v1/create_model",
        {
          ...{ type: "create_model", session_id: "s-1", model_seq_id: 0, base_model: "Qwen/Qwen3-8B" },
          lora_config: { rank: 16, seed: 5, train_unembed: false, train_mlp: true, train_attn: true },
        },
      ],
      [
        "/api/v1/forward_backward",
        {
          forward_backward_input: {
            data: [
              {
                model_input: { chunks: [{ type: "encoded_text", tokens: [30, 31, 10] }] },
                loss_fn_inputs: {
                  target_tokens: { data: [0, 10, 11], dtype: "int64", shape: [3] },
                  logprobs: { data: [0, expect.closeTo(-1.1, 5), expect.closeTo(-1.11, 5)], dtype: "float32", shape: [3] },
                  advantages: { data: [0, 0.5, 0.5], dtype: "float32", shape: [3] },
                },
              },
            ],
            ...{ loss_fn: "ppo", loss_fn_config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 } },
          },
          ...{ model_id: "m-1", seq_id: 1 },
        },
      ],
      [
        "/api/v1/optim_step",
        {
          ...{ type: "optim_step", model_id: "m-1", seq_id: 2 },
          adam_params: { learning_rate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0, grad_clip_norm: 1 },
        },
      ],
    ]);
    // ln π is as it was recorded, so the ratio is 1: the loss is minus the mean advantage.
    expect(losses).toEqual([expect.closeTo(-1, 5)]);
  });

  it("measures from the parent where nothing was recorded", async () => {
    await trainRows(await engineOf(), rows([30]), { adapter: "a", steps: 1, lr: 1e-4 });
    const [forward, backward] = replay.asked.slice(2).map(({ path, body }) => ({ path, body: JSON.stringify(body) }));
    expect([forward?.path, backward?.path]).toEqual(["/api/v1/forward", "/api/v1/forward_backward"]);
    expect(forward?.body).toContain('"loss_fn":"cross_entropy"');
    expect(backward?.body).toContain('"logprobs":{"data":[-1.1');
  });

  it("measures from the parent what was drawn at another temperature than 1, whose log-probs are of another distribution", async () => {
    for (const [temperature, scored] of [
      [0, false],
      [1, false],
      [0.7, true],
    ] as const) {
      replay.asked = [];
      const losses = await trainRows(await engineOf(), rows([30], { rolloutLogProbs: [-0.2, -3], temperature }), {
        adapter: "a",
        steps: 1,
        lr: 1e-4,
      });
      expect(replay.asked.some(({ path }) => path === "/api/v1/forward")).toBe(scored);
      // The ratio is 1 where ln π is the parent's, and the advantages add up to 0.
      if (scored) expect(losses).toEqual([expect.closeTo(0, 5)]);
    }
  });

  it("leaves out an answer without a token", async () => {
    const [liked, disliked] = rows([30, 31]);
    if (liked === undefined || disliked === undefined) throw new Error("two rows expected");
    const empty: ExportRow = { ...disliked, response: [], mask: [], advantages: [] };
    const losses = await trainRows(await engineOf(), [empty, liked], { adapter: "a", steps: 1, lr: 1e-4 });
    // As of the other one alone.
    expect(losses).toEqual([expect.closeTo(-1, 5)]);
  });
});

describe("TinkerEngine", () => {
  it("reads the adapter back from the archive of its weights", async () => {
    const { engine: local, base } = made;
    await local.createAdapter("back", { rank: 2, alpha: 4, targets: linearNames(), seed: 3 });
    const adapter = await local.readAdapter("back");
    const { configBytes, weightBytes } = writeAdapterFiles(base.config, adapter, "elsewhere");
    replay.archive = gzipSync(tar({ "x/adapter_config.json": configBytes, "x/adapter_model.safetensors": weightBytes }));
    const read = await (await engineOf()).readAdapter("a");
    expect([read.rank, read.alpha, [...read.tensors.keys()]]).toEqual([2, 4, [...adapter.tensors.keys()]]);
    replay.packing = 12; // as long as it packs
    await (await engineOf()).readAdapter("a");
    replay.packing = 100;
    await expect((await engineOf()).readAdapter("a")).rejects.toThrow("/archive: 2xx expected, got 503 creating archive");
    replay.packing = 0;
    replay.archive = tar({ "weights.bin": new Uint8Array(3) });
    await expect((await engineOf()).readAdapter("a")).rejects.toThrow(
      "adapter_config.json and adapter_model.safetensors in its archive expected, got weights.bin",
    );
    expect(() => filesOfTar(Buffer.from("no archive at all".repeat(40)))).toThrow("a tar file expected");
  });

  it("samples from the base and from what was trained", async () => {
    const engine = await engineOf();
    const asked = { prompts: [Int32Array.of(1, 2)], maxTokens: 5, stopTokens: [2], temperature: 0.5, seed: 9 };
    expect(await engine.generate(asked)).toEqual([{ tokens: Int32Array.of(7, 2), logProbs: Float32Array.of(-0.5, -0.25) }]);
    await engine.generate({ ...asked, adapter: "a" });
    const samples = replay.asked.filter(({ path }) => path === "/api/v1/asample").map(({ body }) => body);
    expect(samples.map(({ base_model, model_path }) => [base_model, model_path])).toEqual([
      ["Qwen/Qwen3-8B", undefined],
      [undefined, expect.stringMatching(/^tinker:\/\/m-1\/sampler_weights\//)],
    ]);
    expect(samples[0]).toMatchObject({ sampling_params: { max_tokens: 5, seed: 9, stop: [2], temperature: 0.5 } });
  });

  it("refuses by name what it cannot do", async () => {
    const engine = await engineOf();
    const batch = { rows: 1, length: 2, tokens: Int32Array.of(1, 2), positions: Int32Array.of(0), targets: Int32Array.of(2) };
    const weights = Float32Array.of(1);
    await expect(engine.accumulateAdapter("a", { ...batch, forwardKl: { weights, teacherLogProbs: weights } })).rejects.toThrow(
      "Tinker: a loss of crossEntropy and policy expected, got forwardKl",
    );
    await expect(engine.score(batch, { adapter: "a", fullLogProbs: true })).rejects.toThrow("whole distributions");
    await expect(engine.loadAdapter()).rejects.toThrow("one from elsewhere");
    await expect(engine.stepAdapter("a", { lr: 1, divisor: 2 })).rejects.toThrow("divisor 2");
    await expect(engine.createAdapter("b", { rank: 1, alpha: 1, targets: ["q_proj"], seed: 0 })).rejects.toThrow("all of q_proj, k_proj");
    await expect(engine.accumulateAdapter("nobody", { ...batch, crossEntropy: { weights } })).rejects.toThrow("adapter: one of a expected");
  });

  it("needs a key from the environment, tries again what may pass, and says what the service says", async () => {
    expect(() => new TinkerClient({ environment: {} })).toThrow("TINKER_API_KEY");
    replay.trouble = [503, 408];
    await engineOf();
    replay.trouble = [403];
    await expect(engineOf()).rejects.toThrow("2xx expected, got 403 later");
    const unknown = { forward_input: { data: [], loss_fn: "fails" }, model_id: "m-1" };
    const { z } = await import("zod");
    await expect(client().run(z.unknown(), "/api/v1/forward", unknown)).rejects.toThrow("a result expected, got user: unknown loss");
  });

  it("waits for a future as long as it takes, whichever way the service says that it is not there", async () => {
    replay.notYet = [...Array<number>(20).fill(408), 503, 429, 500, 502, ...Array<number>(20).fill(408)];
    await engineOf();
    expect(replay.notYet).toEqual([]);
    replay.notYet = Array<number>(1_000).fill(408);
    const { z } = await import("zod");
    const impatient = new TinkerClient({
      environment: { TINKER_API_KEY: "tml-test", TINKER_BASE_URL: replay.url },
      pollMs: 1,
      patienceMs: 36,
    });
    await expect(impatient.run(z.unknown(), "/api/v1/create_model", {})).rejects.toThrow("a result within 0.00001 h expected, got 408");
    replay.notYet = [410];
    await expect(engineOf()).rejects.toThrow("tinker /api/v1/retrieve_future: 2xx expected, got 410");
  });

  it("waits on where an answer breaks off or is no JSON, and says what came where nothing is waited for", async () => {
    replay.garbled = ["breaks off", "<html>gateway</html>", "breaks off"];
    const losses = await trainRows(await engineOf(), rows([30]), { adapter: "a", steps: 1, lr: 1e-4 });
    expect([replay.garbled, losses]).toEqual([[], [expect.closeTo(0, 5)]]);
    replay.garbledPosts = ["breaks off"];
    await engineOf();
    replay.garbledPosts = ["<html>gateway</html>"];
    await expect(engineOf()).rejects.toMatchObject({
      code: "upstream/invalid",
      message: "tinker /api/v1/create_session: a JSON object expected, got 200 <html>gateway</html>",
    });
  });

  it("is not asked again for what it has refused", async () => {
    const engine = await engineOf();
    for (const [status, retryable] of [
      [400, false],
      [422, false],
      [501, true],
    ] as const) {
      replay.trouble = [status];
      await expect(engine.saveState("a")).rejects.toMatchObject({ retryable });
    }
  });

  it("is heard of every ten seconds until its last adapter is dropped", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const engine = await engineOf();
    await engine.createAdapter("b", { rank: 16, alpha: 32, targets: linearNames(), seed: 6 });
    vi.advanceTimersByTime(20_000);
    await expect.poll(() => replay.beats.length).toBeGreaterThanOrEqual(2);
    expect(replay.beats[0]).toEqual({ session_id: "s-1", type: "session_heartbeat" });
    await engine.dropAdapter("a");
    expect(vi.getTimerCount()).toBe(1);
    await engine.dropAdapter("b");
    expect(vi.getTimerCount()).toBe(0);
    // Whoever comes next has a session of their own.
    await engine.createAdapter("c", { rank: 16, alpha: 32, targets: linearNames(), seed: 7 });
    engine.close();
    expect([replay.asked.filter(({ path }) => path.endsWith("create_session")).length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it("says what went wrong, and not that it was not heard of", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const engine = await engineOf();
    replay.beatStatus = 500;
    vi.advanceTimersByTime(10_000);
    await expect.poll(() => replay.beats.length).toBeGreaterThanOrEqual(1);
    replay.trouble = [403];
    await expect(trainRows(engine, rows([30]), { adapter: "a", steps: 1, lr: 1e-4 })).rejects.toThrow("2xx expected, got 403 later");
    replay.trouble = [403];
    await expect(engine.dropAdapter("a")).rejects.toThrow("got 403 later");
    expect(vi.getTimerCount()).toBe(0);
    replay.beatStatus = 200;
  });

  it("names the versions of the SDK that it speaks as, where the service reads another", async () => {
    const engine = await engineOf();
    for (const status of [400, 404, 415]) {
      replay.trouble = [status];
      await expect(trainRows(engine, rows([30]), { adapter: "a", steps: 1, lr: 1e-4 })).rejects.toThrow(
        `tinker /api/v1/forward: 2xx expected, got ${status} later; JSON is spoken here, as the SDK has it up to 0.24: `,
      );
    }
  });
});
