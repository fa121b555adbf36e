/**
 * Versions come and go under load: no request fails, no answer mixes versions, and a rollback brings the old
 * answers back. Answers are decoded again in Node, from the stored files of the version that they state.
 */
import OpenAI from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import type { Policy } from "../../edge/policy/policy.ts";
import type { EndStep } from "../../edge/policy/completion.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { PolicyVersion } from "../../shared/policy.ts";
import { policyOf, publishAdapter, putRandomAdapter, readStored } from "../helpers/adapters.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";

const STREAMS = 16;
const SWAPS = 10;
const INSTRUCTIONS = "Answer in a word.";

const edge = withEdge();
let client: OpenAI;
let policy: Policy;
let config: ModelConfig;

beforeAll(async () => {
  // No retries: a request that fails is a failure.
  client = new OpenAI({ baseURL: `${edge.url}/v1`, apiKey: edge.keys.client, maxRetries: 0 });
  ({ policy, config } = await policyOf(edge));
});

type Question = { agent: string; text: string; seed: number; temperature: number; maxTokens: number };
type Answer = {
  version: number;
  content: string;
  calls: { name: string; arguments: string }[];
  finishReason: string | null;
  fingerprint: string;
};

/** Streams an answer through the stock client. */
async function ask({ agent, text, seed, temperature, maxTokens }: Question): Promise<Answer> {
  const { data, response } = await client.chat.completions
    .create({ model: agent, messages: [{ role: "user", content: text }], seed, temperature, max_tokens: maxTokens, stream: true })
    .withResponse();
  const answer: Answer = {
    version: Number(response.headers.get("x-policy-version")),
    content: "",
    calls: [],
    finishReason: null,
    fingerprint: "",
  };
  for await (const chunk of data) {
    const [choice] = chunk.choices;
    answer.fingerprint = chunk.system_fingerprint ?? "";
    answer.content += choice?.delta.content ?? "";
    for (const { index, function: written } of choice?.delta.tool_calls ?? []) {
      const before = answer.calls[index] ?? { name: "", arguments: "" };
      answer.calls[index] = { name: before.name + (written?.name ?? ""), arguments: before.arguments + (written?.arguments ?? "") };
    }
    answer.finishReason = choice?.finish_reason ?? answer.finishReason;
  }
  return answer;
}

async function versionOf(agent: string, version: number): Promise<PolicyVersion> {
  return PolicyVersion.parse((await call(edge, "admin", `GET /api/agents/${agent}/versions/${version}`)).body);
}

/** The answer that a version gives, computed here. */
async function decodeAgain({ text, seed, temperature, maxTokens }: Question, version: PolicyVersion): Promise<EndStep> {
  const messages: ChatMessage[] = [
    { role: "system", content: INSTRUCTIONS },
    { role: "user", content: text },
  ];
  const promptTokens = policy.tokenizer.encodePrompt({ messages, addGenerationPrompt: true });
  const sampling = {
    temperature,
    seed,
    maxTokens,
    topP: 1,
    stop: [],
    topLogProbs: 0,
    ...FREE_FORM,
    toolChoice: "none", // as the edge has it where there are no tools
    tools: [],
  } as const;
  const { policyDigest, adapter } = version;
  const readFile = (digest: string) => readStored(edge, digest);
  for await (const step of policy.complete({ promptTokens, policyDigest, adapter, readFile, cacheKey: `${seed}`, ...sampling }))
    if (step.kind === "end") return step;
  throw new Error("an end expected");
}

async function expectSame(question: Question, answer: Answer, version: PolicyVersion): Promise<void> {
  const { content, calls, finishReason } = await decodeAgain(question, version);
  const written = calls.map(({ name, arguments: text }) => ({ name, arguments: text }));
  const { fingerprint, ...got } = answer;
  expect(got).toEqual({ version: version.version, content: content ?? "", calls: written, finishReason });
  expect(fingerprint).toBe(`v${version.version}-${version.policyDigest.slice(0, 12)}`);
}

