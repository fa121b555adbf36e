/** Contexts made from schemas and from real turns say what their kind promises, and no more. */
import { describe, expect, it } from "vitest";
import { mentions } from "../../../shared/speech/mention.ts";
import { findParameter } from "../../../shared/speech/parameters.ts";
import { Random } from "../../../trainer/random.ts";
import { generateContexts, type Context, type Correction } from "../../../trainer/teacher/contexts.ts";
import { reread, replayContext, withStatement } from "../../../trainer/teacher/replay.ts";
import { SEARCH, TOOLS, user } from "../hotel.ts";

function correctionOf(name: string, value: string): Correction {
  const parameter = findParameter(SEARCH, name);
  if (parameter === undefined) throw new Error(`no parameter ${name}`);
  return { tool: SEARCH, parameter, hint: { parameter: name, value } };
}

const ROOMS = correctionOf("number_of_rooms", "2");
const ONE_BY_DEFAULT = { ...ROOMS, parameter: { ...ROOMS.parameter, fallback: "1" } };
const COUNTS = { silent: 20, stated: 20, other: 20, anchor: 20 };

function userWords({ messages }: Context): string {
  return messages.flatMap((message) => (message.role === "user" ? [message.content] : [])).join("\n");
}

function generated(correction: Correction, kind: Context["kind"], seed = 1): Context[] {
  return generateContexts({ correction, tools: TOOLS, system: [] }, COUNTS, new Random(seed)).filter((context) => context.kind === kind);
}

describe("generateContexts", () => {
  it("says nothing about the corrected parameter where the user is silent", () => {
    const silent = generated(ROOMS, "silent");
    expect(silent).toHaveLength(20);
    for (const context of silent) expect(userWords(context)).not.toMatch(/room/i);
  });

  it("states another value, in words that can be found, where the user speaks", () => {
    const stated = generated(ROOMS, "stated");
    expect(stated).toHaveLength(20);
    for (const context of stated) {
      expect(["1", "3"]).toContain(context.stated);
      expect(mentions(userWords(context), { parameter: ROOMS.parameter, value: context.stated ?? "" })).toBe(true);
    }
  });

  it("asks other tools for what they are for, and the corrected one only with too little to call it", () => {
    const others = generated(ROOMS, "other");
    expect(new Set(others.map(({ tool }) => tool))).toEqual(new Set(["GetWeather", "SearchHotel"]));
    for (const context of others.filter(({ tool }) => tool === "SearchHotel")) expect(context.messages).toHaveLength(1);
  });

  it("anchors in requests that tools of no agent here are for", () => {
    const anchors = generated(ROOMS, "anchor");
    expect(anchors).toHaveLength(20);
    expect(new Set(anchors.map(({ tool }) => tool)).size).toBeGreaterThan(5);
    const own = new Set(TOOLS.map((tool) => tool.function.name));
    for (const { tools, tool } of anchors) {
      const offered = tools.map(({ function: { name } }) => name);
      expect(offered).toContain(tool);
      expect(offered.filter((name) => own.has(name))).toEqual([]);
    }
  });

  it("lends some of them the corrected parameter, which the correction is not about there", () => {
    const lent = generated(ROOMS, "anchor").filter(({ tools, tool }) => {
      const due = tools.find(({ function: { name } }) => name === tool);
      return due !== undefined && findParameter(due, "number_of_rooms") !== undefined;
    });
    expect(lent.length).toBeGreaterThan(3);
    expect(lent.length).toBeLessThan(17);
  });

  it("asks a tool of the agent that has the parameter, too, only with a value for it", () => {
    const namesake = { ...SEARCH, function: { ...SEARCH.function, name: "BookHotel" } };
    const drawn = generateContexts({ correction: ROOMS, tools: [SEARCH, namesake], system: [] }, COUNTS, new Random(1));
    const others = drawn.filter(({ kind, tool }) => kind === "other" && tool === "BookHotel");
    expect(others.length).toBeGreaterThan(3);
    for (const context of others)
      expect(["1", "3"].some((value) => mentions(userWords(context), { parameter: ROOMS.parameter, value }))).toBe(true);
  });

  it("says what a tool is for without the tail of its description", () => {
    const described = { ...SEARCH, function: { ...SEARCH.function, description: "Find a hotel by city and number of rooms" } };
    const correction = { ...ROOMS, tool: described };
    for (const context of generateContexts({ correction, tools: [described, ...TOOLS], system: [] }, COUNTS, new Random(2)))
      if (context.kind === "silent") expect(userWords(context)).not.toMatch(/room/i);
  });

  it("makes no counter-case that the schema does not allow", () => {
    const only = { ...ROOMS, parameter: { ...ROOMS.parameter, allowed: ["2"] } };
    expect(generated(only, "stated")).toEqual([]);
  });

  it("gives the same contexts for the same seed and others for another", () => {
    expect(generated(ROOMS, "silent", 5)).toEqual(generated(ROOMS, "silent", 5));
    expect(generated(ROOMS, "silent", 5)).not.toEqual(generated(ROOMS, "silent", 6));
  });

  it("always offers the tool that is due", () => {
    for (const context of generated(ROOMS, "silent")) expect(context.tools.map(({ function: { name } }) => name)).toContain("SearchHotel");
  });
});

