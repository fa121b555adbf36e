/** Which version answers. */
import { describe, expect, it } from "vitest";
import { answerEach, inheritAnswering, isSameVersion, versionFor, versionToBegin } from "../../shared/reach.ts";

const at = (version: number, line = "shared") => ({ line, version });
const learned = (tool: string, by: ReturnType<typeof at>) => ({ tool, by });
const STANDING = { bound: at(9), answering: { outside: at(1), tools: [learned("SearchHotel", at(7)), learned("FindBus", at(3))] } };
const ALONE = { bound: at(9), answering: null };
const named = (name: string) => ({ type: "function" as const, function: { name } });
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

describe("inheritAnswering", () => {
  it("has the tools of an update answered by it, and all others as before", () => {
    const first = inheritAnswering({ bound: at(0), answering: null }, { by: at(1), reach: ["SearchHotel"] });
    expect(first).toEqual({ outside: at(0), tools: [learned("SearchHotel", at(1))] });
    const second = inheritAnswering({ bound: at(1), answering: first }, { by: at(2), reach: ["FindBus", "SearchHotel"] });
    expect(second).toEqual({ outside: at(0), tools: [learned("FindBus", at(2)), learned("SearchHotel", at(2))] });
    const third = inheritAnswering({ bound: at(2), answering: second }, { by: at(3), reach: ["FindBus"] });
    expect(third?.tools).toEqual([learned("FindBus", at(3)), learned("SearchHotel", at(2))]);
    // One that has learned nothing that is named leaves all as it was.
    expect(inheritAnswering({ bound: at(2), answering: second }, { by: at(3), reach: [] })).toEqual(second);
  });

  it("answers for everything after it has learned of everything, or of too many tools", () => {
    expect(inheritAnswering(STANDING, { by: at(10), reach: null })).toBeNull();
    const names = Array.from({ length: 127 }, (_, index) => `Tool${index}`);
    expect(inheritAnswering(STANDING, { by: at(10), reach: names })).toBeNull();
    expect(inheritAnswering(STANDING, { by: at(10), reach: names.slice(1) })?.tools).toHaveLength(128);
    expect(inheritAnswering(ALONE, { by: at(10), reach: ["FindBus"] })?.outside).toEqual(at(9));
  });
});

describe("versionFor", () => {
  it("is the one that learned of the tool last, and else the one from before anything was learned", () => {
    const tools = ["SearchHotel", "FindBus", "GetWeather", "constructor", "__proto__"];
    expect(tools.map((tool) => versionFor(tool, STANDING))).toEqual([at(7), at(3), at(1), at(1), at(1)]);
    expect(versionFor("GetWeather", ALONE)).toEqual(at(9));
  });
});

describe("versionToBegin", () => {
  it("is the newest of those for the tools at hand", () => {
    expect(versionToBegin(STANDING, asked("FindBus", "SearchHotel", "GetWeather"))).toEqual(at(7));
    expect(versionToBegin(STANDING, asked("FindBus", "GetWeather"))).toEqual(at(3));
    expect(versionToBegin(STANDING, asked("GetWeather"))).toEqual(at(1));
    expect(versionToBegin(STANDING, asked())).toEqual(at(1));
    expect(versionToBegin(ALONE, asked())).toEqual(at(9));
  });

  it("takes a user's own line for newer than everybody's", () => {
    const tools = [learned("SearchHotel", at(2, "u_1")), learned("FindBus", at(30))];
    const answering = { outside: at(1), tools };
    expect(versionToBegin({ bound: at(2, "u_1"), answering }, asked("FindBus", "SearchHotel"))).toEqual(at(2, "u_1"));
  });

  it("is the one for the tools whose results are to be replied to", () => {
    const tools = ["FindBus", "SearchHotel", "GetWeather"].map(named);
    expect(versionToBegin(STANDING, { messages: after("GetWeather"), tools })).toEqual(at(1));
    expect(versionToBegin(STANDING, { messages: after("FindBus", "GetWeather"), tools })).toEqual(at(3));
    const goneOn = [...after("GetWeather"), { role: "user" as const, content: "And a hotel." }];
    expect(versionToBegin(STANDING, { messages: goneOn, tools })).toEqual(at(7));
  });
});

describe("answerEach", () => {
  it("asks of each version all at once, and passes a call on once", async () => {
    const calls: Record<string, string[]> = { "7": ["FindBus"], "3": ["SearchHotel"], "1": [] };
    const rounds: [number, number][] = [];
    const answers = await answerEach(
      [asked("SearchHotel", "FindBus"), asked("GetWeather"), asked("SearchHotel"), asked("FindBus")],
      STANDING,
      async ({ version }, some) => {
        rounds.push([version, some.length]);
        return some.map(() => ({ calls: (calls[String(version)] ?? []).map((name) => ({ name })) }));
      },
    );
    expect(rounds).toEqual([
      [7, 2],
      [1, 1],
      [3, 1],
      [3, 2],
      [7, 1],
    ]);
    expect(answers.map(({ by }) => by.version)).toEqual([3, 1, 3, 7]);
  });
});

describe("isSameVersion", () => {
  it("tells lines apart", () => {
    expect(isSameVersion(at(1), at(1))).toBe(true);
    expect(isSameVersion(at(1), at(1, "u_1"))).toBe(false);
    expect(isSameVersion(at(1), at(2))).toBe(false);
  });
});
