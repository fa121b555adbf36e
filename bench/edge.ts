/**
 * `npm run bench:edge`: the embedded policy in a real workerd, timed from outside: decoding speed, what a schema adds
 * to it, what a second turn costs beside the first, 16 answers at once, and the same model and prompt in onnxruntime-node; and what the
 * product's Worker takes to start, of the second that Cloudflare allows; and what it costs that a user's own adapter is not in memory. Medians over interleaved rounds. On `base/` where it is there, else on random weights of its sizes;
 * the speed that is asked for at 4M parameters is measured on the base's first five layers, which are so many.
 */
import { loadavg } from "node:os";
import { readCommandLine } from "../trainer/command-line.ts";
import { parseModelConfig } from "../shared/model-config.ts";
import { FREE_FORM } from "../shared/grammar/answer-form.ts";
import { parseSafetensors, toFloat32 } from "../shared/safetensors.ts";
import { Engine } from "../trainer/engine/engine.ts";
import { BASE_FOLDER, firstLayers, hasBase, type NamedFiles, randomBaseFiles, readBaseFiles, SHIPPED_SIZES } from "./base-files.ts";
import { atLeast, atMost, median, report, say } from "./bench.ts";
import { childCpuSeconds } from "./process-time.ts";
import { type PolicyWorker, startPolicyWorker } from "./edge-host.ts";
import { startUpMs } from "./start-up.ts";
import { userSwap } from "./user-swap.ts";
import type { PostedAnswer, PostedRequest } from "./edge-protocol.ts";

const DECODE_TOKENS_PER_SECOND = 800; // the bar, at 4M float32 parameters
const BAR_LAYERS = 5;
const PROMPT_TOKENS = 400;
const DECODED_TOKENS = 160;
const NEW_TOKENS = 40;
const STREAMS = 16;
/** https://developers.cloudflare.com/workers/platform/limits/#worker-startup-time */
const START_UP_MS = 1_000;

/** Default of the paid plan, raised to at most 300 by `[limits]`: https://developers.cloudflare.com/workers/platform/limits/#cpu-time */
const CPU_SECONDS = 30;

const DRAWN_USERS = 50;
const SWAP_MS = 50;

const { values: options } = readCommandLine({
  options: {
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "7" },
    // That have a version of their own on one agent.
    users: { type: "string", default: "1000" },
  },
});
const seed = Number(options.seed);

type Timed = { answer: PostedAnswer; seconds: number };

let asked = 0;

async function main(): Promise<void> {
  const files = neverEnding(hasBase() ? await readBaseFiles() : randomBaseFiles(SHIPPED_SIZES, seed));
  const smallFiles = firstLayers(files, BAR_LAYERS);
  const worker = await startPolicyWorker(files);
  const small = await startPolicyWorker(smallFiles);
  const engine = await startEngine(files);
  try {
    await measure({ worker, small, engine, parameters: countParameters(files), smallParameters: countParameters(smallFiles), files });
  } finally {
    await Promise.all([worker.close(), small.close(), engine.close()]);
  }
}

type Measured = {
  readonly worker: PolicyWorker;
  readonly small: PolicyWorker;
  readonly engine: Engine;
  readonly files: NamedFiles;
  readonly parameters: number;
  readonly smallParameters: number;
};

