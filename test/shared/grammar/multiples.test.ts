/** Numbers that are multiples, digit by digit. */
import { describe, expect, it } from "vitest";
import { isPossible } from "../../../shared/grammar/rule.ts";
import { compileSchema } from "../../../shared/grammar/schema.ts";
import { readerOf } from "./rules.ts";

describe("multiples", () => {
  it.each<[schema: object, fits: string[], unfinished: string[], refused: string[]]>([
    [{ type: "number", multipleOf: 0.01 }, ["0", "-0.1", "7", "12.34", "0.00"], ["1.", "-"], ["1.234", "1e2", "00"]],
    [{ type: "number", multipleOf: 2.5 }, ["0", "2.5", "-5", "10", "7.5"], ["1", "2", "3"], ["1.5", "2.50", "3.0", "7.0"]],
    [{ type: "integer", multipleOf: 5 }, ["0", "5", "-15", "100"], ["1", "14"], ["1.", "5e1"]],
    [{ type: "integer", multipleOf: 0.5 }, ["0", "1", "7"], ["-"], ["0.5"]],
    [{ type: "integer", multipleOf: 2.5 }, ["0", "5", "10"], ["2", "7"], ["2.5"]],
    [{ type: "integer", multipleOf: 5, minimum: -3, maximum: 17 }, ["0", "5", "10", "15"], ["1"], ["-5", "20", "2", "16"]],
    [{ type: "integer", multipleOf: 4, exclusiveMinimum: 8, exclusiveMaximum: 16 }, ["12"], ["1"], ["8", "16", "4"]],
    [{ type: "integer", multipleOf: 4, allOf: [{ multipleOf: 6 }] }, ["12", "24", "0"], ["4", "6"], ["4.0"]],
    [{ type: "number", multipleOf: 0.1, minimum: 0.25, maximum: 0.45 }, ["0.3", "0.4"], ["0"], ["0.2", "0.5", "0.30", "1"]],
    [{ multipleOf: 3 }, ["3", '"x"', "null"], ["1"], ["3."]],
    [{ type: "integer", multipleOf: 1_000, maximum: 1e30 }, ["999999999999000"], ["1"], ["9999999999990000"]],
  ])("of %j", (schema, fits, unfinished, refused) => {
    const read = readerOf(schema);
    expect(fits.map((text) => [text, read(text)])).toEqual(fits.map((text) => [text, "fits"]));
    expect(unfinished.map((text) => [text, read(text)])).toEqual(unfinished.map((text) => [text, "unfinished"]));
    expect(refused.map((text) => [text, read(text)])).toEqual(refused.map((text) => [text, "refused"]));
  });

  it("that none is within the bounds are known", () => {
    for (const bounds of [{ minimum: 1, maximum: 4 }, { exclusiveMinimum: 5, exclusiveMaximum: 10 }, { minimum: 1e16 }])
      expect(isPossible(compileSchema({ type: "integer", multipleOf: 5, ...bounds }, { path: "" }))).toBe(false);
  });

  it.each([0.1 + 0.2, 1 / 3, 1e-17, 1e13, Number.MAX_VALUE])("of %d are told of: too few of them are written as they are", (multipleOf) => {
    const told: unknown[] = [];
    compileSchema({ type: "number", multipleOf }, { path: "n", onLoose: (path, _, why) => told.push(path, why) });
    expect(told).toEqual(["n.multipleOf", expect.stringContaining(`at most 12 digits that is 1e-15 or more expected, got ${multipleOf}`)]);
  });
});
