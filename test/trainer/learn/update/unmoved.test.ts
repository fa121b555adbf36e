/** Corrections that move no weights: what they follow already, refused unless the version is held to something else, and what a version is held to alone. */
import { describe, expect, it } from "vitest";
import { aspectParameter } from "../../../../shared/aspects.ts";
import type { Reach } from "../../../../shared/reach.ts";
import { linearNames } from "../../../../shared/lora.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import { UpdateSettings } from "../../../../trainer/config.ts";
import type { Lesson } from "../../../../trainer/teacher/answers.ts";
import { ErrandPools } from "../../../../trainer/learn/lesson/errand-pool.ts";
import type { UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { answeredAsOf, heldAlone, isHeldAlone, withoutLift } from "../../../../trainer/learn/update/unmoved.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const tiny = withRandomEngine();
const QUESTION = "Please confirm: search hotel (city: Porto). Is that right?";
const PLACE = { tool: "SearchHotel", parameter: "number_of_rooms" };

const FORGOTTEN = { mean: 0.1, byEvent: new Map([["e", 0.1]]) };

async function corrected(
  carried: UpdateRequest["carried"],
  settings = UpdateSettings.parse({ rank: 2, alpha: 4 }),
  learn: typeof heldAlone = (deps, work) => withoutLift(deps, work, { lift: 0.1, lifts: FORGOTTEN, lessons: [] }),
  others: readonly string[] = [],
) {
  const parameter = findParameter(SEARCH, PLACE.parameter);
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  const made = turn([user("A hotel in Porto.")], call("SearchHotel", { city: "Porto", number_of_rooms: "2" }), { tools: [SEARCH] });
  const exchange = {
    ...({ eventId: "e", seq: made.seq, turns: [made], reward: -1, held: "2", words: "No, one room.", share: 1 } as const),
    correction: { tool: SEARCH, parameter, hint: { parameter: PLACE.parameter, value: "1" } },
  };
  const request: UpdateRequest = {
    ...{ corrected: [exchange], supplied: [], rewarded: [], replay: [], parent: null, parentVersion: 0, baseline: 0, seed: 7 },
    ...{ signals: SignalSettings.parse({}), objective: "hybrid" },
    ...(carried && { carried }),
    othersAnswer: ({ tool }) => others.includes(tool),
  };
  const { engine, base } = tiny;
  const deps = { engine, base, settings, now: () => 0, errandPools: new ErrandPools(engine, base) };
  await engine.createAdapter("unmoved", { rank: 2, alpha: 4, targets: linearNames(), invocation: undefined, seed: 1 });
  try {
    const work = { group: [exchange], adapters: { parent: undefined, candidate: "unmoved" }, request, earlier: [] };
    return await learn(deps, work, { lifts: FORGOTTEN, lessons: [lessonOf(made)] });
  } finally {
    await engine.dropAdapter("unmoved");
  }
}

/** Of the turn as a version that is held to a question answers it. */
function lessonOf({ turnId, payload: { messages, tools } }: ReturnType<typeof turn>): Lesson {
  const { tokenizer } = tiny.base;
  const [prompt, answer] = [tokenizer.encode("x"), [...tokenizer.encode(QUESTION), tokenizer.eosId]];
  const context = { ...({ kind: "silent", origin: turnId, tool: PLACE.tool } as const), messages, tools };
  return { context, guidance: "forced", teacherPrompt: prompt, studentPrompt: prompt, answer, own: answer };
}

describe("answeredAsOf", () => {
  const parent = { tensors: new Map(), rank: 2, alpha: 4 };
  const others = (current: UpdateRequest["parent"], reach: Reach, of: UpdateRequest["othersAnswer"] = () => true) =>
    ["SearchHotel", "FindBus"].map((tool) =>
      answeredAsOf({ parent, othersAnswer: of }, { current, reach, learned: [] }).othersAnswer?.({ tool, parameter: "city" }),
    );

  it("has the candidate answer for what the batch has taught it before, and others for what it has not", () => {
    expect(others({ ...parent }, ["SearchHotel"])).toEqual([false, true]);
    expect(others({ ...parent }, null)).toEqual([false, false]);
  });

  it("has others answer for arguments that nothing was learned about, where something was about another of the tool", () => {
    const rooms = { ...PLACE, value: "1" };
    const asOf = (carried: UpdateRequest["carried"], learned: readonly (typeof PLACE)[]) => {
      const request = { parent, othersAnswer: () => false, ...(carried && { carried }) };
      const { othersAnswer } = answeredAsOf(request, { current: { ...parent }, reach: [PLACE.tool], learned });
      return ["city", PLACE.parameter].map((parameter) => othersAnswer?.({ tool: PLACE.tool, parameter }));
    };
    expect([asOf(undefined, [PLACE]), asOf([rooms], []), asOf([rooms], [{ ...PLACE, parameter: "city" }])]).toEqual([
      [true, false],
      [true, false],
      [false, false],
    ]);
  });

  it("leaves it with who answered before where nothing is learned yet, or one version answers for all", () => {
    expect(answeredAsOf({ parent, othersAnswer: () => true }, { current: parent, reach: [], learned: [] })).toEqual({});
    expect(answeredAsOf({ parent }, { current: { ...parent }, reach: ["SearchHotel"], learned: [] })).toEqual({});
  });
});

describe("isHeldAlone", () => {
  const settings = UpdateSettings.parse({});
  const correctionTo = (name: string, value: string) => {
    const parameter = findParameter(SEARCH, name) ?? aspectParameter(name);
    if (parameter === undefined) throw new Error(`${name} expected`);
    return { tool: SEARCH, parameter, hint: { parameter: name, value } };
  };

  it("is so of a question before a call, where versions are held to what they carry", () => {
    expect(isHeldAlone({ settings }, correctionTo("@ask", "first"))).toBe(true);
    expect(isHeldAlone({ settings: { ...settings, defaultsYield: false } }, correctionTo("@ask", "first"))).toBe(false);
    expect(isHeldAlone({ settings }, correctionTo("@ask", "never"))).toBe(false);
    expect(isHeldAlone({ settings }, correctionTo("number_of_rooms", "2"))).toBe(false);
  });
});

describe("heldAlone", { timeout: 60_000 }, () => {
  it("moves no weight, and tells what a version that is held to it answers", async () => {
    const learned = await corrected(undefined, undefined, heldAlone);
    expect(learned).toMatchObject({ status: "learned", metrics: { steps: 0, klToParentNats: 0 }, changes: [{ after: QUESTION }] });
  });
});

describe("withoutLift", { timeout: 60_000 }, () => {
  it("refuses where nothing, or the very same, is carried, and where versions carry nothing", async () => {
    const refused = { status: "refused", code: "teacher/noLift" };
    expect(await corrected(undefined)).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, value: "1" }])).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, parameter: "city", value: "2" }])).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, value: "2" }], UpdateSettings.parse({ defaultsYield: false }))).toMatchObject(refused);
  });

  it("is learned without a step where another version than the parent answers, which does not do so", async () => {
    expect(await corrected([], undefined, undefined, [PLACE.tool])).toMatchObject({ status: "learned", metrics: { steps: 0 } });
    expect(await corrected([], undefined, undefined, ["FindBus"])).toMatchObject({ status: "refused", code: "teacher/noLift" });
    const off = await corrected([], UpdateSettings.parse({ defaultsYield: false }), undefined, [PLACE.tool]);
    expect(off).toMatchObject({ status: "refused", code: "teacher/noLift" });
  });

  it("is learned without a step where the version is held to another value", async () => {
    const learned = await corrected([{ ...PLACE, value: "2" }]);
    expect(learned).toMatchObject({
      status: "learned",
      metrics: { steps: 0, klToParentNats: 0 },
      changes: [{ prompt: "A hotel in Porto." }],
    });
    if (learned.status !== "learned") throw new Error("learned expected");
    const up = [...learned.adapter.tensors].filter(([name]) => name.includes("lora_B"));
    expect(up.every(([, values]) => values.every((value) => value === 0))).toBe(true);
  });
});
