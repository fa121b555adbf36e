/** What a number is said of: the parameter's own things, others, or nothing that is named. */
import { describe, expect, it } from "vitest";
import { parameterOf } from "../../../shared/speech/parameters.ts";
import { countedBy, otherThing } from "../../../shared/speech/counted.ts";

const of = (name: string, description = "") => ({ ...parameterOf(name), description });

describe("countedBy", () => {
  it.each([
    ["There's six of us.", "6", "party_size", "", "own"],
    ["Make it 3 rooms.", "3", "number_of_rooms", "", "own"],
    ["I have 2 big suitcases with me.", "2", "luggage", "Number of suitcases", "own"],
    ["There's six of us.", "6", "number_of_rooms", "", "other"],
    ["Remind me 20 minutes before.", "20", "hold_hours", "", "other"],
    ["42 eur to Anna.", "42", "copies", "", "other"],
    ["Half past five, please.", "5", "party_size", "", "other"],
    ["I always go to bed at ten to nine.", "9", "degrees", "", "other"],
    ["It should end at ten to nine.", "10", "degrees", "", "other"],
    ["Please change ten to twelve.", "12", "degrees", "", "nothing"],
    ["7 is too late for us.", "7", "party_size", "", "other"],
    ["I work until seven.", "7", "party_size", "", "other"],
    ["A bigger one, since four of us are coming.", "4", "party_size", "", "own"],
    ["Eight is too early, nothing before ten.", "10", "party_size", "", "other"],
    ["I'm out from 9 to 4.", "9", "bags", "", "other"],
    ["I'm out from 9 to 4.", "4", "bags", "", "other"],
    ["The most recent ones, not of 2016.", "2016", "max_results", "", "other"],
    ["I meant the one from 2010.", "2010", "year", "", "own"],
    ["I meant the one from 2010.", "2010", "released", "Year of release", "own"],
    ["Wrong, it's for 4.", "4", "party_size", "", "nothing"],
    ["We are always 3.", "3", "party_size", "", "nothing"],
    ["Make that four, please.", "4", "copies", "", "nothing"],
    ["We come as a group, 12 in all.", "5", "party_size", "", "nothing"],
  ])("hears in %j of %s for %s %s: %s", (said, value, name, description, counted) => {
    expect(countedBy(said, value, of(name, description))).toBe(counted);
  });
});

describe("the thing that a number is said to be of", () => {
  const other = (said: string): string | undefined => otherThing(said, { words: "number of rooms", description: "" });

  it.each([
    ["The number of bags should be 4.", "bags"],
    ["The bags should be 4.", "bags"],
    ["The number of guests should be 4.", "guests"],
    ["The number of rooms should be 4.", undefined],
    ["The rooms should be 4.", undefined],
    ["This should be 4.", undefined],
    ["No, 4 please.", undefined],
  ])("%s", (said, thing) => expect(other(said)).toBe(thing));

  it("may be people, whatever they are called", () => {
    const party = { words: "party size", description: "How many come" };
    for (const people of ["people", "guests", "adults", "friends"])
      expect(otherThing(`The number of ${people} should be 4.`, party)).toBeUndefined();
    expect(otherThing("The number of bags should be 4.", party)).toBe("bags");
  });
});
