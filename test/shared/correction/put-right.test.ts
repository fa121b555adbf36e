/** Answers to corrections that are said outright: which are held to them, and what else of a call stays. */
import { describe, expect, it } from "vitest";
import { withCorrection } from "../../../shared/correction/put-right.ts";
import type { Held } from "../../../shared/held-notes.ts";
import { saidAfter } from "../../trainer/hotel.ts";

describe("withCorrection", () => {
  const corrected: Held = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2" };
  type Made = { name: string; arguments: Record<string, unknown> };
  const answerOf = (...calls: Made[]) => ({ call: calls[0], calls });
  const search = (args: Record<string, unknown>): Made => ({ name: "SearchHotel", arguments: args });
  const right = answerOf(search({ city: "Porto", number_of_rooms: "2" }));
  const said = "No, the number of rooms should be 2.";
  const settled = (answer: ReturnType<typeof answerOf>, held = right, words = said) =>
    withCorrection(answer, { corrected: [corrected], heard: saidAfter(words), isSettled: () => false, hold: async () => held });

  it("holds a call that has the old value, another number, or none", async () => {
    for (const rooms of [{ number_of_rooms: "1" }, { number_of_rooms: "3" }, {}])
      expect(await settled(answerOf(search({ city: "Porto", ...rooms })))).toBe(right);
  });

  it("leaves a call that has it, or a name that the user has said, several calls, another tool's, and words", async () => {
    const city: Held = { tool: "SearchHotel", parameter: "city", value: "Vila Nova" };
    const named = answerOf(search({ city: "Vila Nova de Gaia" }));
    const words = saidAfter("The city should be Vila Nova de Gaia.");
    expect(await withCorrection(named, { corrected: [city], heard: words, isSettled: () => false, hold: async () => right })).toBe(named);
    const wrong = search({ city: "Porto", number_of_rooms: "1" });
    for (const answer of [right, answerOf(wrong, wrong), answerOf({ name: "GetWeather", arguments: {} }), answerOf()])
      expect(await settled(answer)).toBe(answer);
  });

  it("holds a call to all of several, whichever it has missed, and to the arguments of before else", async () => {
    const both: Held[] = [corrected, { tool: "SearchHotel", parameter: "has_wifi", value: "True" }];
    const made: unknown[] = [];
    const heldTo = (args: Record<string, unknown>) =>
      withCorrection(answerOf(search(args)), {
        corrected: both,
        heard: saidAfter("No, 2 rooms with wifi."),
        isSettled: () => false,
        hold: async (to, { arguments: as }) => {
          made.push([to, as]);
          return answerOf(search({ ...as, ...Object.fromEntries(to.map(({ parameter, value }) => [parameter, value])) }));
        },
      });
    const put = { city: "Porto", number_of_rooms: "2", has_wifi: "True" };
    for (const args of [
      { city: "Porto", number_of_rooms: "2" },
      { city: "wifi", number_of_rooms: "1" },
      { ...put, city: "Faro" },
    ])
      expect((await heldTo(args)).call?.arguments).toEqual(put);
    expect(made).toHaveLength(3);
    expect((await heldTo(put)).call?.arguments).toEqual(put);
    expect(made).toHaveLength(3);
  });

  it("leaves the answer where it cannot be held, or something else would change with it", async () => {
    const wrong = answerOf(search({ city: "Porto", number_of_rooms: "1" }));
    for (const held of [answerOf(), answerOf(search({ city: "Faro", number_of_rooms: "2" })), wrong])
      expect(await settled(wrong, held)).toBe(wrong);
  });

  it("has the other arguments of the call that was put right, unless something was said of them or decides on them", async () => {
    const asked: unknown[] = [];
    const heldTo = async (args: Record<string, unknown>, words = said, settledPlaces: readonly string[] = []): Promise<unknown> => {
      const settledTo = await withCorrection(answerOf(search(args)), {
        corrected: [corrected],
        heard: saidAfter(words),
        isSettled: (parameter) => settledPlaces.includes(parameter),
        hold: async (_, { arguments: as }) => {
          asked.push(as);
          return answerOf(search({ ...as, number_of_rooms: "2" }));
        },
      });
      return settledTo.call?.arguments;
    };
    // Made up beside the correction, changed without a word, or lost.
    expect(await heldTo({ city: "Porto", number_of_rooms: "2", has_wifi: "True" })).toEqual({ city: "Porto", number_of_rooms: "2" });
    expect(await heldTo({ city: "Faro", number_of_rooms: "1" })).toEqual({ city: "Porto", number_of_rooms: "2" });
    expect(await heldTo({ number_of_rooms: "2" })).toEqual({ city: "Porto", number_of_rooms: "2" });
    // The correction's own words, which a small policy takes for what else the call has.
    expect(await heldTo({ city: "the number of rooms", number_of_rooms: "2" })).toEqual({ city: "Porto", number_of_rooms: "2" });
    // What else is said asks for nothing: neither its words nor a day that it does not speak of are values, and nothing is left out for it.
    const snores = "No, the number of rooms should be 2. My little sister snores terribly.";
    const stays = { city: "Porto", number_of_rooms: "2" };
    for (const city of [{ city: "little sister" }, { city: "2019-03-02" }, {}])
      expect(await heldTo({ ...city, number_of_rooms: "2" }, snores)).toEqual(stays);
    expect(await heldTo({ number_of_rooms: "2" }, "No, the number of rooms should be 2. And never mind the harbour.")).toEqual({
      number_of_rooms: "2",
    });
    // Said in small letters, and left out in so many words.
    const small = "Make that 2 rooms, in faro please.";
    expect(await heldTo({ city: "faro", number_of_rooms: "2" }, small)).toEqual({ city: "faro", number_of_rooms: "2" });
    expect(await heldTo({ city: "skipper", number_of_rooms: "2" }, "skipper just radioed, make that 2 rooms")).toEqual(stays);
    expect(await heldTo({ number_of_rooms: "2" }, "Make that 2 rooms, and forget Porto.")).toEqual({ number_of_rooms: "2" });
    const married = "No, the number of rooms should be 2. My sister just got married to a baker.";
    expect(await heldTo({ city: "2019-03-02", number_of_rooms: "2" }, married)).toEqual(stays);
    // Said, decided by a note, or perhaps meant by what else is said.
    const inFaro = { city: "Faro", number_of_rooms: "2" };
    expect(await heldTo(inFaro, "No, the number of rooms should be 2, in Faro.")).toEqual(inFaro);
    expect(await heldTo(inFaro, said, ["city"])).toEqual(inFaro);
    expect(await heldTo(inFaro, "No, the number of rooms should be 2. And somewhere down south this time.")).toEqual(inFaro);
    expect(asked.slice(0, 3)).toEqual([
      { city: "Porto", number_of_rooms: "2" },
      { city: "Porto", number_of_rooms: "1" },
      { city: "Porto", number_of_rooms: "2" },
    ]);
  });

  it("holds nothing where nothing was put right", async () => {
    const wrong = answerOf(search({ number_of_rooms: "1" }));
    expect(await withCorrection(wrong, { corrected: [], heard: saidAfter(said), isSettled: () => false, hold: async () => right })).toBe(
      wrong,
    );
  });
});
