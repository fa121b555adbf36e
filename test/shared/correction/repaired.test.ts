/** What a speaker takes back in the same breath. */
import { expect, it } from "vitest";
import { withoutRepairedNumbers, withoutRepairedOptions } from "../../../shared/correction/repaired.ts";

it.each([
  ["The number of rooms should be 4, sorry, 5.", "The number of rooms should be 5."],
  ["2, I mean 3.", "3."],
  ["two, no wait, three rooms", "three rooms"],
  ["4 passengers, sorry, 5.", "5."],
  ["For 4… make it 5!", "For 5!"],
  // What is of another thing, a choice, a denial and a plain excuse take nothing back.
  ["2 rooms, no 3 stars please", "2 rooms, no 3 stars please"],
  ["2 or 3", "2 or 3"],
  ["2, not 3", "2, not 3"],
  ["We are 4, sorry.", "We are 4, sorry."],
  ["2 rooms and actually 3 stars", "2 rooms and actually 3 stars"],
])("of numbers, in: %s", (said, left) => expect(withoutRepairedNumbers(said)).toBe(left));

it("of a schema's options", () => {
  const options = ["Economy", "Premium Economy", "Business"];
  const left = (said: string): string => withoutRepairedOptions(said, options);
  expect(left("The cabin should be Economy, I mean Business.")).toBe("The cabin should be Business.");
  expect(left("Premium Economy, sorry, Economy")).toBe("Economy");
  expect(left("Business, not Economy")).toBe("Business, not Economy");
  expect(left("Business, sorry to bother you")).toBe("Business, sorry to bother you");
  expect(withoutRepairedOptions("Business, sorry, Economy", [])).toBe("Business, sorry, Economy");
});

it("reads a text as long as a request may be before the test's time is over", () => {
  expect(withoutRepairedNumbers("2 sorry ".repeat(40_000))).toContain("2");
  expect(withoutRepairedNumbers("a, no, ".repeat(40_000))).toContain("a");
});
