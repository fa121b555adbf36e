/** What patterns may take, and what is said of those that cannot be held to: hostile ones are refused or read, none of them at length. */
import { describe, expect, it } from "vitest";
import { compileSchema } from "../../../../shared/grammar/schema.ts";
import { isPossible } from "../../../../shared/grammar/rule.ts";
import { PatternBudget, patternOf, textOf } from "../../../../shared/grammar/text/string-language.ts";
import { readerOf } from "../rules.ts";

/** Why its patterns are not held to; undefined where they are. */
function whyOf(schema: object): string | undefined {
  const told: string[] = [];
  compileSchema({ type: "string", ...schema }, { path: "p", onLoose: (path, _, why) => told.push(`${path}: ${why}`) });
  expect(told.length).toBeLessThanOrEqual(1);
  return told[0];
}

const nested = (open: string, close: string, levels: number): string => `${open.repeat(levels)}a${close.repeat(levels)}`;
const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${(index * 7919) % 10007}`).join("|");
const han = Array.from({ length: 1_500 }, (_, index) => String.fromCodePoint(0x4e00 + 3 * index));

describe("a pattern", () => {
  it.each<[name: string, pattern: string, why: RegExp]>([
    ["with a back reference", "^(a)\\1$", /without back references expected, got \\1/],
    ["with one by name", "(?<x>a)\\k<x>", /without back references expected, got \\k/],
    ["that looks behind", "(?<=a)b", /does not look behind expected/],
    ["that is none", "[a", /a regular expression expected, got one with a fault: Unterminated character class/],
    ["of another language", "^(?P<x>a)$", /Invalid group/],
    ["of another language's escapes", "\\Aab\\z", /escapes of ECMA-262 alone expected, got \\A/],
    ["that counts a count", "^(a{1000}){1000}$", /4000 states/],
    ["that may count a count", "^((a{0,1000}){0,1000}){0,1000}$", /steps to compile expected/],
    ["that counts anywhere", "(?:a.{1000}){1000}z", /steps to compile expected|4000 states/],
    ["that has to remember what it read", "(a|b)*a(a|b){14}$", /steps to compile expected|4000 states/],
    ["that has to remember all that it must not have read", "^(?!(a|b)*a(a|b){14}$)", /steps to compile expected|4000 states/],
    ["of thousands of characters in a row", "a".repeat(30_000), /steps to compile expected|4000 states/],
    ["of groups in thousands of others", nested("(", ")", 3_000), /64 groups within each other|Regular expression too large/],
    ["of many kinds of characters", han.join(""), /steps to compile expected/],
    ["that repeats nothing but places", "(?:(?=a)|b){9000}", /repeated 50 times at most expected, got 9000/],
    ["of many properties", "\\p{L}\\p{N}\\p{P}\\p{S}\\p{Z}\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lm}", /steps to compile expected/],
  ])("%s is told of, with what was expected", (_, pattern, why) => {
    expect(whyOf({ pattern })).toMatch(why);
  });

  it.each<[name: string, pattern: string, fits: string, other: string]>([
    ["whose repetitions hold each other", "^(a+)+$", "aaa", "aab"],
    ["of repetitions that may all be nothing", "^(.*.*.*.*.*=.*)*$", "a=b", "ab"],
    ["of 10,000 alternatives", `^(?:${words(10_000).slice(0, 30_000).split("|").slice(0, -1).join("|")})$`, "w7919", "x"],
    ["of many that may be left out", `^${"a?".repeat(60)}$`, "aaa", "b"],
    ["of a count that is the length of the text", "^[a-z]{3,30000}$", "abcd", "ab"],
    ["of many characters of one kind", `^[${han.join("")}]+$`, han.slice(0, 3).join(""), "a"],
    ["of groups in others", nested("(?:", ")*", 60), "aaa", ""],
  ])("%s is read", (_, pattern, fits, other) => {
    expect(whyOf({ pattern })).toBeUndefined();
    const read = readerOf({ type: "string", pattern });
    expect(read(JSON.stringify(fits))).toBe("fits");
    if (other !== "") expect(read(JSON.stringify(other))).toBe("refused");
  });

  it("beside a least length that would take too many places is told of", () => {
    expect(whyOf({ pattern: "^(?:a.{1500}b)*$", minLength: 30_000, maxLength: 30_000 })).toMatch(/states by lengths|steps/);
    expect(whyOf({ pattern: "a$", minLength: 30_000 })).toBeUndefined();
  });

  it.each<object>([
    { pattern: "^a$", minLength: 5 },
    { pattern: "^(ab)*$", minLength: 3, maxLength: 3 },
    { pattern: "[]" },
    { pattern: "^a$", allOf: [{ pattern: "^b$" }] },
    { pattern: "a^b" },
    { format: "date", maxLength: 9 },
    { format: "uuid", pattern: "^x" },
    { pattern: "\\ba\\B$" },
  ])("that no text fits is known: %j", (schema) => {
    expect(isPossible(compileSchema({ type: "string", ...schema }, { path: "" }))).toBe(false);
  });
});

describe("the patterns of a request", () => {
  const dear = (index: number): string => `^[A-Z].{0,${2_900 + index}}$`;

  it("have what they take together bounded, and the same is refused each time", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`p${index}`, { type: "string", pattern: dear(index) }]),
    );
    const refusedOf = (): string[] => {
      const told: string[] = [];
      compileSchema({ properties }, { path: "", onLoose: (path, _, why) => told.push(`${path} ${why}`) });
      return told;
    };
    const first = refusedOf();
    expect(first.length).toBeGreaterThan(20);
    expect(first.length).toBeLessThan(40);
    expect(first.at(-1)).toMatch(/all schemas together that take at most 300000 steps/);
    expect(refusedOf()).toEqual(first);
  });

  it("take as much where they are known already", () => {
    const [first, second] = [new PatternBudget(), new PatternBudget()];
    const texts = [first, second].map((budget) => {
      const patterns = ["^[a-z]{2}(?:-[a-z]{2,8})*$", "^\\p{L}"].map((source) => patternOf(source, budget));
      return textOf({ patterns, formats: [], minLength: 0, maxLength: Infinity }, budget);
    });
    expect(texts.map((text) => text.isPossible)).toEqual([true, true]);
    expect(second.left).toBe(first.left);
    expect(first.left).toBeLessThan(new PatternBudget().left);
  });

  it("take nothing where the same stands in many places", () => {
    const moment = { type: "string", format: "date-time", pattern: "\\.\\d{3}(?:Z|[+-]\\d\\d:\\d\\d)$" };
    const properties = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`p${index}`, moment]));
    compileSchema({ properties }, { path: "", onLoose: (path, _, why) => expect.fail(`${path}: ${why}`) });
  });
});