describe("replayContext", () => {
  const turnOf = (content: string, args: Record<string, unknown>, name = "SearchHotel") => ({
    turnId: "t1",
    messages: [user(content)],
    tools: TOOLS,
    called: [{ name, arguments: args }],
  });

  it.each([
    {
      name: "silent where the call used the schema's default",
      turn: turnOf("A hotel in Porto", { city: "Porto", number_of_rooms: "1" }),
      kind: "silent",
    },
    { name: "silent where the call left the argument out", turn: turnOf("A hotel in Porto", { city: "Porto" }), kind: "silent" },
    {
      name: "stated where the user named the value",
      turn: turnOf("Porto, three rooms", { city: "Porto", number_of_rooms: "3" }),
      kind: "stated",
    },
    { name: "other where another tool was called", turn: turnOf("Weather in Porto", { place: "Porto" }, "GetWeather"), kind: "other" },
  ])("is $name", ({ turn, kind }) => {
    expect(replayContext(turn, ONE_BY_DEFAULT)?.kind).toBe(kind);
  });

  it("learns nothing from a value that may have been made up or said in other words", () => {
    expect(replayContext(turnOf("A hotel in Porto for us", { city: "Porto", number_of_rooms: "3" }), ONE_BY_DEFAULT)).toBeUndefined();
    expect(replayContext(turnOf("Not that one, in Porto", { city: "Porto", number_of_rooms: "1" }), ROOMS)).toBeUndefined();
  });

  it("learns nothing about a parameter that the tool did not have then", () => {
    const older = { ...SEARCH, function: { ...SEARCH.function, parameters: { type: "object", properties: { city: { type: "string" } } } } };
    expect(replayContext({ ...turnOf("A hotel in Porto", { city: "Porto" }), tools: [older] }, ROOMS)).toBeUndefined();
  });

  it("learns nothing from a user who asked for the value anyway", () => {
    expect(replayContext(turnOf("Porto, two rooms", { city: "Porto", number_of_rooms: "2" }), ROOMS)).toBeUndefined();
  });

  it("takes no number of a date for the value of an argument", () => {
    const turn = turnOf("A hotel in Porto, rooms from March 1st", { city: "Porto", number_of_rooms: "1" });
    expect(replayContext(turn, ONE_BY_DEFAULT)?.kind).toBe("silent");
  });

  it("learns nothing from a user who may have agreed to what was offered", () => {
    const turn = turnOf("Yes.", { city: "Porto", number_of_rooms: "1" });
    const offered = {
      ...turn,
      messages: [user("A hotel in Porto"), { role: "assistant" as const, content: "For 1 guest?" }, ...turn.messages],
    };
    expect(replayContext(offered, ROOMS)).toBeUndefined();
  });

  it("never takes the value that a correction rejected for one that its user stated", () => {
    const turn = turnOf("1 room in Porto", { city: "Porto", number_of_rooms: "1" });
    expect(replayContext(turn, ROOMS)?.kind).toBe("stated");
    expect(replayContext(turn, ROOMS, { corrected: true })?.kind).toBe("silent");
  });

  it("reads a real request again with other values and numbers, each the same wherever it stands", () => {
    const turn = turnOf("A hotel in Porto for 3 days from March 1st at 7 pm; yes, porto, 3.", { city: "Porto" });
    const silent = replayContext(turn, ROOMS);
    const texts = Array.from({ length: 8 }, (_, seed) => {
      const read = silent === undefined ? undefined : reread(silent, turn, ROOMS, new Random(seed));
      return read === undefined ? "" : userWords(read);
    });
    for (const text of texts) {
      const [, city, number, again, last] =
        /^A hotel in (\p{Lu}\p{L}+) for (\d+) days from March \d+th at \d+(?::\d\d)? (?:[ap]m|in the \w+); yes, (\p{Ll}+), (\d+)\.$/u.exec(
          text,
        ) ?? [];
      expect([text, again, last]).toEqual([text, city?.toLowerCase(), number]);
      expect(city).not.toBe("Porto");
    }
    expect(new Set(texts).size).toBeGreaterThan(4);
  });

  it("does not read a conversation again whose history holds calls", () => {
    const turn = turnOf("Porto", { city: "Porto" });
    const called = { ...turn, messages: [...turn.messages, { role: "tool" as const, content: "{}", tool_call_id: "c" }] };
    const context = replayContext(called, ROOMS);
    expect(context === undefined ? context : reread(context, called, ROOMS, new Random(1))).toBeUndefined();
  });

  it("makes a counter-case of a real request by one more sentence", () => {
    const silent = replayContext(turnOf("A hotel in Porto.", { city: "Porto" }), ROOMS);
    const stated = silent === undefined ? undefined : withStatement(silent, ROOMS, new Random(3));
    expect(stated?.kind).toBe("stated");
    expect(stated === undefined ? "" : userWords(stated)).toMatch(/^A hotel in Porto\. ./);
    expect(["1", "3"]).toContain(stated?.stated);
  });
});
