/** Other arguments of a tool than those that a version has learned about: those of the version that has learned nothing. */
import { describe, expect, it } from "vitest";
import { withOwnArguments } from "../../shared/own-arguments.ts";
import { calls, text, type Written } from "../helpers/written-answer.ts";

const ROOMS = { tool: "SearchHotel", parameter: "rooms" };
const hotel = (args: object): Written => calls("SearchHotel", args);
const said = ({ calls: made }: Written) => made.map(({ arguments: args }) => args);

/** What goes out, and what was asked for, where the version without anything learned says `own`, and that held what `held` has. */
async function decided(answer: Written, own: Written | undefined, { held = undefined as Written | undefined, learned = [ROOMS] } = {}) {
  const asked: unknown[] = [];
  const out = await withOwnArguments(answer, {
    learned,
    ask: async () => (asked.push("own"), own),
    hold: async (to, under) => {
      expect(under).toBe(own);
      asked.push(...to.map(({ tool, parameter, value }) => `${tool}.${parameter}: ${value}`));
      return held;
    },
  });
  return { out, asked };
}

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

  it("stays as it is where that call cannot be held to what was learned", async () => {
    const own = hotel({ city: "Porto", rooms: "1" });
    for (const held of [undefined, own, calls("FindHotel", { rooms: "2" }), text("Two rooms?")])
      expect((await decided(answer, own, { held })).out).toBe(answer);
  });
});
