/** Results made anew: what the conversation is about stays, everything else is another. */
import { describe, expect, it } from "vitest";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { repliedTool } from "../../../shared/wording.ts";
import { Random } from "../../../trainer/random.ts";
import type { Context } from "../../../trainer/teacher/contexts.ts";
import { repliedAnew, repliedElsewhere, variedReply } from "../../../trainer/teacher/varied-reply.ts";
import { call, result, SEARCH, user, WEATHER } from "../hotel.ts";

const FOUND = {
  count: 9,
  results: [
    { city: "Porto", name: "Aria", rent: "$1,339.17", from: "2019-03-04", opens: "07:30", stars: 4, pets: "True" },
    { city: "Porto", name: "Corner", rent: "$990", from: "2019-03-05", opens: "08:00", stars: 5, pets: "False" },
  ],
};

function contextOf(content: string): Context {
  const messages = [user("A hotel in Porto."), call("SearchHotel", { city: "Porto" }), result(content)];
  return { kind: "silent", origin: "t", messages, tools: [SEARCH], tool: "SearchHotel" };
}

type Entry = (typeof FOUND.results)[number];

function entriesOf(context: Context | undefined): { count: number; results: Entry[] } {
  return JSON.parse(String(context?.messages.at(-1)?.content));
}

describe("variedReply", () => {
  it("keeps what was asked for and how things are written, and has every value anew", () => {
    const random = new Random(1);
    const drawn = Array.from({ length: 40 }, () => entriesOf(variedReply(contextOf(spacedJson(FOUND)), random)));
    const entries = drawn.flatMap(({ results }) => results);
    expect(new Set(drawn.map(({ results }) => results.length))).toEqual(new Set([1, 2]));
    expect(drawn.every(({ count, results }) => count >= results.length)).toBe(true);
    expect(new Set(entries.map(({ city }) => city))).toEqual(new Set(["Porto"]));
    expect(new Set(entries.map(({ name }) => name))).toEqual(new Set(["Aria", "Corner"]));
    expect(entries.every(({ rent }) => /^\$(?:\d,\d{3}\.\d\d|\d{3})$/.test(rent))).toBe(true);
    expect(entries.every(({ from, opens }) => !Number.isNaN(Date.parse(`${from}T${opens}`)))).toBe(true);
    expect(entries.every(({ stars }) => Number.isInteger(stars) && stars < 10)).toBe(true);
    expect(new Set(entries.map(({ rent }) => rent)).size).toBeGreaterThan(20);
  });

  it("varies one entry alone, and an object that is none of a list", () => {
    const random = new Random(2);
    const balances = Array.from({ length: 8 }, () => variedReply(contextOf('{"balance": "18345.42", "status": "ok"}'), random));
    const texts = new Set(balances.map((context) => context?.messages.at(-1)?.content));
    expect(texts.size).toBeGreaterThan(6);
    for (const text of texts) expect(text).toMatch(/^\{"balance": "[1-9]\d{4}\.\d\d", "status": "ok"\}$/);
  });

  it("has beside a list what was asked for, and no number changed that is none of how many there are", () => {
    const listed = '{"city": "Faro", "number_of_rooms": 5, "count": 14, "hotels": [{"name": "Aria"}, {"name": "Corner"}]}';
    const context = contextOf(listed);
    const messages = context.messages.with(1, call("SearchHotel", { city: "Porto", number_of_rooms: "2", name: "Sea House" }));
    const varied = JSON.parse(String(variedReply({ ...context, messages }, new Random(4))?.messages.at(-1)?.content));
    expect(varied).toMatchObject({ city: "Porto", number_of_rooms: 2 });
    expect(varied.hotels.every(({ name }: { name: string }) => ["Aria", "Corner"].includes(name))).toBe(true);
  });

  it("is none where there is no result, none that can be read, or nothing was found", () => {
    expect(variedReply(contextOf("two hotels"), new Random(1))).toBeUndefined();
    expect(variedReply(contextOf('{"count": 0, "results": []}'), new Random(1))).toBeUndefined();
    expect(variedReply({ ...contextOf("{}"), messages: [user("Hello")] }, new Random(1))).toBeUndefined();
  });
});

describe("repliedAnew", () => {
  it("asks for the same tool in other words, and finds what was asked for", () => {
    const random = new Random(3);
    const made = repliedAnew(contextOf(spacedJson(FOUND)), { tool: SEARCH }, random);
    const asked = made?.messages.findLast((message) => message.role === "assistant" && (message.tool_calls ?? []).length > 0);
    const [wanted] = (asked?.role === "assistant" ? asked.tool_calls : undefined) ?? [];
    const given = JSON.parse(wanted?.function.arguments ?? "{}");
    expect(made).toMatchObject({ kind: "silent", origin: "generated", tool: "SearchHotel" });
    expect(entriesOf(made).results.every(({ city }) => city === given.city)).toBe(true);
    expect(made?.messages.at(-1)).toMatchObject({ role: "tool", tool_call_id: wanted?.id });
  });
});

describe("repliedElsewhere", () => {
  const random = new Random(6);
  const drawn = Array.from({ length: 40 }, () => repliedElsewhere(contextOf(spacedJson(FOUND)), WEATHER, random));

  it("is a request for another tool, which is offered, with a result of it to reply to", () => {
    for (const context of drawn) {
      expect(context).toMatchObject({ kind: "other", tool: "GetWeather" });
      expect(repliedTool(context?.messages ?? [])).toBe("GetWeather");
      expect(context?.tools.map((tool) => tool.function.name).toSorted()).toEqual(["GetWeather", "SearchHotel"]);
    }
  });

  it("has a result of the corrected one's shape in some, and what such a tool would list in others", () => {
    const keys = new Set(drawn.map((context) => Object.keys(entriesOf(context).results[0] ?? {}).join()));
    expect(keys).toContain("city,name,rent,from,opens,stars,pets");
    expect(keys.size).toBeGreaterThan(1);
    for (const context of drawn) expect(entriesOf(context).count).toBeGreaterThanOrEqual(entriesOf(context).results.length);
  });

  it("is none where the result that it is to be like cannot be read, unless a list is made up", () =>
    expect(new Set(Array.from({ length: 20 }, () => repliedElsewhere(contextOf("no"), WEATHER, random) === undefined))).toEqual(
      new Set([true, false]),
    ));
});