describe("a swap", () => {
  it(
    `fails none of ${STREAMS} concurrent streams over ${SWAPS} versions, and every answer is its version's to the byte`,
    { timeout: 240_000 },
    async () => {
      const agent = "swap";
      await putAgent(edge, agent, { instructions: INSTRUCTIONS });
      const answered: { question: Question; answer: Answer }[] = [];
      const seen = new Map<number, () => void>();
      let swapping = true;
      const stream = async (id: number): Promise<void> => {
        for (let turn = 0; swapping; turn += 1) {
          // Short answers show a swap early, long ones are under way while several happen.
          const maxTokens = [4, 24, 96][(id + turn) % 3] ?? 4;
          const question = { agent, text: `Stream ${id}, question ${turn}`, seed: id * 10_000 + turn, temperature: 1, maxTokens };
          const answer = await ask(question);
          answered.push({ question, answer });
          seen.get(answer.version)?.();
        }
      };
      const swap = async (): Promise<void> => {
        for (let number = 1; number <= SWAPS; number += 1) {
          const adapter = await putRandomAdapter(edge, config, number);
          const served = new Promise<void>((resolve) => seen.set(number, resolve));
          expect(await publishAdapter(edge, agent, adapter)).toBe(number);
          await served;
        }
      };
      const streams = Array.from({ length: STREAMS }, (_, id) => stream(id));
      await Promise.all([swap().finally(() => (swapping = false)), ...streams]);

      const versions = await Promise.all(Array.from({ length: SWAPS + 1 }, (_, version) => versionOf(agent, version)));
      for (const { question, answer } of answered) {
        const version = versions[answer.version];
        if (version === undefined) throw new Error(`a version up to ${SWAPS} expected, got ${answer.version}`);
        await expectSame(question, answer, version);
      }
      expect(new Set(answered.map(({ answer }) => answer.version)).size).toBe(SWAPS + 1);
      const texts = new Set(await Promise.all(versions.map(async (version) => (await decodeAgain(PROBES[0], version)).content)));
      expect(texts.size).toBeGreaterThan(SWAPS / 2);
    },
  );
});

const greedy = { agent: "rollback", seed: 1, temperature: 0, maxTokens: 40 };
const PROBES: [Question, ...Question[]] = [
  { ...greedy, text: "What is the capital of France?" },
  { ...greedy, text: "Book a table for two." },
  { ...greedy, text: "" + "é😀".repeat(9) },
];

/** Asks until the version answers; the question is not one of the probes. */
async function untilServed(agent: string, version: number): Promise<void> {
  for (let seed = 0; ; seed += 1) {
    const { version: served } = await ask({ agent, text: `Which version? ${seed}`, seed, temperature: 0, maxTokens: 1 });
    if (served === version) return;
  }
}

const totals = async (agent: string) => {
  const { body } = await call(edge, "admin", "GET /api/stats");
  return body.agents.find((each: { agent: string }) => each.agent === agent);
};

describe("a rollback", () => {
  it("brings back the version's own answers at temperature 0, freshly generated", { timeout: 120_000 }, async () => {
    const agent = "rollback";
    await putAgent(edge, agent, { instructions: INSTRUCTIONS });
    const askAll = () => Promise.all(PROBES.map(ask));
    const base = await askAll();
    for (const seed of [101, 102]) await publishAdapter(edge, agent, await putRandomAdapter(edge, config, seed));
    await untilServed(agent, 2);
    const second = await askAll();
    expect(second.map(({ content }) => content)).not.toEqual(base.map(({ content }) => content));

    await call(edge, "admin", `POST /api/agents/${agent}/rollback`, { to: 0, reason: "test" });
    await untilServed(agent, 0);
    expect(await askAll()).toEqual(base);
    await call(edge, "admin", `POST /api/agents/${agent}/rollback`, { to: 2 });
    await untilServed(agent, 2);
    expect(await askAll()).toEqual(second);

    const finished = async () => (await call(edge, "admin", `GET /api/agents/${agent}/events`)).body.events.length;
    await expect.poll(async () => (await totals(agent))?.generations, { timeout: 20_000 }).toBeGreaterThanOrEqual(4 * PROBES.length);
    await expect.poll(finished, { timeout: 20_000 }).toBeGreaterThanOrEqual(4 * PROBES.length);
    expect((await totals(agent)).replays).toBe(0);
  });
});
