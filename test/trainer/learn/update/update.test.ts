/** Updates through the real engine on a tiny random base: what it refuses, and that the same request gives the same bytes. */
import { describe, expect, it } from "vitest";
import { AppError } from "../../../../shared/errors.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { UpdateSettings } from "../../../../trainer/config.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import type { Engine } from "../../../../trainer/engine/engine.ts";
import type { HeldBack } from "../../../../trainer/learn/update/confirm.ts";
import { costToEarlier } from "../../../../trainer/learn/update/earlier.ts";
import type { CorrectedExchange, UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { createLearner } from "../../../../trainer/learn/update/update.ts";
import type { AskPolicy } from "../../../../trainer/teacher/lead.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const NO_SIGNALS = { supplied: [], rewarded: [], signals: SignalSettings.parse({}) };
const SETTINGS = UpdateSettings.parse({
  rank: 2,
  alpha: 4,
  maxSteps: 3,
  contexts: { silent: 3, stated: 2, other: 1, anchor: 1 },
  heldBack: { silent: 2, stated: 1, other: 1, anchor: 1 },
});

const tiny = withRandomEngine();

function correctedTo(value: string): CorrectedExchange {
  const parameter = findParameter(SEARCH, "number_of_rooms");
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  const messages = [user("A hotel in Porto.")];
  const promptTokens = tiny.base.tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
  const responseTokens = tiny.base.tokenizer.encode("one room");
  const rollout = {
    promptTokens,
    responseTokens,
    rolloutLogProbs: responseTokens.map(() => -1),
    sampling: { seed: 1, temperature: 1, topP: 1, masked: false },
  };
  const made = turn(messages, call("SearchHotel", { city: "Porto", number_of_rooms: "1" }), { tools: [SEARCH], rollout });
  return {
    eventId: `${made.turnId}/next`,
    seq: made.seq,
    correction: { tool: SEARCH, parameter, hint: { parameter: "number_of_rooms", value } },
    turns: [made],
    reward: -1,
    held: "1",
    words: "No, two rooms.",
    share: 1,
  };
}

/** A correction of a turn whose engine told no tokens. @param stated how many it says its prompt had; 0 where it does not */
function untold(stated: number): CorrectedExchange {
  const corrected = correctedTo("2");
  const unusable = { reason: "it told none", promptTokens: stated, responseTokens: 2 };
  const turns = corrected.turns.map((each) => {
    const { sampling } = each.payload.rollout;
    const rollout = { promptTokens: [], responseTokens: [], rolloutLogProbs: [], sampling, unusable };
    return { ...each, payload: { ...each.payload, rollout } };
  });
  return { ...corrected, turns };
}

function requestOf(corrected: readonly CorrectedExchange[], objective: UpdateRequest["objective"]): UpdateRequest {
  return { ...NO_SIGNALS, corrected, replay: [], parent: null, parentVersion: 0, baseline: 0, objective, seed: 7 };
}

describe("createLearner", { timeout: 60_000 }, () => {
  it("distils nothing from a teacher that cannot follow the note", async () => {
    const outcome = await createLearner({ ...tiny, settings: SETTINGS, now: () => 0 }).update(requestOf([correctedTo("2")], "hybrid"));
    expect(outcome).toMatchObject({ status: "refused", refused: [{ code: "teacher/fails" }] });
  });

  it("gives the same adapter for the same request and seed", async () => {
    const corrected = [correctedTo("2")];
    const learner = createLearner({ ...tiny, settings: SETTINGS, now: () => 0 });
    const [first, second] = [await learner.update(requestOf(corrected, "paper")), await learner.update(requestOf(corrected, "paper"))];
    expect(first.status).toBe("learned");
    expect(second).toEqual(first);
  });

  it("gives the published recipe nothing of turns whose sampled tokens nobody told, and says so", async () => {
    const outcome = await createLearner({ ...tiny, settings: SETTINGS, now: () => 0 }).update(requestOf([untold(0)], "paper"));
    expect(outcome).toMatchObject({ status: "refused", refused: [{ code: "turn/untold", detail: "it told none" }] });
  });

  it("leaves out corrections and replayed turns whose prompts their engine counted otherwise, and counts those", async () => {
    const counted: Record<string, number>[] = [];
    const learner = createLearner({ ...tiny, settings: SETTINGS, now: () => 0, onTaught: (counts) => counted.push(counts) });
    const replay = [{ turnId: "t", messages: [user("A hotel in Faro.")], tools: [SEARCH], called: [], stated: 3 }];
    const outcome = await learner.update({ ...requestOf([untold(5)], "hybrid"), replay });
    expect(outcome).toMatchObject({
      status: "refused",
      refused: [{ code: "turn/template", detail: expect.stringMatching(/^a prompt of 5 tokens expected, .* writes one of \d+$/) }],
    });
    expect(counted).toEqual([{ "replayed otherwise": 1 }]);
  });

  it("goes on from its parent's adapter", async () => {
    const learner = createLearner({ ...tiny, settings: SETTINGS, now: () => 0 });
    const first = await learner.update(requestOf([correctedTo("2")], "paper"));
    if (first.status !== "learned") throw new Error("an adapter expected");
    const second = await learner.update({ ...requestOf([correctedTo("3")], "paper"), parent: first.adapter });
    expect(second).toMatchObject({ status: "learned", adapter: { rank: 2, alpha: 4 } });
    expect(second).not.toEqual(first);
  });

  it("makes adapters that act on everything where an engine knows no others, and none from one that does not", async () => {
    const learner = createLearner({ ...tiny, settings: { ...SETTINGS, actsOn: "everything" }, now: () => 0 });
    const request = requestOf([correctedTo("2")], "paper");
    const plain = await learner.update(request);
    if (plain.status !== "learned") throw new Error("an adapter expected");
    expect(plain.adapter.invocation).toBeUndefined();
    const asked = await createLearner({ ...tiny, settings: SETTINGS, now: () => 0 }).update({ ...request, actsOn: "everything" });
    expect(asked).toEqual(plain);
    const onAnswers = { ...plain.adapter, invocation: tiny.base.tokenizer.invocation };
    expect(await learner.update({ ...requestOf([correctedTo("3")], "paper"), parent: onAnswers })).toMatchObject({
      status: "refused",
      refused: [{ code: "update/failed", detail: expect.stringContaining("a parent that acts on everything expected") }],
    });
  });

  it("measures how far the published recipe moves the policy, from parent and from base", async () => {
    const learner = createLearner({ ...tiny, settings: SETTINGS, now: () => 0 });
    const corrected = correctedTo("2");
    const first = await learner.update(requestOf([corrected], "paper"));
    if (first.status !== "learned") throw new Error("an adapter expected");
    expect(first.metrics.klToParentNats).toBeGreaterThan(0);
    expect(first.metrics.klToBaseNats).toBe(first.metrics.klToParentNats);
    const second = await learner.update({ ...requestOf([correctedTo("3")], "paper"), parent: first.adapter });
    expect(second.status === "learned" && second.metrics.klToBaseNats).not.toBe(
      second.status === "learned" && second.metrics.klToParentNats,
    );
  });

  it("tells what it says about each token of the turns, each text once", async () => {
    const steps: string[] = [];
    const corrected = correctedTo("2");
    const request = {
      ...requestOf([corrected], "paper"),
      onStep: ({ done, of }: { done: number; of: number }) => steps.push(`${done}/${of}`),
    };
    const outcome = await createLearner({ ...tiny, settings: SETTINGS, now: () => 0 }).update(request);
    if (outcome.status !== "learned") throw new Error("an adapter expected");
    expect(steps).toEqual(["0/3", "1/3", "2/3", "3/3"]);
    expect(outcome.credits.map(({ eventId, pieces }) => [eventId, pieces.map(([text]) => text).join("")])).toEqual([
      [corrected.eventId, "one room"],
    ]);
    // All tokens of a rejected turn, by the published recipe: −1, and what the teacher says, which is clipped.
    for (const { pieces } of outcome.credits) for (const [, advantage] of pieces) expect(Math.abs(advantage + 1)).toBeLessThanOrEqual(1);
  });

  it("refuses a correction whose arithmetic breaks, and keeps what was learnt before it", async () => {
    const wifi = findParameter(SEARCH, "has_wifi");
    if (wifi === undefined) throw new Error("the hotel tool has wifi");
    const [rooms, other] = [correctedTo("2"), correctedTo("3")];
    const broken: CorrectedExchange = {
      ...other,
      correction: { tool: SEARCH, parameter: wifi, hint: { parameter: "has_wifi", value: "True" } },
    };
    const breaking = new Proxy(tiny.engine, {
      get(target, name) {
        if (name === "stepAdapter")
          return (adapter: string, options: Parameters<Engine["stepAdapter"]>[1]) =>
            adapter.endsWith(".1")
              ? Promise.reject(new AppError("train/nonFinite", "loss: a finite value expected, got NaN"))
              : target.stepAdapter(adapter, options);
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const outcome = await createLearner({ ...tiny, engine: breaking, settings: SETTINGS, now: () => 0 }).update(
      requestOf([rooms, broken], "paper"),
    );
    expect(outcome).toMatchObject({ status: "learned", refused: [{ eventId: broken.eventId, code: "update/failed" }] });
  });

  it("takes the latest of two corrections that disagree", async () => {
    const [early, late] = [correctedTo("2"), correctedTo("3")];
    const outcome = await createLearner({ ...tiny, settings: { ...SETTINGS, defaultsYield: true }, now: () => 0 }).update(
      requestOf([early, late], "paper"),
    );
    const defaults = [{ tool: "SearchHotel", parameter: "number_of_rooms", value: "3", corrected: "1" }];
    expect(outcome).toMatchObject({ status: "learned", defaults, refused: [{ eventId: early.eventId, code: "hint/superseded" }] });
    // What a version of before carries does not stand against what is learned by weights alone.
    const off = await createLearner({ ...tiny, settings: { ...SETTINGS, defaultsYield: false }, now: () => 0 }).update(
      requestOf([correctedTo("3")], "paper"),
    );
    expect(off).toMatchObject({ status: "learned", defaults: [{ tool: "SearchHotel", value: "3", held: false }] });
  });
});

describe("costToEarlier", { timeout: 60_000 }, () => {
  function heldRooms(): HeldBack {
    const { correction } = correctedTo("2");
    const context = { kind: "silent", origin: "generated", messages: [user("Porto")], tools: [SEARCH], tool: "SearchHotel" } as const;
    const silent = { context, guidance: "forced", teacherPrompt: [5], studentPrompt: [5], answer: [6], own: [6] } as const;
    return { correction, lessons: [silent], before: new Map(), told: new Set(), carried: false };
  }

  it("refuses a correction after which an earlier one of the batch is no longer shown", async () => {
    const held = heldRooms();
    const deps = { ...tiny, settings: SETTINGS };
    const forgetful: AskPolicy = async (asked) => asked.map(() => [tiny.base.tokenizer.eosId]);
    const cost = await costToEarlier(deps, [held], { tools: ["SearchHotel"], adapter: "none", ask: forgetful });
    expect(cost).toMatchObject({ code: "update/forgets", detail: expect.stringContaining("number_of_rooms should be 2.") });
    expect(await costToEarlier(deps, [], { tools: ["SearchHotel"], adapter: "none", ask: forgetful })).toBeUndefined();
  });
});
