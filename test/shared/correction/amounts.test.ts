/** Numbers that are amounts, and those that are a part of more, or a name. */
import { describe, expect, it } from "vitest";
import { parameterOf } from "../../../shared/speech/parameters.ts";
import { isPartOrLabel } from "../../../shared/correction/amounts.ts";

const of = (name: string) => ({ ...parameterOf(name), kind: "number" as const });
const party = (said: string, value: string): boolean => isPartOrLabel(said, { parameter: of("party_size"), value });

describe("isPartOrLabel", () => {
  it.each([
    ["We are three adults and two children.", "3"],
    ["We are three adults and two children.", "2"],
    ["1 adult, 1 infant", "1"],
    ["I come with my two sisters.", "2"],
    ["It's myself and 3 friends.", "3"],
    ["Me plus two.", "2"],
    ["Two friends and me.", "2"],
    ["My wife and 2 kids and I.", "2"],
    ["See page 5, please.", "5"],
    ["It is on line 12 of the file.", "12"],
    ["It's minus 9 out there.", "9"],
  ])("hears that %s tells no party of %s", (said, value) => expect(party(said, value)).toBe(true));

  it.each([
    ["A table for 4 adults.", "4"],
    ["Make it 2.", "2"],
    ["No, 5!", "5"],
    ["6 people: 4 adults and 2 kids.", "6"],
    ["Me and my 3 kids, so a party size of 4.", "4"],
    ["We are two and want two tables.", "2"],
    ["It should be 5, as on page 5.", "5"],
    ["Porto, please.", "2"],
  ])("leaves open that %s may tell %s", (said, value) => expect(party(said, value)).toBe(false));

  it("counts what the parameter is about", () => {
    expect(isPartOrLabel("Two adults and 3 kids.", { parameter: of("number_of_adults"), value: "2" })).toBe(false);
    expect(isPartOrLabel("For me and 2 bags.", { parameter: of("number_of_bags"), value: "2" })).toBe(false);
    expect(isPartOrLabel("Go to page 5.", { parameter: of("page"), value: "5" })).toBe(false);
  });
});