async function measure({ worker, small, engine, files, parameters, smallParameters }: Measured): Promise<void> {
  const decoded: number[] = [];
  const decodedSmall: number[] = [];
  const deep: number[] = [];
  const newSchema: number[] = [];
  const knownSchema: number[] = [];
  const onnx: number[] = [];
  const aggregate: number[] = [];
  const turns: Awaited<ReturnType<typeof twoTurns>>[] = [];
  await twoTurns(worker); // compiles, fills caches
  await decodeRate(small, 16);
  await onnxRate(engine);
  const perCpuSecond = await decodeRatePerCpuSecond(worker);
  const { contextTokens } = parseModelConfig(json(files, "config.json"));
  const longest = await longestAnswerCpuSeconds(worker, contextTokens);
  for (let round = 1; round <= Number(options.rounds); round++) {
    decoded.push(await decodeRate(worker, 16));
    decodedSmall.push(await decodeRate(small, 16));
    // A schema that nobody has sent yet, and the same again: what its masks cost to make, and to use.
    const form = bookings(round);
    newSchema.push(await decodeRate(worker, 16, form));
    knownSchema.push(await decodeRate(worker, 16, form));
    deep.push(await decodeRate(worker, PROMPT_TOKENS));
    onnx.push(await onnxRate(engine));
    turns.push(await twoTurns(worker));
    aggregate.push(await concurrentRate(worker));
    say(
      `round ${round}: ${decoded.at(-1)?.toFixed(0)} tokens/s, ${decodedSmall.at(-1)?.toFixed(0)} of five layers (onnxruntime-node ${onnx.at(-1)?.toFixed(0)}), turns ${turns.at(-1)?.firstMs.toFixed(0)} and ${turns.at(-1)?.secondMs.toFixed(0)} ms`,
    );
  }
  const startUp = await startUpMs(Number(options.rounds));
  say(`start-up ${startUp.toFixed(0)} ms`);
  const swap = hasBase() ? await userSwap(BASE_FOLDER, { seed, users: Number(options.users), drawn: DRAWN_USERS }) : null;
  if (swap !== null)
    say(`a user's first token ${swap.absentMs.toFixed(0)} ms, ${swap.residentMs.toFixed(0)} ms with the adapter in memory`);
  const secondPrefill = Math.max(...turns.map(({ secondPrefilled }) => secondPrefilled));
  report({
    bench: "edge",
    conditions: {
      base: hasBase() ? "base/" : "random weights",
      parameters,
      weights: "float32",
      context: contextTokens,
      rounds: Number(options.rounds),
      seed,
      onnxruntime: "the trainer's decode graph in onnxruntime-node, 1 thread, batch 1",
      loadAverage: loadavg()[0] ?? null, // above the number of cores, others slowed every figure down
    },
    figures: {
      decodeTokensPerSecond: median(decoded),
      fiveLayers: { parameters: smallParameters, decodeTokensPerSecond: median(decodedSmall) },
      decodeTokensPerCpuSecond: perCpuSecond,
      longestAnswerCpuSeconds: longest,
      constrained: { newSchemaTokensPerSecond: median(newSchema), knownSchemaTokensPerSecond: median(knownSchema) },
      decodeTokensPerSecondAfter400: median(deep),
      onnxTokensPerSecond: median(onnx),
      ratioToOnnx: median(decoded) / median(onnx),
      firstTurn: { promptTokens: PROMPT_TOKENS, prefilledTokens: PROMPT_TOKENS, firstTokenMs: median(turns.map(({ firstMs }) => firstMs)) },
      secondTurn: { newTokens: NEW_TOKENS, prefilledTokens: secondPrefill, firstTokenMs: median(turns.map(({ secondMs }) => secondMs)) },
      tokensPerSecondOf16Streams: median(aggregate),
      startUpMs: startUp,
      userSwap: swap,
      memoryBytes: (await worker.stats())["memoryBytes"],
    },
    bars: [
      atLeast("decode tokens/s at 4M parameters", median(decodedSmall), DECODE_TOKENS_PER_SECOND, "tokens/s"),
      atLeast("parameters of the model that is held to it", smallParameters, 3_990_000, "parameters"),
      atMost("time per token that a schema adds", median(decoded.map((rate, round) => rate / (newSchema[round] ?? NaN) - 1)), 0.1, "share"),
      atMost("start-up of the Worker", startUp, START_UP_MS, "ms"),
      atMost("CPU time of the longest answer that the context has room for, under a schema", longest, CPU_SECONDS, "s"),
      atMost("first token of a user whose adapter is not in memory, beyond one whose is", swap?.swapMs ?? null, SWAP_MS, "ms"),
      atMost("tokens prefilled by the second turn", secondPrefill, NEW_TOKENS + 1, "tokens"), // + the answer's last token, which no turn has run
    ],
  });
}

/** Tokens per second after the first: (tokens − 1) over the time that they add to an answer of one token. */
async function decodeRate(
  worker: PolicyWorker,
  promptTokens: number,
  form: Partial<Pick<PostedRequest, "responseFormat">> = {},
): Promise<number> {
  const promptOf = prompt(promptTokens);
  const one = await timed(worker, { promptTokens: promptOf, maxTokens: 1 });
  const many = await timed(worker, { promptTokens: promptOf, maxTokens: DECODED_TOKENS, ...form });
  return (many.answer.tokens.length - 1) / (many.seconds - one.seconds);
}

/** Answers of JSON that do not end within a bench: many objects of every kind of member. */
function bookings(round: number): Pick<PostedRequest, "responseFormat"> {
  const properties = {
    city: { type: "string" },
    cuisine: { enum: ["Thai", "Mexican", "Italian", `House special ${round}`] },
    guests: { type: "integer" },
    outdoor: { type: "boolean" },
    at: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
  };
  const items = { type: "object", properties, required: ["city", "guests"] };
  return { responseFormat: { type: "json_schema", schema: { type: "array", items, minItems: 1_000 } } };
}

