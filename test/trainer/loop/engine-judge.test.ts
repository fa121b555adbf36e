/**
 * An agent whose own engine judges its answers: `learning.judge.url` is null, so the trainer asks where the edge asks, with a key of
 * its own. One server stands in for vLLM and does both.
 */
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseModelConfig } from "../../../shared/model-config.ts";
import { BaseManifest } from "../../../shared/policy.ts";
import type { JobSampler } from "../../../trainer/judge/job-sampler.ts";
import { LlmJudge } from "../../../trainer/judge/llm/judge.ts";
import { createPanel } from "../../../trainer/judge/panel.ts";
import { says, talkTo } from "../../edge/session/talk.ts";
import { KEY, type Json } from "../../edge/engine/stand-in.ts";
import { Vllm } from "../../edge/engine/stand-ins.ts";
import { readStored } from "../../helpers/adapters.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { votes } from "../judge/chat-server.ts";
import { learning, loopOf } from "./stand-ins.ts";

const MODEL = "Qwen/Qwen3-4B";

/** Answers users in streams, and ballots whole. */
class JudgingVllm extends Vllm {
  protected override route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean> {
    if (path !== "/v1/chat/completions" || body.stream === true) return super.route(path, body, response);
    return this.json(response, 200, votes(1).body);
  }
}

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY } });
const engine = new JudgingVllm();
beforeAll(() => engine.start());
afterAll(() => engine.stop());

// Where the base is asked after all, the test fails.
const refuse = () => Promise.reject(new Error("asked"));
const NO_BASE: JobSampler = { answer: refuse, score: refuse, call: refuse, knowsWishes: false };

async function judgedBy(agent: string, { secret, environment }: { secret: string | null; environment: Record<string, string> }) {
  engine.play({ text: ["Hel", "lo"] });
  await putAgent(edge, agent, {
    engine: { kind: "openai", flavour: "vllm", url: engine.url, model: MODEL, keySecret: "ENGINE_KEY_TEST" },
    learning: { judge: { kind: "llm", secret } },
  });
  const { ask, logged } = talkTo(edge, agent);
  const first = await ask([says("hi")]);
  await ask([says("hi"), first.message, says("Yes, thank you")]);
  await logged("turn:finished", 2);
  const manifest = BaseManifest.parse(JSON.parse(new TextDecoder().decode(await readStored(edge, edge.baseDigest))));
  const shape = parseModelConfig(JSON.parse(new TextDecoder().decode(await readStored(edge, manifest.files["config.json"] ?? ""))));
  const judge = createPanel(NO_BASE, new LlmJudge({ environment }));
  const loop = loopOf(agent, { edge: { url: edge.url, key: edge.keys.trainer }, shape, judge, learner: learning(shape) });
  const judgements = async (): Promise<unknown[]> =>
    (await call(edge, "admin", `GET /api/agents/${agent}/events?cursor=0&limit=100`)).body.events
      .map(({ payload }: { payload: { kind: string } }) => payload)
      .filter(({ kind }: { kind: string }) => kind === "judgement:made");
  return { loop, judgements };
}

it("is asked for the votes by the trainer's key, and the log says by which model and instructions", async () => {
  const environment = { NEXTSTATE_JUDGE_OWN_KEY: KEY, NEXTSTATE_JUDGE_OWN_URL: `${engine.url}/v1` };
  const { loop, judgements } = await judgedBy("judge-own", { secret: "OWN", environment });
  await loop.step(2_000);
  const ballots = engine.asked.filter(({ body }) => body["stream"] === false);
  expect(ballots.map(({ body, authorization }) => [body["model"], authorization])).toEqual(Array(3).fill([MODEL, `Bearer ${KEY}`]));
  expect(await judgements()).toMatchObject([
    { judge: "llm", reward: 1, votes: [1, 1, 1], poll: { model: MODEL, asked: 3, promptDigest: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  ]);
});

it("is not lent the Worker's key: without one in the trainer's environment nothing is judged, and nothing consumed", async () => {
  const { loop, judgements } = await judgedBy("judge-keyless", { secret: null, environment: {} });
  const before = engine.asked.length;
  expect(await loop.step(2_000)).toBe("waiting");
  expect(new Set(engine.asked.slice(before).map(({ authorization }) => authorization))).toEqual(new Set([undefined]));
  expect(await judgements()).toEqual([]);
});
