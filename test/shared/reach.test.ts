/** Which version answers. */
import { describe, expect, it } from "vitest";
import { MOST_DEFAULTS } from "../../shared/learned-defaults.ts";
import { isSameVersion, versionFor, versionToBegin } from "../../shared/reach.ts";

const at = (version: number, line = "shared") => ({ line, version });
const learned = (tool: string, by: ReturnType<typeof at> | undefined, value = "2", parameter = "rooms") => ({ tool, parameter, value, by });
const named = (name: string) => ({ type: "function" as const, function: { name } });
const REACHING = { bound: at(9), defaults: [learned("SearchHotel", at(7)), learned("FindBus", at(3))], outside: at(1) };
const said = [{ role: "user" as const, content: "A hotel in Porto." }];
const asked = (...names: string[]) => ({ messages: said, tools: names.map(named) });

/** The conversation after calls of these tools, with their results. */
const after = (...names: string[]) => [
  ...said,
  {
    role: "assistant" as const,
    content: null,
    tool_calls: names.map((name, index) => ({ id: `c${index}`, type: "function" as const, function: { name, arguments: "{}" } })),
  },
  ...names.map((_, index) => ({ role: "tool" as const, tool_call_id: `c${index}`, content: "[]" })),
];

describe("versionFor", () => {
  it("is the one that learned of the tool last, and else the one from before anything was learned", () => {
    expect(["SearchHotel", "FindBus", "GetWeather"].map((tool) => versionFor(tool, REACHING))).toEqual([at(7), at(3), at(1)]);
  });

  it("is the bound one where nothing else is known", () => {
    expect(versionFor("GetWeather", { ...REACHING, outside: null })).toEqual(at(9));
    expect(versionFor("SearchHotel", { ...REACHING, defaults: [learned("SearchHotel", undefined)] })).toEqual(at(9));
    const full = Array.from({ length: MOST_DEFAULTS }, (_, index) => learned(`Tool${index}`, at(5)));
    expect(versionFor("GetWeather", { ...REACHING, defaults: full })).toEqual(at(9));
    expect(versionFor("GetWeather", { ...REACHING, defaults: full.slice(1) })).toEqual(at(1));
  });

  it("knows both tools of which one is called in the other's place", () => {
    const defaults = [learned("SearchHotel", at(7), "FindHotel", "@tool")];
    expect(["SearchHotel", "FindHotel"].map((tool) => versionFor(tool, { ...REACHING, defaults }))).toEqual([at(7), at(7)]);
  });
});

describe("versionToBegin", () => {
  it("is the newest of those for the tools at hand", () => {
    expect(versionToBegin(REACHING, asked("FindBus", "SearchHotel", "GetWeather"))).toEqual(at(7));
    expect(versionToBegin(REACHING, asked("FindBus", "GetWeather"))).toEqual(at(3));
    expect(versionToBegin(REACHING, asked("GetWeather"))).toEqual(at(1));
    expect(versionToBegin(REACHING, asked())).toEqual(at(1));
    expect(versionToBegin({ ...REACHING, outside: null }, asked())).toEqual(at(9));
  });

  it("takes a user's own line for newer than everybody's", () => {
    const defaults = [learned("SearchHotel", at(2, "u_1")), learned("FindBus", at(30))];
    expect(versionToBegin({ ...REACHING, defaults }, asked("FindBus", "SearchHotel"))).toEqual(at(2, "u_1"));
  });

  it("is the one for the tools whose results are to be replied to", () => {
    const tools = ["FindBus", "SearchHotel", "GetWeather"].map(named);
    expect(versionToBegin(REACHING, { messages: after("GetWeather"), tools })).toEqual(at(1));
    expect(versionToBegin(REACHING, { messages: after("FindBus", "GetWeather"), tools })).toEqual(at(3));
    const goneOn = [...after("GetWeather"), { role: "user" as const, content: "And a hotel." }];
    expect(versionToBegin(REACHING, { messages: goneOn, tools })).toEqual(at(7));
  });
});

describe("isSameVersion", () => {
  it("tells lines apart", () => {
    expect(isSameVersion(at(1), at(1))).toBe(true);
    expect(isSameVersion(at(1), at(1, "u_1"))).toBe(false);
    expect(isSameVersion(at(1), at(2))).toBe(false);
  });
});