/** The same in workerd's own CPU time, which other processes slow down less than the clock; null outside Linux. */
async function decodeRatePerCpuSecond(worker: PolicyWorker): Promise<number | null> {
  const before = childCpuSeconds("workerd");
  const { answer } = await timed(worker, { promptTokens: prompt(16), maxTokens: 4 * DECODED_TOKENS });
  const after = childCpuSeconds("workerd");
  return before === null || after === null ? null : answer.tokens.length / (after - before);
}

/** Half of the context read anew, the other half written under a schema that nobody has sent yet; null outside Linux. */
async function longestAnswerCpuSeconds(worker: PolicyWorker, contextTokens: number): Promise<number | null> {
  const before = childCpuSeconds("workerd");
  await timed(worker, { promptTokens: prompt(contextTokens / 2), maxTokens: contextTokens / 2, ...bookings(0) });
  const after = childCpuSeconds("workerd");
  return before === null || after === null ? null : after - before;
}

async function twoTurns(worker: PolicyWorker): Promise<{ firstMs: number; secondMs: number; secondPrefilled: number }> {
  const cacheKey = `turns ${asked}`;
  const promptTokens = prompt(PROMPT_TOKENS);
  const first = await timed(worker, { promptTokens, maxTokens: 1, cacheKey });
  const answered = first.answer.tokens.map(({ tokenId }) => tokenId);
  const second = await timed(worker, { promptTokens: [...promptTokens, ...answered, ...prompt(NEW_TOKENS)], maxTokens: 1, cacheKey });
  return { firstMs: first.seconds * 1000, secondMs: second.seconds * 1000, secondPrefilled: second.answer.end?.prefilledTokens ?? NaN };
}

async function concurrentRate(worker: PolicyWorker): Promise<number> {
  const started = performance.now();
  const answers = await Promise.all(Array.from({ length: STREAMS }, () => timed(worker, { promptTokens: prompt(64), maxTokens: 64 })));
  const tokens = answers.reduce((sum, { answer }) => sum + answer.tokens.length, 0);
  return (1000 * tokens) / (performance.now() - started);
}

async function timed(worker: PolicyWorker, fields: Partial<PostedRequest> & { promptTokens: number[]; maxTokens: number }): Promise<Timed> {
  asked += 1;
  const request = {
    policyDigest: "base",
    adapter: null,
    temperature: 1,
    topP: 1,
    seed: seed + asked,
    stop: [],
    topLogProbs: 0,
    ...FREE_FORM,
    tools: [],
    cacheKey: `${asked}`,
    ...fields,
  };
  const started = performance.now();
  const answer = await worker.complete(request);
  return { answer, seconds: (performance.now() - started) / 1000 };
}

async function onnxRate(engine: Engine): Promise<number> {
  const prompts = [Int32Array.from(prompt(16))];
  const run = async (maxTokens: number): Promise<number> => {
    const started = performance.now();
    await engine.generate({ prompts, maxTokens, stopTokens: [], temperature: 1, seed });
    return (performance.now() - started) / 1000;
  };
  const one = await run(1);
  return (DECODED_TOKENS - 1) / ((await run(DECODED_TOKENS)) - one);
}

async function startEngine(files: NamedFiles): Promise<Engine> {
  const engine = await Engine.start({ config: parseModelConfig(json(files, "config.json")), threads: 1 });
  await engine.loadWeights(new Map(Array.from(tensorsOf(files), ([name, tensor]) => [name, toFloat32(tensor)])));
  return engine;
}

/** The same base with an end token that a policy does not say: every answer runs to its limit. */
function neverEnding(files: NamedFiles): NamedFiles {
  const config = JSON.stringify({ ...(json(files, "tokenizer_config.json") as object), eos_token: "<|pad|>" });
  return new Map(files).set("tokenizer_config.json", new TextEncoder().encode(config));
}

function prompt(length: number): number[] {
  return Array.from({ length }, (_, index) => 7 + ((index * 131 + seed * 977) % 250));
}

function countParameters(files: NamedFiles): number {
  const shapes = Array.from(tensorsOf(files).values(), ({ shape }) => shape.reduce((product, extent) => product * extent, 1));
  return shapes.reduce((sum, count) => sum + count, 0);
}

function tensorsOf(files: NamedFiles): ReturnType<typeof parseSafetensors> {
  return parseSafetensors(files.get("model.safetensors") ?? new Uint8Array());
}

function json(files: NamedFiles, name: string): unknown {
  return JSON.parse(new TextDecoder().decode(files.get(name)));
}

await main();
