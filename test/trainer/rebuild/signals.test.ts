/**
 * Answers that people supply, and scores, from `/v1/feedback` through a real edge, judge and learner into versions, each of which
 * is made again from the log to the same bytes.
 */
import { describe, expect, it } from "vitest";
import { at } from "../../../shared/assert.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { createFeedbackJudge } from "../../../trainer/judge/feedback.ts";
import type { Judge } from "../../../trainer/judge/judge.ts";
import { createLearner } from "../../../trainer/learn/update/update.ts";
import { readAdapterFiles, writeAdapterFiles } from "../../../trainer/policy/adapter.ts";
import { rebuildVersion, type Rebuilt } from "../../../trainer/rebuild/rebuild.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { LARGE_RATES, withRandomEngine } from "../../helpers/random-engine.ts";
import { loopOf } from "../loop/stand-ins.ts";

const AGENT = "taught";
const edge = withEdge();
const tiny = withRandomEngine();

// Nothing said here needs a hint, so no base is asked for one.
const judge: Judge = createFeedbackJudge(() => Promise.reject(new Error("no hint expected")));
const learner = () => createLearner({ ...tiny, settings: LARGE_RATES, now: () => 0 });

async function ask(seed: number): Promise<string> {
  const body = { model: AGENT, messages: [{ role: "user", content: "Two rooms?" }], max_tokens: 4, seed, session_id: `s${seed}` };
  const answer = await call(edge, "client", "POST /v1/chat/completions", body);
  expect(answer.status).toBe(200);
  return answer.body.id;
}

/** Gives feedback, and waits until the log has it. */
async function give(completionId: string, feedback: Record<string, unknown>): Promise<void> {
  const given = await call(edge, "client", "POST /v1/feedback", { completion_id: completionId, ...feedback });
  expect(given.status).toBe(200);
  const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
  const logged = async (): Promise<string[]> =>
    (await client.pull({ agent: AGENT, line: "shared", cursor: 0, limit: 100, waitMs: 0 })).events.map(({ eventId }) => eventId);
  await expect.poll(logged, { timeout: 20_000 }).toContain(given.body.event_id);
}

async function rebuild(version: number): Promise<Rebuilt> {
  const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
  const loadAdapter: Parameters<typeof rebuildVersion>[0]["loadAdapter"] = async ({ adapter }) => {
    if (adapter === null) return null;
    const [configBytes, weightBytes] = await Promise.all([client.getFile(adapter.configDigest), client.getFile(adapter.weightsDigest)]);
    return readAdapterFiles(tiny.base.config, { configBytes, weightBytes });
  };
  const writeAdapter: Parameters<typeof rebuildVersion>[0]["writeAdapter"] = (adapter) =>
    writeAdapterFiles(tiny.base.config, adapter, "random");
  return rebuildVersion({ edge: client, learner: learner(), loadAdapter, writeAdapter }, { agent: AGENT, line: "shared" }, version);
}

describe("signals without a hint", { timeout: 240_000 }, () => {
  it("become versions that can be made again", async () => {
    const learning = { notes: "off", maxWaitMs: 0, signals: { answers: "both", rewards: "outcome", preference: { beta: 1 } } };
    await putAgent(edge, AGENT, { learning, release: { gate: { enabled: false }, canary: { mode: "off" } } });
    const loop = loopOf(AGENT, { edge: { url: edge.url, key: edge.keys.trainer }, shape: tiny.base.config, judge, learner: learner() });
    const [first, second, third] = [await ask(1), await ask(2), await ask(3)];
    await give(first, { answer: { content: "Y" } });
    expect(await loop.step(2_000)).toBe("published");
    await give(second, { score: 1 });
    await give(third, { score: -1 });
    expect(await loop.step(2_000)).toBe("published");
    const { versions } = (await call(edge, "admin", `GET /api/agents/${AGENT}/versions`)).body;
    const [rewarded, taught] = [at<any>(versions, 0), at<any>(versions, 1)]; // oxlint-disable-line no-explicit-any -- answers of many shapes
    expect(taught).toMatchObject({
      version: 1,
      events: [{ reward: -1, judge: "feedback" }],
      hints: [],
      changes: [{ prompt: "Two rooms?", after: "Y" }],
      inputs: { signals: { answers: "both" } },
    });
    expect(rewarded).toMatchObject({ version: 2, events: [{ reward: 1 }, { reward: -1 }], metrics: { staleness: { mean: 1, max: 1 } } });
    const { cases } = (await call(edge, "admin", `GET /api/agents/${AGENT}/suite`)).body;
    expect(cases).toMatchObject([{ source: "correction", expect: { reply: { contains: ["Y"] } }, version: 1 }]);
    for (const { version, adapter } of versions.filter((each: { version: number }) => each.version > 0))
      expect(await rebuild(version)).toMatchObject({ version, expected: adapter.weightsDigest, got: adapter.weightsDigest, same: true });
  });
});
