/** What a case may expect of a call, beside schemas that leave more open than it seems. */
import { describe, expect, it } from "vitest";
import { checkExpectation } from "../../../edge/agent/suite-check.ts";

const check = (parameters: object, args: Record<string, unknown>) => (): void =>
  checkExpectation({ tool: "Find", arguments: args }, [
    { type: "function", function: { name: "Find", parameters: { type: "object", ...parameters } } },
  ]);

describe("checkExpectation", () => {
  it("refuses an argument that no call has, whatever else is missing, and no other", () => {
    const needed = { properties: { city: { type: "string" } }, required: ["city"] };
    expect(check({ ...needed, additionalProperties: true }, { nothing: 1 })).not.toThrow();
    expect(
      check({ ...needed, anyOf: [{ required: ["city"] }, { required: ["place"] }], additionalProperties: true }, { 5: 1 }),
    ).not.toThrow();
    expect(check(needed, { nothing: 1 })).toThrow(/only declared arguments, got nothing/);
  });

  it("takes what reads like a value that an alternative names", () => {
    const count = { anyOf: [{ enum: ["Two", "Three"] }, { type: "null" }] };
    expect(check({ properties: { count } }, { count: "two" })).not.toThrow();
    expect(check({ properties: { count } }, { count: "four" })).toThrow(/expect.arguments.count/);
  });
});
