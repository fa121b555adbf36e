/** Which defaults of before an update rehearses, from which turns, and what it asks of them. */
import { describe, expect, it } from "vitest";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import { rehearsedFor, toRehearsals } from "../../../../trainer/learn/batch/rehearsed.ts";
import { beside, bothRehearsals } from "../../../../trainer/learn/lesson/rehearsal.ts";
import { call, SEARCH, turn, user, WEATHER } from "../../hotel.ts";

const ASK = user("The weather in Porto, please.");
const SYSTEM = { role: "system", content: "You are a concierge." } as const;
const ROOMS = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2" };
const WIFI = { tool: "SearchHotel", parameter: "has_wifi", value: "True" };
const PLACE = { tool: "GetWeather", parameter: "place", value: "Porto" };
const ANSWER = call("GetWeather", { place: "Porto" });
const [FIRST, LAST, OTHER] = [turn([SYSTEM, ASK], ANSWER), turn([ASK], ANSWER), turn([ASK], ANSWER, { tools: [WEATHER] })];

/** The weather's place corrected, where the hotel's defaults are known. */
const CORRECTION = { tool: WEATHER, parameter: parameterOf(WEATHER, "place") };

function parameterOf(tool: typeof WEATHER, name: string) {
  const parameter = findParameter(tool, name);
  if (parameter === undefined) throw new Error(`${tool.function.name} has ${name}`);
  return parameter;
}

describe("rehearsedFor", () => {
  it("names the last turn that had the tool with that argument, and nothing where none had", () => {
    const named = rehearsedFor([ROOMS, { ...ROOMS, parameter: "floor" }], [FIRST, LAST, OTHER], { seed: 1 });
    expect(named).toEqual([{ turnId: LAST.turnId, tool: "SearchHotel", parameter: "number_of_rooms" }]);
  });

  it("leaves out what is held no longer, and what is no argument", () => {
    const asking = { tool: "SearchHotel", parameter: "@ask", value: "first" };
    expect(rehearsedFor([{ ...ROOMS, held: false }, asking], [FIRST], { seed: 1 })).toEqual([]);
  });

  it("draws sixteen of more, others with every seed and the same with one", () => {
    const tools = Array.from({ length: 40 }, (_, index) => ({ ...SEARCH, function: { ...SEARCH.function, name: `Search${index}` } }));
    const met = [turn([ASK], ANSWER, { tools })];
    const drawn = (seed: number): string[] =>
      rehearsedFor(
        tools.map(({ function: { name } }) => ({ ...ROOMS, tool: name })),
        met,
        { seed },
      ).map(({ tool }) => tool);
    expect(new Set(drawn(1)).size).toBe(16);
    expect(drawn(1)).toEqual(drawn(1));
    expect(drawn(1)).not.toEqual(drawn(2));
  });
});

describe("rehearsals", () => {
  const rehearsed = toRehearsals(rehearsedFor([ROOMS, WIFI, PLACE], [FIRST], { seed: 1 }), [FIRST]);

  it("are requests for the tools of other defaults with the agent's tools and instructions, in which nobody names the value", () => {
    const { training, heldBack } = bothRehearsals(rehearsed, { correction: CORRECTION, count: 4, seed: 1 });
    expect([training.length, heldBack.length]).toEqual([4, 2]);
    for (const { kind, tool, tools, messages } of [...training, ...heldBack]) {
      expect([kind, tool, messages[0]]).toEqual(["other", "SearchHotel", SYSTEM]);
      expect(tools.map(({ function: { name } }) => name)).toContain("SearchHotel");
    }
    expect(heldBack).not.toEqual(training.slice(0, 2));
  });

  it("are of the corrected argument's kind before others, take the place of other tools, and are none where only the corrected tool is known", () => {
    const rooms = {
      tool: { ...SEARCH, function: { ...SEARCH.function, name: "BookHotel" } },
      parameter: parameterOf(SEARCH, "number_of_rooms"),
    };
    const { training } = bothRehearsals([...rehearsed, { ...rooms, tools: [rooms.tool], system: [] }], {
      correction: { tool: SEARCH, parameter: parameterOf(SEARCH, "number_of_rooms") },
      count: 1,
      seed: 3,
    });
    expect(training.map(({ tool }) => tool)).toEqual(["BookHotel"]);
    expect(beside(training, { silent: 1, stated: 1, other: 8, anchor: 1 })).toEqual({ silent: 1, stated: 1, other: 7, anchor: 1 });
    expect(
      bothRehearsals(rehearsed, { correction: { tool: SEARCH, parameter: rooms.parameter }, count: 4, seed: 1 }).training.map(
        ({ tool }) => tool,
      ),
    ).toEqual(Array.from({ length: 2 }, () => "GetWeather"));
    const alone = rehearsed.filter(({ tool }) => tool.function.name === "SearchHotel");
    expect(bothRehearsals(alone, { correction: { tool: SEARCH, parameter: rooms.parameter }, count: 4, seed: 1 })).toEqual({
      training: [],
      heldBack: [],
    });
  });
});
