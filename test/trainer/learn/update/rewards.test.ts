/** Rewards alone through the real engine on a tiny random base: what moves, what does not, and what is refused. */
import { describe, expect, it } from "vitest";
import { at } from "../../../../shared/assert.ts";
import { linearNames } from "../../../../shared/lora.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { UpdateSettings } from "../../../../trainer/config.ts";
import type { RewardedExchange, UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { OBJECTIVES } from "../../../../trainer/learn/update/objective.ts";
import { rewardLoss, rewardRows, usableExchanges, type RewardRow } from "../../../../trainer/learn/lesson/reward-rows.ts";
import { scoreRows } from "../../../../trainer/learn/lesson/scores.ts";
import { trainStep, type Training } from "../../../../trainer/learn/update/train.ts";
import { createLearner } from "../../../../trainer/learn/update/update.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { SEARCH, turn, user } from "../../hotel.ts";

const tiny = withRandomEngine();
const FREE_OF_BASE = SignalSettings.parse({ rewards: "steps", klToBase: 0 });

type Changes = { readonly votes?: readonly number[]; readonly topP?: number; readonly policyVersion?: number; readonly shift?: number };

/** One answer to one request, with the log-probs that the base gives it, but for a shift. */
async function rewarded(
  said: string,
  outcome: -1 | 1,
  { votes = [], topP = 1, policyVersion = 0, shift = 0 }: Changes = {},
): Promise<RewardedExchange> {
  const { tokenizer } = tiny.base;
  const messages = [user("Two rooms?")];
  const promptTokens = tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
  const responseTokens = [...tokenizer.encode(said), tokenizer.eosId];
  const [score] = await scoreRows(tiny.engine, [{ prompt: promptTokens, answer: responseTokens }], {
    adapter: undefined,
    vocabSize: tiny.base.config.vocabSize,
  });
  const rolloutLogProbs = [...(score?.logProbs ?? [])].map((value) => value + shift);
  const rollout = { promptTokens, responseTokens, rolloutLogProbs, sampling: { seed: 1, temperature: 1, topP, masked: false } };
  const made = turn(messages, { role: "assistant", content: said }, { tools: [SEARCH], rollout, policyVersion });
  return { eventId: `${made.turnId}/next`, task: "rooms", outcome, steps: [{ turn: made, votes }], share: 1 };
}

async function rowsOf(exchanges: readonly RewardedExchange[]): Promise<RewardRow[]> {
  const { usable } = usableExchanges(exchanges, { base: tiny.base, parentVersion: 0, maxStaleness: 8 });
  return rewardRows(tiny.engine, usable, { parent: undefined, baseline: 0, signals: FREE_OF_BASE, vocabSize: tiny.base.config.vocabSize });
}

async function training(name: string): Promise<Training> {
  await tiny.engine.createAdapter(name, { rank: 4, alpha: 8, targets: linearNames(), invocation: tiny.base.tokenizer.invocation, seed: 1 });
  return {
    engine: tiny.engine,
    adapter: name,
    objective: { ...OBJECTIVES.hybrid, errands: 0 },
    vocabSize: tiny.base.config.vocabSize,
    lr: 1e-2,
  };
}

function requestOf(exchanges: readonly RewardedExchange[], signals: Partial<SignalSettings> = {}): UpdateRequest {
  const none = { corrected: [], supplied: [], replay: [], parent: null, parentVersion: 12, baseline: 0 };
  return { ...none, rewarded: exchanges, signals: SignalSettings.parse({ rewards: "steps", ...signals }), objective: "hybrid", seed: 7 };
}

const learner = () => createLearner({ ...tiny, settings: UpdateSettings.parse({ rank: 2, alpha: 4, driftLimitNats: 5 }), now: () => 0 });

describe("usableExchanges", () => {
  it("refuses an exchange with a turn that no row holds, in numbers", async () => {
    const exchange = await rewarded("Yes", 1);
    const count = exchange.steps[0]?.turn.payload.rollout.promptTokens.length;
    const limits = { base: { ...tiny.base, rowTokens: 64 }, parentVersion: 0, maxStaleness: 8 };
    expect(usableExchanges([exchange], limits)).toMatchObject({
      usable: [],
      refused: [{ code: "turn/tooLong", detail: `request and answer of at most 64 tokens expected, got ${count} and 4` }],
    });
  });
});

describe("usableExchanges, of engines", () => {
  const limits = { parentVersion: 0, maxStaleness: 8 };
  const unusable = { reason: "drawn at another temperature", promptTokens: 4, responseTokens: 2 };

  async function refusedWith(changes: object) {
    const exchange = await rewarded("Yes", 1);
    const { turn: made, votes } = at(exchange.steps, 0);
    const rollout = { ...made.payload.rollout, rolloutLogProbs: [], unusable, ...changes };
    const steps = [{ turn: { ...made, payload: { ...made.payload, rollout } }, votes }];
    return usableExchanges([{ ...exchange, steps }], { base: tiny.base, ...limits });
  }

  it("refuses a turn whose sampled tokens nobody told", async () => {
    expect(await refusedWith({ promptTokens: [], responseTokens: [] })).toMatchObject({
      usable: [],
      refused: [{ code: "turn/untold", detail: unusable.reason }],
    });
  });

  it("refuses one whose log-probs are of another distribution than it was drawn from", async () => {
    expect(await refusedWith({})).toMatchObject({ usable: [], refused: [{ code: "turn/ratios", detail: unusable.reason }] });
  });
});

describe("usableExchanges, of guided turns", () => {
  it.each([
    ["notes", { notes: [{ noteId: "n1", text: "number_of_rooms should be 2." }] }],
    ["a yes that nobody gave", { agreedTo: "Please confirm: rooms 2. Is that right?" }],
  ])("refuses what was answered under %s: it is no evidence of what the policy does by itself", async (under, changes) => {
    const [free, guided] = [await rewarded("Yes", 1), await rewarded("No", -1)];
    const { turn: made, votes } = at(guided.steps, 0);
    // One such step among others is enough.
    const steps = [...free.steps, { turn: { ...made, payload: { ...made.payload, ...changes } }, votes }];
    const limits = { base: tiny.base, parentVersion: 0, maxStaleness: 8 };
    const { usable, refused } = usableExchanges([free, { ...guided, steps }], limits);
    expect(usable.map(({ exchange }) => exchange.eventId)).toEqual([free.eventId]);
    const detail = `a prompt of what was said expected, got one with ${under}`;
    expect(refused).toEqual([{ eventId: guided.eventId, code: "turn/ratios", detail }]);
  });
});

describe("rewardRows", { timeout: 60_000 }, () => {
  it("gives the tokens of each answer its advantage, by how likely the parent still is to draw them", async () => {
    // r = 1 + 1 and −1 − 1: mean 0, deviation 2 → +1 and −1. The second was drawn at e^0.5 times the parent's probability: e^−0.5.
    const rows = await rowsOf([await rewarded("Yes", 1, { votes: [1] }), await rewarded("No", -1, { votes: [-1], shift: 0.5 })]);
    const [right, wrong] = [at(rows, 0), at(rows, 1)];
    for (const advantage of right.advantages) expect(advantage).toBeCloseTo(1, 4);
    for (const advantage of wrong.advantages) expect(advantage).toBeCloseTo(-Math.exp(-0.5), 4);
    // Half of the shares each, over 4 and 3 tokens, times the 35 of a call.
    expect(right.weight).toBeCloseTo(35 / 2 / 4, 10);
    expect(wrong.weight).toBeCloseTo(35 / 2 / 3, 10);
  });
});

describe("rewardLoss", { timeout: 60_000 }, () => {
  it("makes what was rewarded likelier, and what was not less", async () => {
    const rows = await rowsOf([await rewarded("Yes", 1), await rewarded("No", -1)]);
    const prepared = await training("moves");
    for (let step = 0; step < 3; step += 1)
      await trainStep(prepared, { step, pace: 1, groups: [], corrected: [], more: [rewardLoss(rows, FREE_OF_BASE)] });
    const scores = await scoreRows(
      tiny.engine,
      rows.map(({ row }) => row),
      { adapter: "moves", vocabSize: tiny.base.config.vocabSize },
    );
    const gains = scores.map(({ logProbs }, index) =>
      logProbs.reduce((sum, value, token) => sum + value - at(at(rows, index).oldLogProbs, token), 0),
    );
    expect(gains[0]).toBeGreaterThan(0);
    expect(gains[1]).toBeLessThan(0);
  });

  it("changes no byte where every advantage is zero", async () => {
    const rows = (await rowsOf([await rewarded("Yes", 1), await rewarded("No", -1)])).map((row) => ({
      ...row,
      advantages: row.advantages.map(() => 0),
    }));
    const prepared = await training("still");
    const start = await tiny.engine.readAdapter("still");
    await trainStep(prepared, { step: 0, pace: 1, groups: [], corrected: [], more: [rewardLoss(rows, FREE_OF_BASE)] });
    expect([...(await tiny.engine.readAdapter("still")).tensors]).toEqual([...start.tensors]);
  });
});

describe("createLearner, with rewards", { timeout: 120_000 }, () => {
  it("counts how stale what it learns from is, and refuses what is too far behind or drawn otherwise", async () => {
    const fresh = await rewarded("Yes", 1, { policyVersion: 10 });
    const [old, cut] = [await rewarded("No", -1, { policyVersion: 3 }), await rewarded("No", -1, { policyVersion: 12, topP: 0.9 })];
    const outcome = await learner().update(requestOf([fresh, await rewarded("No", -1, { policyVersion: 12 }), old, cut]));
    expect(outcome).toMatchObject({
      status: "learned",
      metrics: { staleness: { mean: 1, max: 2 } },
      refused: [
        { eventId: old.eventId, code: "turn/stale", detail: "at most 8 versions behind expected, got 9" },
        { eventId: cut.eventId, code: "turn/ratios" },
      ],
    });
  });

  it("goes no further from its parent on what it is rewarded for than an update may drift", async () => {
    const settings = UpdateSettings.parse({ rank: 2, alpha: 4, driftLimitNats: 0.001, lr: 0.05 });
    const steps: { driftNats: number }[] = [];
    const held = createLearner({ ...tiny, settings, now: () => 0, onLook: (look) => steps.push(look) });
    const outcome = await held.update(requestOf([await rewarded("Yes", -1, { policyVersion: 12 })]));
    const metrics = outcome.status === "learned" ? outcome.metrics : undefined;
    expect(at(steps, steps.length - 1).driftNats).toBeGreaterThan(0.001); // the last step went too far and was taken in part
    expect(metrics?.klToParentNats).toBeGreaterThan(0);
    expect(metrics?.klToParentNats).toBeLessThanOrEqual(0.001);
    expect(metrics?.klToBaseNats).toBeLessThan(0.0015); // its parent is the base, and what is published is rounded
  });

  it("moves less for a reward that is nearly what the agent is used to", async () => {
    const moved = async (baseline: number): Promise<number> => {
      const request = { ...requestOf([await rewarded("Yes", -1, { policyVersion: 12 })]), baseline };
      const outcome = await learner().update(request);
      return outcome.status === "learned" ? outcome.metrics.klToBaseNats : Number.NaN;
    };
    expect(await moved(-0.99)).toBeLessThan((await moved(0)) / 10);
  });

  it("learns nothing of one −1 more where the agent has had nothing else", async () => {
    const request = { ...requestOf([await rewarded("Yes", -1, { policyVersion: 12 })]), baseline: -1 };
    const detail = expect.stringContaining("from the agent's usual -1.00");
    expect(await learner().update(request)).toMatchObject({ status: "refused", refused: [{ code: "judge/notNegative", detail }] });
  });

  it("learns nothing where every reward is the same", async () => {
    const same = [await rewarded("Yes", 1, { policyVersion: 12 }), await rewarded("No", 1, { policyVersion: 12 })];
    expect(await learner().update(requestOf(same))).toMatchObject({ status: "refused", refused: [{ code: "judge/notNegative" }, {}] });
  });
});
