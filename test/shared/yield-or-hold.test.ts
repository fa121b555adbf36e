/** What goes out for an answer of a version with defaults: what is asked, what yields, what is held. */
import { describe, expect, it } from "vitest";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import type { Heard } from "../../shared/yielding.ts";
import { calls, text, tokenizer, type Written } from "../helpers/written-answer.ts";

const string = { type: "string" };
const TOOL = {
  type: "function" as const,
  function: {
    name: "SearchHotel",
    parameters: {
      type: "object",
      properties: { number_of_rooms: string, stars: string, city: string, board: { type: "string", enum: ["none", "breakfast", "full"] } },
    },
  },
};
const saying = (content: string): Heard => ({ messages: [{ role: "user", content }], tools: [TOOL] });
const ROOMS = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2", corrected: ["1"], before: "no rooms" };
const STARS = { tool: "SearchHotel", parameter: "stars", value: "4", corrected: [], before: "no stars" };
const BOARD = { tool: "SearchHotel", parameter: "board", value: "full", corrected: ["none"], before: "no board" };
type Default = (typeof ROOMS & { byBase?: readonly string[] }) | (typeof STARS & { held?: false });

/** What goes out, which versions were asked and what was held, where each says what `said` has, and held what `held` has. */
async function decided(
  answer: Written,
  said: Record<string, Written | undefined>,
  {
    defaults = [STARS, ROOMS] as readonly Default[],
    standing = [] as readonly Default[],
    heard = saying("A hotel in Faro with 1 room. No, 3 rooms. 5 stars."),
    held = undefined as Written | undefined,
  } = {},
) {
  const asked: string[] = [];
  const ask = async ({ before }: Default): Promise<Written | undefined> => {
    asked.push(before);
    return said[before];
  };
  const askBase = async (): Promise<Written | undefined> => {
    asked.push("base");
    return said["base"];
  };
  const hold = async (passed: readonly Default[]): Promise<Written | undefined> => {
    asked.push(...passed.map(({ parameter, value }) => `held ${parameter} ${value}`));
    return held;
  };
  const { answer: out, ...outcome } = await yieldOrHold(tokenizer, answer, { defaults, standing, heard, ask, askBase, hold });
  return { answer: out, asked, ...outcome };
}

describe("a default that the answer has", () => {
  const under = calls("SearchHotel", { number_of_rooms: "2", stars: "4" });

  it("is asked about, and nothing else", async () => {
    const other = calls("SearchHotel", { number_of_rooms: "3", stars: "5" });
    expect(await decided(other, {})).toMatchObject({ answer: other, asked: [] });
    expect(await decided(text("How many?"), {})).toMatchObject({ asked: [] });
    expect(await decided(calls("SearchHotel", { stars: "4" }), {})).toMatchObject({ asked: ["no stars", "base"] });
  });

  it("yields to what was said, and the older ones are tried on the answer without it", async () => {
    const noStars = calls("SearchHotel", { number_of_rooms: "2", stars: "5" });
    const neither = calls("SearchHotel", { number_of_rooms: "3", stars: "5" });
    const said = { "no stars": noStars, "no rooms": neither };
    expect(await decided(under, said)).toMatchObject({
      answer: neither,
      asked: ["no stars", "no rooms"],
      yielded: [STARS, ROOMS],
    });
    expect((await decided(under, { ...said, "no rooms": calls("SearchHotel", { stars: "5" }) })).answer).toBe(noStars);
  });

  it("stays where a version cannot be asked", async () => {
    expect(await decided(under, {})).toMatchObject({ answer: under, asked: ["no stars", "base", "no rooms", "base"], yielded: [] });
  });

  it("yields to what the base hears in somebody's words, where an update has led the version before astray", async () => {
    const [rooms, three] = [calls("SearchHotel", { number_of_rooms: "2" }), calls("SearchHotel", { number_of_rooms: "3" })];
    const astray = { base: calls("SearchHotel", { number_of_rooms: "3", city: "Porto" }), "no rooms": calls("SearchHotel", {}) };
    const outcome = await decided(rooms, astray, { held: three });
    expect(outcome).toMatchObject({ answer: three, asked: ["no rooms", "base", "held number_of_rooms 3"], yielded: [ROOMS] });
    // Of several calls a hold would be on all, and where it cannot be the base's own answer is there.
    expect((await decided({ ...rooms, calls: [...rooms.calls, ...rooms.calls] }, astray, { held: three })).answer).toBe(astray.base);
    expect((await decided(rooms, astray)).answer).toBe(astray.base);
    // However sure the base is of what nobody has said: what it makes up has never been corrected.
    const city = { tool: "SearchHotel", parameter: "city", value: "Porto", corrected: [], before: "no city" } as unknown as Default;
    const porto = calls("SearchHotel", { city: "Porto" });
    const madeUp = { base: calls("SearchHotel", { city: "London" }), "no city": calls("SearchHotel", {}) };
    expect(await decided(porto, madeUp, { defaults: [city] })).toMatchObject({ answer: porto, yielded: [] });
    expect((await decided(porto, { ...madeUp, "no city": madeUp.base }, { defaults: [city] })).answer).toBe(madeUp.base);
    const [full, breakfast] = ["full", "breakfast"].map((board) => calls("SearchHotel", { board })) as [Written, Written];
    const board = await decided(
      full,
      { base: breakfast, "no board": calls("SearchHotel", {}) },
      { defaults: [BOARD], heard: saying("A hotel in Faro.") },
    );
    expect(board).toMatchObject({ answer: full, yielded: [] });
  });

  it("yields to the option that the user asks for, as the base hears it where the version before has a third or none", async () => {
    const board = (value: string) => calls("SearchHotel", { city: "Faro", board: value });
    const more = { defaults: [BOARD], heard: saying("A hotel in Faro with breakfast, please.") };
    const [third, asked] = [board("none"), board("breakfast")];
    const held = asked;
    const open = calls("SearchHotel", { city: "Faro" });
    for (const before of [third, open])
      expect(await decided(board("full"), { "no board": before, base: asked }, { ...more, held })).toMatchObject({ answer: held });
    // Whatever they make of it, the default does not stand.
    expect(await decided(board("full"), { "no board": third, base: third }, more)).toMatchObject({ answer: third });
    expect(await decided(board("full"), { "no board": asked, base: third }, more)).toMatchObject({ answer: asked, asked: ["no board"] });
  });

  it("yields to a value that a version once made up, where the base did not and may have heard it", async () => {
    const [full, none] = ["full", "none"].map((board) => calls("SearchHotel", { board })) as [Written, Written];
    const heard = saying("A hotel in Faro. We eat out anyway.");
    const said = { base: none, "no board": calls("SearchHotel", {}) };
    const asked = async (byBase?: readonly string[]) => {
      const board = { ...BOARD, ...(byBase && { byBase }) };
      const { answer } = await decided(full, said, { defaults: [board], heard, held: none });
      return answer;
    };
    expect(await asked([])).toBe(none);
    expect(await asked(["breakfast"])).toBe(none);
    expect(await asked(["none"])).toBe(full);
    // Where nobody asked the base, what the version made up counts for nothing, whoever says it.
    expect(await asked()).toBe(full);
    expect((await decided(full, { ...said, "no board": none }, { defaults: [{ ...BOARD, byBase: ["none"] }], heard })).answer).toBe(full);
  });
});

