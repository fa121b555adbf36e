/** Times and days that the one before tells the rest of. */
import { describe, expect, it } from "vitest";
import { nearValues } from "../../../shared/speech/near.ts";

describe("a time without its half of the day", () => {
  it.each([
    ["quarter past nine?", "08:30", "09:15"],
    ["half past eleven", "22:00", "23:30"],
    ["half six", "19:00", "18:30"],
    ["quarter past eleven?", "14:00", "11:15"],
    ["I won't be in before ten to eight", "18:00", "19:50"],
    ["7:30 suits me better", "19:00", "19:30"],
    ["make it nine o'clock", "10:00", "09:00"],
    ["at six, please", "17:00", "18:00"],
    ["at eight in the morning", "17:00", "08:00"],
  ])("%j after %s is %s", (text, held, value) => {
    expect(nearValues(text, "time", held)).toEqual([value]);
  });

  it.each([["not at eight"], ["a table at 4 tables"], ["for 4 people"], ["at 6 pm"], ["eight"]])("%j names none", (text) => {
    expect(nearValues(text, "time", "17:00")).toEqual([]);
  });

  it("needs a time to be near to", () => {
    expect(nearValues("at six", "time", undefined)).toEqual([]);
    expect(nearValues("at six", "time", "evening")).toEqual([]);
  });
});

describe("a day without its month", () => {
  it.each([
    ["Take Tuesday.", "2025-10-13", "2025-10-14"],
    ["wednesday's hopeless for me, thursday same hour", "2025-06-11", "2025-06-12"],
    ["I'm only in town Thursdays", "2025-09-19", "2025-09-18"],
    ["the 18th it is", "2025-09-19", "2025-09-18"],
    ["we'd rather come a day later", "2025-07-31", "2025-08-01"],
    ["a week earlier", "2025-01-03", "2024-12-27"],
  ])("%j after %s is %s", (text, held, value) => {
    expect(nearValues(text, "date", held)).toEqual([value]);
  });

  it("is none that the month does not have", () => {
    expect(nearValues("on the 31st", "date", "2025-06-11")).toEqual([]);
  });
});
