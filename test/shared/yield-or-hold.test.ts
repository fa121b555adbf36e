/** What goes out for an answer of a version with defaults: what is asked, what yields, what is held. */
import { describe, expect, it } from "vitest";
import { yieldOrHold } from "../../shared/yield-or-hold.ts";
import type { Heard, WrittenAnswer } from "../../shared/yielding.ts";
import { calls, text, tokenizer } from "../helpers/written-answer.ts";

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
type Default = typeof ROOMS | (typeof STARS & { held?: false });

/** What goes out, which versions were asked and what was held, where each says what `said` has, and held what `held` has. */
async function decided(
  answer: WrittenAnswer,
  said: Record<string, WrittenAnswer | undefined>,
  {
    defaults = [STARS, ROOMS] as readonly Default[],
    standing = [] as readonly Default[],
    heard = saying("A hotel in Faro with 1 room. No, 3 rooms. 5 stars."),
    held = undefined as WrittenAnswer | undefined,
  } = {},
) {
  const asked: string[] = [];
  const ask = async ({ before }: Default): Promise<WrittenAnswer | undefined> => {
    asked.push(before);
    return said[before];
  };
  const hold = async (passed: readonly Default[]): Promise<WrittenAnswer | undefined> => {
    asked.push(...passed.map(({ parameter }) => `held ${parameter}`));
    return held;
  };
  const { answer: out, ...outcome } = await yieldOrHold(tokenizer, answer, { defaults, standing, heard, ask, hold });
  return { answer: out, asked, ...outcome };
}

describe("a default that the answer has", () => {
  const under = calls("SearchHotel", { number_of_rooms: "2", stars: "4" });

  it("is asked about, and nothing else", async () => {
    const other = calls("SearchHotel", { number_of_rooms: "3", stars: "5" });
    expect(await decided(other, {})).toMatchObject({ answer: other, asked: [] });
    expect(await decided(text("How many?"), {})).toMatchObject({ asked: [] });
    expect(await decided(calls("SearchHotel", { stars: "4" }), {})).toMatchObject({ asked: ["no stars"] });
  });

  it("yields to what was said, and the older ones are tried on the answer without it", async () => {
    const noStars = calls("SearchHotel", { number_of_rooms: "2", stars: "5" });
    const neither = calls("SearchHotel", { number_of_rooms: "3", stars: "5" });
    const said = { "no stars": noStars, "no rooms": neither };
    expect(await decided(under, said)).toMatchObject({ answer: neither, asked: ["no stars", "no rooms"], yielded: [STARS, ROOMS] });
    expect((await decided(under, { ...said, "no rooms": calls("SearchHotel", { stars: "5" }) })).answer).toBe(noStars);
  });

  it("stays where a version cannot be asked", async () => {
    expect(await decided(under, {})).toMatchObject({ answer: under, asked: ["no stars", "no rooms"], yielded: [] });
  });
});

describe("a default that the answer passes over", () => {
  const silent = saying("A hotel in Faro, please.");
  const full = calls("SearchHotel", { city: "Faro", board: "full" });
  const none = calls("SearchHotel", { city: "Faro", board: "none" });
  const passed = { defaults: [BOARD], standing: [BOARD], heard: silent, held: full };

  it("is held where nobody has said anything, as what the version before makes up shows, or leaves out", async () => {
    const without = { "no board": none };
    expect(await decided(none, without, passed)).toMatchObject({ answer: full, asked: ["no board", "held board"], held: [BOARD] });
    const bare = calls("SearchHotel", { city: "Faro" });
    expect((await decided(bare, { "no board": bare }, passed)).answer).toBe(full);
    expect((await decided(bare, { "no board": text("Which one?") }, passed)).answer).toBe(full);
  });

  it("is not where the user names another value, nor where the version before is sure of one that was not made up", async () => {
    const breakfast = calls("SearchHotel", { city: "Faro", board: "breakfast" });
    const named = { ...passed, heard: saying("A hotel in Faro with breakfast.") };
    expect(await decided(breakfast, {}, named)).toMatchObject({ answer: breakfast, asked: [], held: [] });
    expect(await decided(breakfast, { "no board": breakfast }, passed)).toMatchObject({ answer: breakfast, asked: ["no board"], held: [] });
  });

  it("yields where the version before tells what was said, and the answer has neither that nor the default", async () => {
    const [six, three] = [calls("SearchHotel", { number_of_rooms: "6" }), calls("SearchHotel", { number_of_rooms: "3" })];
    const heard = saying("A hotel in Faro, 3 rooms.");
    const rooms = { defaults: [ROOMS], standing: [ROOMS], heard };
    expect(await decided(six, { "no rooms": three }, rooms)).toMatchObject({ answer: three, yielded: [ROOMS], held: [] });
  });

  it("is held over a number only where that is made up as it was when it was corrected", async () => {
    const [two, one, six] = ["2", "1", "6"].map((rooms) => calls("SearchHotel", { number_of_rooms: rooms })) as [
      WrittenAnswer,
      WrittenAnswer,
      WrittenAnswer,
    ];
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