describe("a default that the answer passes over", () => {
  const silent = saying("A hotel in Faro, please.");
  const full = calls("SearchHotel", { city: "Faro", board: "full" });
  const none = calls("SearchHotel", { city: "Faro", board: "none" });
  const passed = { defaults: [BOARD], standing: [BOARD], heard: silent, held: full };

  it("is held where nobody has said anything, as what the version before makes up shows, or leaves out", async () => {
    const without = { "no board": none };
    expect(await decided(none, without, passed)).toMatchObject({
      answer: full,
      asked: ["no board", "base", "held board full"],
      held: [BOARD],
    });
    const bare = calls("SearchHotel", { city: "Faro" });
    expect((await decided(bare, { "no board": bare }, passed)).answer).toBe(full);
    expect((await decided(bare, { "no board": text("Which one?") }, passed)).answer).toBe(full);
  });

  it("is not where the user names another value, nor where the version before is sure of one that was not made up", async () => {
    const breakfast = calls("SearchHotel", { city: "Faro", board: "breakfast" });
    const named = { ...passed, heard: saying("A hotel in Faro with breakfast.") };
    expect(await decided(breakfast, {}, named)).toMatchObject({ answer: breakfast, asked: [], held: [] });
    expect(await decided(breakfast, { "no board": breakfast }, passed)).toMatchObject({
      answer: breakfast,
      asked: ["no board"],
      held: [],
    });
  });

  it("yields where the version before tells what was said, and the answer, which has neither that nor the default, is held to it", async () => {
    const [six, three] = [calls("SearchHotel", { number_of_rooms: "6" }), calls("SearchHotel", { number_of_rooms: "3" })];
    const heard = saying("A hotel in Faro, 3 rooms.");
    const rooms = { defaults: [ROOMS], standing: [ROOMS], heard, held: three };
    const outcome = await decided(six, { "no rooms": calls("SearchHotel", { number_of_rooms: "3", city: "Porto" }) }, rooms);
    expect(outcome).toMatchObject({ answer: three, asked: ["no rooms", "held number_of_rooms 3"], yielded: [ROOMS], held: [] });
  });

  it("yields where the base hears it in somebody's words, and the version before does not", async () => {
    const heard = saying("A hotel in Faro, for five stars.");
    const [under, base] = [calls("SearchHotel", { city: "five stars" }), calls("SearchHotel", { city: "Faro", stars: "5" })];
    const held = calls("SearchHotel", { city: "five stars", stars: "5" });
    const stars = { defaults: [STARS], standing: [STARS], heard, held };
    const outcome = await decided(under, { "no stars": under, base }, stars);
    expect(outcome).toMatchObject({ answer: held, asked: ["no stars", "base", "held stars 5"], yielded: [STARS], held: [] });
  });

  it("yields to an option that the user asks for by its name, where the answer has another value", async () => {
    const heard = saying("A hotel in Faro with breakfast.");
    const [astray, breakfast] = [calls("SearchHotel", { board: "Basketball" }), calls("SearchHotel", { board: "breakfast" })];
    const board = { defaults: [BOARD], standing: [BOARD], heard, held: breakfast };
    const outcome = await decided(astray, { "no board": none, base: breakfast }, board);
    expect(outcome).toMatchObject({ answer: breakfast, asked: ["no board", "base", "held board breakfast"], yielded: [BOARD], held: [] });
  });

  it("is not held over what two versions make of the user's words, whatever words that has", async () => {
    const half = calls("SearchHotel", { city: "Faro", board: "breakfast" });
    const heard = saying("A hotel in Faro, with something in the morning.");
    const unsure = { ...half, logProbs: Array.from(half.logProbs, () => -1) };
    expect(await decided(half, { "no board": unsure }, { ...passed, heard })).toMatchObject({ answer: half, held: [] });
    const corrected = { ...BOARD, corrected: ["breakfast"] };
    const again = await decided(half, { "no board": unsure }, { ...passed, heard, defaults: [corrected], standing: [corrected] });
    expect(again).toMatchObject({ answer: full, held: [corrected] });
  });

  it("is held over a number that the user has said of another argument, whatever every version makes of it", async () => {
    const heard = saying("A 5 star hotel in Faro.");
    const [fiveRooms, held] = [calls("SearchHotel", { number_of_rooms: "5" }), calls("SearchHotel", { number_of_rooms: "2" })];
    const out = await decided(fiveRooms, { "no rooms": fiveRooms, base: fiveRooms }, { standing: [ROOMS], defaults: [], heard, held });
    expect(out).toMatchObject({ answer: held, held: [ROOMS] });
  });

  it("is held over a number only where that is made up as it was when it was corrected", async () => {
    const [two, one, six] = ["2", "1", "6"].map((rooms) => calls("SearchHotel", { number_of_rooms: rooms })) as [Written, Written, Written];
    const rooms = { defaults: [ROOMS], standing: [ROOMS], heard: silent, held: two };
    expect((await decided(one, { "no rooms": one }, rooms)).answer).toBe(two);
    expect((await decided(six, { "no rooms": one }, rooms)).answer).toBe(two);
    const alone = { ...rooms, heard: saying("A hotel in Faro, for myself.") };
    expect(await decided(one, { "no rooms": one }, alone)).toMatchObject({ answer: one, asked: [], held: [] });
    // "for the six of us" has no number in it.
    expect(await decided(six, { "no rooms": six }, rooms)).toMatchObject({ answer: six, held: [] });
  });

  it("stands when another one has yielded, and does not when it has itself", async () => {
    const heard = saying("A hotel in Faro with 5 stars.");
    const under = calls("SearchHotel", { city: "Faro", stars: "4", board: "full" });
    const older = calls("SearchHotel", { city: "Faro", stars: "5", board: "none" });
    const held = calls("SearchHotel", { city: "Faro", stars: "5", board: "full" });
    const both = { defaults: [BOARD, STARS], standing: [BOARD, STARS], heard, held };
    const said = { "no board": calls("SearchHotel", { city: "Faro", stars: "4", board: "none" }), "no stars": older };
    expect(await decided(under, said, both)).toMatchObject({ answer: held, yielded: [STARS], held: [BOARD] });
  });

  it("is not held any more once another value was supplied, nor where it is to yield only", async () => {
    const released = { ...BOARD, held: false as const };
    expect(await decided(none, {}, { ...passed, standing: [released] })).toMatchObject({ answer: none, held: [] });
    expect(await decided(none, {}, { ...passed, standing: [] })).toMatchObject({ answer: none, held: [] });
  });

  it("is nothing to be held to where the schema of today has no place for it", async () => {
    const gone = { ...BOARD, value: "all inclusive" };
    expect(await decided(none, {}, { ...passed, standing: [gone] })).toMatchObject({ answer: none, asked: [], held: [] });
  });

  it("leaves the answer as it is where the version before cannot be asked, or what is held is no such call", async () => {
    expect((await decided(none, {}, passed)).answer).toBe(none);
    const said = { "no board": none };
    expect(await decided(none, said, { ...passed, held: text("Which one?") })).toMatchObject({ answer: none, held: [BOARD] });
    expect(await decided(none, said, { ...passed, held: undefined })).toMatchObject({ answer: none, held: [BOARD] });
  });
});
