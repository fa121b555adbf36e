import { describe, expect, it } from "vitest";
import { isCountOfAnother } from "../../../shared/speech/numbers.ts";
import { readParameters } from "../../../shared/speech/parameters.ts";

const number = { type: "integer" };
const parameters = readParameters({
  type: "function",
  function: {
    name: "SearchHotel",
    parameters: {
      type: "object",
      properties: { number_of_rooms: number, star_rating: number, guests: number, nights: number, city: { type: "string" } },
    },
  },
});

/** Whether `3` was said of another parameter than this one alone. */
function isOther(content: string, name = "number_of_rooms"): boolean {
  const parameter = parameters.find((each) => each.name === name);
  return parameter !== undefined && isCountOfAnother([{ role: "user", content }], { parameter, value: "3", parameters });
}

describe("a number that counts another parameter's things", () => {
  it.each(["Search a 3 star hotel in Faro.", "A hotel with three stars, please.", "A hotel in Faro for 3 nights."])("%s", (content) => {
    expect(isOther(content)).toBe(true);
  });

  it.each([
    ["counts the parameter's own", "3 rooms in a hotel in Faro"],
    ["is said once more, of whatever", "A 3 star hotel in Faro, we need 3."],
    ["counts people, who may each need one", "A hotel in Faro for 3 guests"],
    ["counts nothing", "A hotel in Faro, 3 please"],
    ["is not said", "A hotel in Faro"],
    ["is part of a date", "A hotel in Faro from March 3"],
  ])("is none that %s", (_, content) => {
    expect(isOther(content)).toBe(false);
  });

  it("is none where the parameter is the one whose things are counted", () => {
    expect(isOther("Search a 3 star hotel in Faro.", "star_rating")).toBe(false);
  });
});
