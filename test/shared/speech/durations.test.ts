/** Numbers of several words, and lengths of time in the unit that a parameter counts in. */
import { describe, expect, it } from "vitest";
import { inUnitOf } from "../../../shared/speech/durations.ts";
import { withDigits } from "../../../shared/speech/spelled.ts";

describe("numbers of several words", () => {
  it.each([
    ["forty-five quid", "45 quid"],
    ["twenty one", "21"],
    ["two dozen people", "24 people"],
    ["half a dozen", "6"],
    ["a hundred and twenty", "120"],
    ["three thousand", "3000"],
    ["thirteen fifty", "1350"],
    ["six and a half a minute", "6.5 a minute"],
    ["twenty people and one dog", "twenty people and one dog"],
    ["one two", "one two"],
  ])("%j is %j", (text, digits) => {
    expect(withDigits(text)).toBe(digits);
  });
});

describe("lengths of time", () => {
  const minutes = { words: "duration minutes", description: "", kind: "number" } as const;

  it.each([
    ["half an hour is plenty for 3 people", "30 minutes is plenty for 3 people"],
    ["an hour and a half", "90 minutes"],
    ["two and a half hours", "150 minutes"],
    ["let it go on for two full hours", "let it go on for 120 minutes"],
    ["three quarters of an hour", "45 minutes"],
    ["10 euros an hour, twice an hour", "10 euros an hour, twice an hour"],
    ["20 minutes", "20 minutes"],
  ])("%j in minutes is %j", (text, told) => {
    expect(inUnitOf(minutes, text)).toBe(told);
  });

  it("is in the unit that the description tells, where it is a whole number of that", () => {
    const months = { words: "term", description: "Term in months", kind: "number" } as const;
    expect(inUnitOf(months, "two years or half a year")).toBe("24 months or 6 months");
    expect(inUnitOf({ ...months, description: "Days to pay" }, "two weeks")).toBe("14 days");
    expect(inUnitOf({ ...months, description: "Whole hours" }, "20 minutes, two months")).toBe("20 minutes, two months");
  });

  it("is left as it is said where the parameter counts no time", () => {
    expect(inUnitOf({ words: "guests", description: "", kind: "number" }, "for two hours")).toBe("for two hours");
    expect(inUnitOf({ words: "title", description: "", kind: "text" }, "Forty-five Minutes")).toBe("Forty-five Minutes");
  });
});
