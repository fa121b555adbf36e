/** What a schema says of its parameters, and values as it has them. */
import { describe, expect, it } from "vitest";
import { readParameters, typedValue } from "../../../shared/speech/parameters.ts";
import { SEARCH } from "../../trainer/hotel.ts";

describe("the kind of a parameter", () => {
  it.each([
    ["start", "From, HH:MM", "time"],
    ["until", "HH:MM", "time"],
    ["spent_on", "YYYY-MM-DD", "date"],
    ["duration", "Length as HH:MM", "text"],
    ["utc_offset", "As +HH:MM", "text"],
    ["opening_hours", "Such as HH:MM-HH:MM", "text"],
    ["filename", "Saved as report-YYYY-MM-DD.csv", "text"],
    ["period", "YYYY-MM-DD to YYYY-MM-DD", "text"],
    ["starts_at", "DD/MM/YYYY HH:MM", "text"],
    ["city", "In which, days being YYYY-MM-DD", "place"],
    ["visit_date", "In words", "date"],
    ["departure", "YYYY-MM-DDTHH:MM", "text"],
    ["departure", "YYYY-MM-DD HH:MM", "text"],
    ["note", "What else", "text"],
  ])("of %s (%s) is %s", (name, description, kind) => {
    const parameters = { type: "object", properties: { [name]: { type: "string", description } } };
    expect(readParameters({ type: "function", function: { name: "any", parameters } })).toMatchObject([{ name, kind }]);
  });
});

describe("readParameters", () => {
  it("reads the types of optional and of typeless properties", () => {
    const properties = {
      nights: { anyOf: [{ type: "integer" }, { type: "null" }] },
      day: { anyOf: [{ $ref: "#/$defs/Day" }, { type: "null" }] },
      stars: { enum: [1, 2, 3] },
      note: {},
    };
    const tool = { type: "function" as const, function: { name: "Book", parameters: { type: "object", properties } } };
    expect(readParameters(tool).map(({ type }) => type)).toEqual(["integer", "string", "number", "string"]);
  });

  it("tells which words of a name are the parameter's own", () => {
    const properties = { hotel_rating: {}, star_rating: {}, number_of_rooms: {}, number_of_nights: {} };
    const tool = { type: "function" as const, function: { name: "SearchHotel", parameters: { type: "object", properties } } };
    expect(readParameters(tool).map(({ ownWords }) => ownWords)).toEqual([[], ["star"], ["rooms"], ["nights"]]);
  });

  it("tells kinds from enum, name and description", () => {
    expect(readParameters(SEARCH).map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["city", "place", true],
      ["number_of_rooms", "enum", false],
      ["has_wifi", "boolean", false],
    ]);
  });
});

describe("typedValue", () => {
  it.each([
    { type: "string", value: "2", typed: "2" },
    { type: "integer", value: "2", typed: 2 },
    { type: "integer", value: "two", typed: undefined },
    { type: "integer", value: "-3", typed: -3 },
    { type: "integer", value: "9".repeat(26), typed: undefined },
    { type: "number", value: "9".repeat(26), typed: undefined },
    { type: "number", value: "6e23", typed: 6e23 },
    { type: "number", value: "2.5", typed: 2.5 },
    { type: "boolean", value: "True", typed: true },
    { type: "boolean", value: "maybe", typed: undefined },
    { type: "integer string", value: "two", typed: "two" },
    { type: "array", value: "olives", typed: undefined },
  ])("of $value as $type is $typed", ({ type, value, typed }) => {
    expect(typedValue({ type }, value)).toBe(typed);
  });
});
