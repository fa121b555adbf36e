/** What a schema says of its parameters. */
import { describe, expect, it } from "vitest";
import { readParameters } from "../../../shared/speech/parameters.ts";
import { SEARCH } from "../../trainer/hotel.ts";

describe("the kind of a parameter", () => {
  it.each([
    ["start", "From, HH:MM", "time"],
    ["spent_on", "YYYY-MM-DD", "date"],
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

  it("tells kinds from enum, name and description", () => {
    expect(readParameters(SEARCH).map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["city", "place", true],
      ["number_of_rooms", "enum", false],
      ["has_wifi", "boolean", false],
    ]);
  });
});
