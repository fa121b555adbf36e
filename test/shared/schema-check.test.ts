/** What of a tool's schema a call is checked against. */
import { describe, expect, it } from "vitest";
import { checkArguments } from "../../shared/schema-check.ts";

const problems = (property: object, value: unknown): string[] =>
  checkArguments(
    { type: "function", function: { name: "Book", parameters: { type: "object", properties: { rooms: property } } } },
    { rooms: value },
  );

describe("checkArguments", () => {
  it("holds numbers to their bounds, and texts to their lengths in characters", () => {
    const few = { type: "integer", minimum: 1, maximum: 3 };
    expect([1, 3].flatMap((value) => problems(few, value))).toEqual([]);
    expect(problems(few, 4)).toEqual(["Book.rooms must be within 1 and 3, got 4"]);
    expect(problems({ type: "string", minLength: 2, maxLength: 2 }, "🛏🛏")).toEqual([]);
    expect(problems({ type: "string", minLength: 2 }, "1")).toHaveLength(1);
    expect(problems({ type: "integer", minLength: 5 }, 1)).toEqual([]);
  });

  it("wants the one value, or one of the alternatives", () => {
    expect([problems({ const: "2" }, "2"), problems({ const: "2" }, 2)]).toEqual([[], ['Book.rooms must be "2", got 2']]);
    const either = { anyOf: [{ type: "integer", maximum: 3 }, { enum: ["many"] }] };
    expect([2, "many"].flatMap((value) => problems(either, value))).toEqual([]);
    expect([problems(either, 4), problems(either, "few")].map(({ length }) => length)).toEqual([1, 1]);
  });

  it("lets through what it does not know", () => {
    expect(problems({ pattern: "^x$", format: "date" }, "y")).toEqual([]);
    expect(problems({ type: 7 }, "y")).toEqual([]);
  });
});
