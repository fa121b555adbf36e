/**
 * The log-probs that the edge records are those that the trainer computes: at least 1,000 sampled tokens to 1e-3, at
 * the shipped sizes, on random weights and on the shipped base where it is there, without an adapter, with one, and with one
 * that acts on the answer alone. Half of the
 * answers are calls, whose tokens are drawn under the masks of their tool's schema.
 */
import { describe, expect, it } from "vitest";
import { hasBase, type NamedFiles, randomBaseFiles, readBaseFiles, SHIPPED_SIZES } from "../../../bench/base-files.ts";
import { randomAdapter } from "../../../bench/random-checkpoint.ts";
import { createPolicy, type Policy } from "../../../edge/policy/policy.ts";
import { toTokenizerFiles } from "../../../edge/policy/resident.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { type AnswerForm, FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { AnswerGrammars } from "../../../shared/grammar/answer-grammars.ts";
import { answerMasks } from "../../../shared/grammar/answer-masks.ts";
import type { TokenMask } from "../../../shared/grammar/token-grammar.ts";
import { maskedLogProbs } from "../../../trainer/learn/lesson/scores.ts";
import { type Adapter, loraTensorName, writeAdapter } from "../../../shared/lora.ts";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { parseSafetensors, toFloat32 } from "../../../shared/safetensors.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { kernelModule } from "../kernel/decode.ts";
import { complete } from "./small-base.ts";

const LENGTH = 256;
const PROMPT_TOKENS = 40;
const ROWS = 5;
const INVOCATION = [1, 40, 41];

const TOOLS: ToolDefinition[] = [
  {
    type: "function",
    function: {
      name: "FindTea",
      parameters: {
        type: "object",
        properties: { kind: { enum: ["green", "black"] }, cups: { type: "integer" }, note: { type: "string" } },
      },
    },
  },
];

type Sampled = { tokens: number[]; logProbs: number[]; masks: (TokenMask | undefined)[] };

const BASES: Record<string, () => Promise<NamedFiles>> = { "random weights": async () => randomBaseFiles(SHIPPED_SIZES, 7) };
if (hasBase()) BASES["the shipped base"] = readBaseFiles;

describe("kernel and trainer", () => {
  for (const [name, read] of Object.entries(BASES)) {
    it(`agree to 1e-3 on 1,000 sampled tokens of ${name}`, { timeout: 120_000 }, async () => {
      const files = await read();
      const config = parseModelConfig(json(files, "config.json"));
      const policy = createPolicy({ kernelModule, files: toBaseFiles(files) });
      const adapter = randomAdapter(config, { seed: 5, rank: 16 });
      const activated = { ...randomAdapter(config, { seed: 6, rank: 16 }), invocation: INVOCATION };
      const engine = await startEngine(files, { adapter, activated });
      const { tokenizer: tokenizerFiles } = toBaseFiles(files);
      const grammars = new AnswerGrammars(tokenizerFiles, { tokenizer: policy.tokenizer, vocabSize: config.vocabSize });
      try {
        for (const [name, beside] of Object.entries({ none: undefined, adapter, activated })) {
          const sampled = await sample(policy, grammars, beside && { adapter: beside, config, name });
          expect(sampled.flatMap(({ masks }) => masks).filter((mask) => mask !== undefined).length).toBeGreaterThan(300);
          const expected = await score(engine, sampled, { adapter: beside && name, vocabSize: config.vocabSize });
          const gaps = sampled.flatMap(({ logProbs }, row) =>
            logProbs.map((logProb, index) => Math.abs(logProb - (expected[row]?.[index] ?? NaN))),
          );
          expect(gaps.length).toBeGreaterThanOrEqual(1000);
          expect(Math.max(...gaps)).toBeLessThan(1e-3);
        }
      } finally {
        await engine.close();
      }
    });
  }
});

