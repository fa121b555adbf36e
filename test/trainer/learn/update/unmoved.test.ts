/** A correction that the weights follow already: refused, unless the version is held to something else. */
import { describe, expect, it } from "vitest";
import { linearNames } from "../../../../shared/lora.ts";
import { SignalSettings } from "../../../../shared/signal-settings.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import { UpdateSettings } from "../../../../trainer/config.ts";
import { ErrandPools } from "../../../../trainer/learn/lesson/errand-pool.ts";
import type { UpdateRequest } from "../../../../trainer/learn/update/learner.ts";
import { withoutLift } from "../../../../trainer/learn/update/unmoved.ts";
import { withRandomEngine } from "../../../helpers/random-engine.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const tiny = withRandomEngine();
const PLACE = { tool: "SearchHotel", parameter: "number_of_rooms" };

async function corrected(carried: UpdateRequest["carried"], settings = UpdateSettings.parse({ rank: 2, alpha: 4 })) {
  const parameter = findParameter(SEARCH, PLACE.parameter);
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  const made = turn([user("A hotel in Porto.")], call("SearchHotel", { city: "Porto", number_of_rooms: "2" }), { tools: [SEARCH] });
  const exchange = {
    ...({ eventId: "e", turns: [made], reward: -1, held: "2", words: "No, one room.", share: 1 } as const),
    correction: { tool: SEARCH, parameter, hint: { parameter: PLACE.parameter, value: "1" } },
  };
  const request: UpdateRequest = {
    ...{ corrected: [exchange], supplied: [], rewarded: [], replay: [], parent: null, parentVersion: 0, baseline: 0, seed: 7 },
    ...{ signals: SignalSettings.parse({}), objective: "hybrid" },
    ...(carried && { carried }),
  };
  const { engine, base } = tiny;
  const deps = { engine, base, settings, now: () => 0, errandPools: new ErrandPools(engine, base) };
  await engine.createAdapter("unmoved", { rank: 2, alpha: 4, targets: linearNames(), invocation: undefined, seed: 1 });
  try {
    const work = { group: [exchange], adapters: { parent: undefined, candidate: "unmoved" }, request, earlier: [] };
    return await withoutLift(deps, work, { lift: 0.1, lifts: { mean: 0.1, byEvent: new Map([["e", 0.1]]) }, lessons: [] });
  } finally {
    await engine.dropAdapter("unmoved");
  }
}

describe("withoutLift", { timeout: 60_000 }, () => {
  it("refuses where nothing, or the very same, is carried, and where versions carry nothing", async () => {
    const refused = { status: "refused", code: "teacher/noLift" };
    expect(await corrected(undefined)).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, value: "1" }])).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, parameter: "city", value: "2" }])).toMatchObject(refused);
    expect(await corrected([{ ...PLACE, value: "2" }], UpdateSettings.parse({ defaultsYield: false }))).toMatchObject(refused);
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
