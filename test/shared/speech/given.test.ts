/** Numbers that a user gives an argument by its name, or when asked for it. */
import { describe, expect, it } from "vitest";
import { wasGiven } from "../../../shared/speech/wanted.ts";

const parameter = { words: "party size" };
const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });
const given = (value: string, ...said: (string | ReturnType<typeof assistant>)[]): boolean =>
  wasGiven(
    said.map((each) => (typeof each === "string" ? user(each) : each)),
    { parameter, value },
  );

describe("wasGiven", () => {
  it("is true of the only number beside the argument's name", () => {
    expect(given("5", "A table at 7:30, please. I'd prefer 5 as the party size.")).toBe(true);
    expect(given("2", "2 party size, please. At 6:15 pm.")).toBe(true);
    expect(given("1", "The party size is one.")).toBe(true);
    expect(given("3", "Party size: 3")).toBe(true);
  });

  it("is true of what answers a question with that name", () => {
    expect(given("1", "A table.", assistant("What party size do you want?"), "One, please.")).toBe(true);
    expect(given("4", "A table.", assistant("All right. And the party size?"), "It'll be 4 of us.")).toBe(true);
    expect(given("4", "A table.", assistant("At what time?"), "At 4.")).toBe(false);
    expect(given("4", "A table.", assistant("The party size is 2."), "At 4.")).toBe(false);
  });

  it("is false of other numbers, of several, and of what is refused", () => {
    expect(given("7", "A table at 7, party size 4.")).toBe(false);
    expect(given("2", "Party size 2 or 3")).toBe(false);
    expect(given("2", "Not a party size of 2.")).toBe(false);
    expect(given("2", "A table for two on March 2nd.")).toBe(false);
    expect(given("2", "A big party.", assistant("What party size?"), "Not 2.")).toBe(false);
  });

  it("goes by the last one", () => {
    expect(given("2", "Party size 2.", "The party size should be 5.")).toBe(false);
    expect(given("5", "Party size 2.", "The party size should be 5.")).toBe(true);
  });
});
