/** Other arguments of a tool than those that a version has learned about: those of the version that has learned nothing. */
import { describe, expect, it } from "vitest";
import { isOwn, versionOf, withOwnArguments } from "../../shared/own-arguments.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { calls, text, type Written } from "../helpers/written-answer.ts";

const ROOMS = { tool: "SearchHotel", parameter: "rooms" };
const hotel = (args: object): Written => calls("SearchHotel", args);
const said = ({ calls: made }: Written) => made.map(({ arguments: args }) => args);

/** What goes out, and what was asked for, where the version without anything learned says `own`, and that held what `held` has. */
async function decided(
  answer: Written,
  own: Written | undefined,
  { held = undefined as Written | undefined, learned = [ROOMS], messages = [] as readonly ChatMessage[] } = {},
) {
  const asked: unknown[] = [];
  const out = await withOwnArguments(answer, {
    learned,
    heard: { messages },
    ask: async () => (asked.push("own"), own),
    hold: async (to, under) => {
      expect(under).toBe(own);
      asked.push(...to.map(({ tool, parameter, value }) => `${tool}.${parameter}: ${value}`));
      return held;
    },
  });
  return { out, asked };
}

describe("versionOf", () => {
  const learned = [ROOMS, { tool: "SearchFlat", parameter: "@length" }];
  const standing = {
    bound: "newest",
    answering: {
      outside: "outside",
      tools: [
        { tool: "SearchHotel", by: "taught" },
        { tool: "SearchFlat", by: "worded" },
      ],
    },
  };
  const of = (tool: string, parameter: string, answering: typeof standing.answering | null = standing.answering): string =>
    versionOf({ tool, parameter }, { ...standing, answering }, learned);

  it("is the tool's for what was learned about, and the one without anything learned for its other arguments", () => {
    expect([of("SearchHotel", "rooms"), of("SearchHotel", "city"), of("SearchHotel", "@ask")]).toEqual(["taught", "outside", "taught"]);
    expect([of("SearchFlat", "city"), of("SearchBus", "city")]).toEqual(["worded", "outside"]);
    expect(of("SearchHotel", "city", null)).toBe("newest");
    expect(isOwn({ tool: "SearchFlat", parameter: "city" }, learned)).toBe(false);
  });
});

describe("withOwnArguments", () => {
  const answer = hotel({ city: "Faro", rooms: "2" });

  it("has what was learned, and all else as without it", async () => {
    const held = hotel({ city: "Porto", rooms: "2" });
    expect(await decided(answer, hotel({ city: "Porto", rooms: "1" }), { held })).toEqual({
      out: held,
      asked: ["own", "SearchHotel.rooms: 2"],
    });
    const without = await decided(answer, hotel({ city: "Porto" }), { held });
    expect(said(without.out)).toEqual([{ city: "Porto", rooms: "2" }]);
  });

  it("takes that version's call where it has what was learned by itself", async () => {
    const own = hotel({ city: "Porto", rooms: "2", stars: "4" });
    expect(await decided(answer, own)).toEqual({ out: own, asked: ["own"] });
    const neither = hotel({ city: "Porto" });
    expect((await decided(hotel({ city: "Faro" }), neither)).out).toBe(neither);
  });

  it("stays as it is where both are the same but for what was learned", async () => {
    expect(await decided(answer, hotel({ city: "Faro", rooms: "1" }))).toEqual({ out: answer, asked: ["own"] });
  });

  it("asks nobody where nothing was learned of an argument of the tool, nor for words or several calls", async () => {
    for (const learned of [[], [{ tool: "SearchFlat", parameter: "rooms" }], [{ tool: "SearchHotel", parameter: "@ask" }]])
      expect(await decided(answer, undefined, { learned })).toEqual({ out: answer, asked: [] });
    const words = text("How many rooms?");
    expect(await decided(words, undefined)).toEqual({ out: words, asked: [] });
    const two = { ...answer, calls: [...answer.calls, ...answer.calls] };
    expect(await decided(two, undefined)).toEqual({ out: two, asked: [] });
  });

  it("stays as it is where that version makes no such call, or fills what the answer leaves out", async () => {
    const other = hotel({ city: "Porto", rooms: "1" });
    for (const own of [
      undefined,
      text("Which city?"),
      calls("FindHotel", { city: "Porto" }),
      { ...other, calls: [...other.calls, ...other.calls] },
    ])
      expect((await decided(answer, own)).out).toBe(answer);
    const open = hotel({ city: "Faro" });
    expect((await decided(open, other)).out).toBe(open);
  });

  it("stays as it is where that version makes a call again that was made before", async () => {
    const made = { id: "1", type: "function" as const, function: { name: "SearchHotel", arguments: '{"city": "Porto", "rooms": "3"}' } };
    const messages: ChatMessage[] = [{ role: "assistant", content: null, tool_calls: [made] }];
    expect((await decided(answer, hotel({ city: "Porto", rooms: "2" }), { messages })).out).toBe(answer);
  });

  it("keeps the very values, of their type", async () => {
    const pairs: [unknown, unknown][] = [
      [null, "null"],
      ["2", 2],
      ["", undefined],
      [["2"], ["3"]],
    ];
    for (const [value, told] of pairs) {
      const under = hotel({ city: "Faro", rooms: value });
      const own = hotel({ city: "Porto", ...(told !== undefined && { rooms: told }) });
      expect((await decided(under, own, { held: own })).out).toBe(under);
    }
    const many = hotel({ city: "Porto", rooms: ["2"] });
    expect((await decided(hotel({ city: "Faro", rooms: ["2"] }), many)).out).toBe(many);
  });

  it("stays as it is where what is held changes other arguments, too", async () => {
    const held = hotel({ city: "Lisbon", rooms: "2" });
    expect((await decided(answer, hotel({ city: "Porto", rooms: "1" }), { held })).out).toBe(answer);
  });

  it("stays as it is where that call cannot be held to what was learned", async () => {
    const own = hotel({ city: "Porto", rooms: "1" });
    for (const held of [undefined, own, calls("FindHotel", { rooms: "2" }), text("Two rooms?")])
      expect((await decided(answer, own, { held })).out).toBe(answer);
  });
});