/** Answers until there are 1,000 tokens; prompts of random tokens, so that a trained policy does not end at once. */
async function sample(
  policy: Policy,
  grammars: AnswerGrammars,
  beside: { adapter: Adapter; config: ReturnType<typeof parseModelConfig>; name: string } | undefined,
): Promise<Sampled[]> {
  const named = beside === undefined ? {} : adapterRequest(beside);
  const sampled: Sampled[] = [];
  for (let seed = 0, count = 0; count < 1000; seed++) {
    const drawn = Array.from({ length: PROMPT_TOKENS - INVOCATION.length }, (_, index) => 7 + ((index * 131 + seed * 977) % 250));
    const prompt = [...drawn, ...INVOCATION];
    const form: AnswerForm = { ...FREE_FORM, toolChoice: seed % 2 === 0 ? "none" : "required" };
    const { tokens, ids } = await complete(policy, {
      promptTokens: prompt,
      tools: TOOLS,
      ...form,
      seed,
      cacheKey: `${seed}`,
      maxTokens: LENGTH - PROMPT_TOKENS,
      ...named,
    });
    const masks = answerMasks(grammars, { tools: TOOLS, form, tokens: ids }) ?? [];
    sampled.push({ tokens: [...prompt, ...ids], logProbs: tokens.map(({ logProb }) => logProb), masks });
    count += tokens.length;
  }
  return sampled;
}

function adapterRequest({
  adapter,
  config,
  name,
}: {
  adapter: Adapter;
  config: ReturnType<typeof parseModelConfig>;
  name: string;
}): Parameters<typeof complete>[1] | object {
  const { adapterConfig, adapterModel } = writeAdapter(config, adapter, { baseModel: "base" });
  const files = new Map([
    ["config", new TextEncoder().encode(adapterConfig)],
    ["weights", adapterModel],
  ]);
  return {
    policyDigest: name,
    adapter: { configDigest: "config", weightsDigest: "weights", rank: adapter.rank, alpha: adapter.alpha },
    readFile: async (digest: string) => files.get(digest) ?? new Uint8Array(),
  };
}

async function startEngine(files: NamedFiles, adapters: Readonly<Record<string, Adapter>>): Promise<Engine> {
  const engine = await Engine.start({ config: parseModelConfig(json(files, "config.json")), threads: 1 });
  const tensors = parseSafetensors(files.get("model.safetensors") ?? new Uint8Array());
  await engine.loadWeights(new Map(Array.from(tensors, ([name, tensor]) => [name, toFloat32(tensor)])));
  for (const [name, { rank, alpha, invocation, pairs }] of Object.entries(adapters)) {
    const tensors = pairs.flatMap(
      ({ layer, linear, a, b }) =>
        [
          [loraTensorName(layer, linear, "A"), a],
          [loraTensorName(layer, linear, "B"), b],
        ] as const,
    );
    await engine.loadAdapter(name, { rank, alpha, invocation, tensors: new Map(tensors) });
  }
  return engine;
}

/** Log-probs of the sampled tokens, one array per answer; every call has the same shape, so one graph is compiled. */
async function score(
  engine: Engine,
  sampled: readonly Sampled[],
  { adapter, vocabSize }: { adapter: string | undefined; vocabSize: number },
): Promise<number[][]> {
  const scored: number[][] = [];
  for (let first = 0; first < sampled.length; first += ROWS) {
    const answers = sampled.slice(first, first + ROWS);
    const tokens = new Int32Array(ROWS * LENGTH);
    const positions = new Int32Array(ROWS * (LENGTH - PROMPT_TOKENS));
    let count = 0;
    const starts = answers.map((answer, row) => {
      const start = count;
      tokens.set(answer.tokens, row * LENGTH);
      answer.logProbs.forEach((_, index) => (positions[count++] = row * LENGTH + PROMPT_TOKENS - 1 + index));
      return start;
    });
    const targets = positions.map((position) => tokens[position + 1] ?? 0);
    const { full = new Float32Array(0) } = await engine.score(
      { rows: ROWS, length: LENGTH, tokens, positions, targets },
      { fullLogProbs: true, ...(adapter === undefined ? {} : { adapter }) },
    );
    answers.forEach(({ tokens: all, masks }, row) => {
      const answer = all.slice(PROMPT_TOKENS);
      const from = (starts[row] ?? 0) * vocabSize;
      const own = full.subarray(from, from + answer.length * vocabSize);
      scored.push(Array.from(maskedLogProbs(own, { answer, masks, vocabSize })));
    });
  }
  return scored;
}

function toBaseFiles(files: NamedFiles): Parameters<typeof createPolicy>[0]["files"] {
  const tokenizer = toTokenizerFiles(text(files, "tokenizer.json"), text(files, "tokenizer_config.json"));
  return { config: json(files, "config.json"), tokenizer, weights: files.get("model.safetensors") ?? new Uint8Array() };
}

function text(files: NamedFiles, name: string): string {
  return new TextDecoder().decode(files.get(name));
}

function json(files: NamedFiles, name: string): unknown {
  return JSON.parse(text(files, name));
}
