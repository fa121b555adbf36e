/** What zod refuses, said as every other refusal is. */
import { describe, expect, it } from "vitest";
import { z, type ZodType } from "zod";
import { issueWords } from "../../edge/issue-words.ts";

const saidOf = (schema: ZodType, value: unknown): string | undefined =>
  schema.safeParse(value, { error: issueWords }).error?.issues[0]?.message;

describe("issueWords", () => {
  it.each<[string, ZodType, unknown, string]>([
    ["another type", z.number(), "1", "number expected, got string"],
    ["a member that is missing", z.object({ a: z.string() }), {}, "string expected, got nothing"],
    ["a member of any type that is missing", z.object({ a: z.unknown() }), {}, "something expected, got nothing"],
    ["null", z.string(), null, "string expected, got null"],
    ["a list", z.object({}), [], "object expected, got array"],
    ["a text that is to be a number", z.coerce.number(), "x", "number expected, got NaN"],
    ["no whole number", z.int(), 1.5, "a whole number expected, got 1.5"],
    ["no time", z.iso.datetime(), "soon", 'datetime expected, got "soon"'],
    ["none of several values", z.enum(["low", "high"]), "middle", '"low" or "high" expected, got "middle"'],
    ["another than the one value", z.literal(1), 2, "1 expected, got 2"],
    ["a long text", z.literal("x"), "y".repeat(100), `"x" expected, got "${"y".repeat(60)}…"`],
    ["too low a number", z.number().min(1), 0, "at least 1 expected, got 0"],
    ["a number on its bound", z.number().positive(), 0, "more than 0 expected, got 0"],
    ["too high a number", z.number().lt(2), 2, "less than 2 expected, got 2"],
    ["too short a text", z.string().min(1), "", "at least 1 character expected, got 0"],
    ["too many items", z.array(z.number()).max(2), [1, 2, 3], "at most 2 items expected, got 3"],
    ["a text of another length", z.string().length(2), "ab😀", "exactly 2 characters expected, got 3"],
    ["an unknown member", z.strictObject({}), { a: 1 }, "unknown member a: remove it"],
    ["unknown members", z.strictObject({}), { a: 1, b: 2 }, "unknown members a, b: remove them"],
    [
      "many unknown members",
      z.strictObject({}),
      { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7 },
      "unknown members a, b, c, d, e and 2 more: remove them",
    ],
    ["a name that may not be", z.record(z.string().max(2), z.string()), { abc: "" }, "its name: at most 2 characters expected, got 3"],
    ["no kind that there is", z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") })]), { kind: "b" }, '"a" expected, got "b"'],
  ])("says of %s what was expected and what came", (_, schema, value, said) => {
    expect(saidOf(schema, value)).toBe(said);
  });

  it("leaves a schema its own words", () => {
    expect(saidOf(z.string("a name expected"), 1)).toBe("a name expected");
    expect(saidOf(z.string().min(2, "two letters expected"), "a")).toBe("two letters expected");
    expect(saidOf(z.strictObject({}, "nothing else expected"), { a: 1 })).toBe("nothing else expected");
  });
});
