/** Errands for an update's trust region: whole requests that need no data and never repeat their tools. */
import { describe, expect, it } from "vitest";
import { Random } from "../../../trainer/random.ts";
import { drawErrandRequest } from "../../../trainer/teacher/errand-requests.ts";

const drawn = (seed: number): NonNullable<ReturnType<typeof drawErrandRequest>>[] => {
  const random = new Random(seed);
  return Array.from({ length: 60 }, () => drawErrandRequest(random)).filter((request) => request !== undefined);
};

describe("drawErrandRequest", () => {
  it("ends where the policy has to answer a user", () => {
    const requests = drawn(1);
    expect(requests.length).toBeGreaterThan(45);
    for (const { messages } of requests) expect(messages.at(-1)?.role).toBe("user");
  });

  it("offers the tool that is due, and mostly has one", () => {
    const requests = drawn(2);
    const due = requests.filter(({ tool }) => tool !== "");
    for (const { tools, tool } of due) expect(tools.map(({ function: { name } }) => name)).toContain(tool);
    expect(due.length).toBeGreaterThan(requests.length / 2);
    expect(due.length).toBeLessThan(requests.length);
  });

  it("seldom offers the same tool twice", () => {
    const names = drawn(3).map(({ tools }) => tools[0]?.function.name);
    expect(new Set(names).size).toBeGreaterThan(0.8 * names.length);
  });

  it("says days and times where a parameter wants them", () => {
    const words = drawn(4).map(({ messages }) => JSON.stringify(messages));
    expect(words.some((text) => /March|\d(?:st|nd|rd|th)\b|2019-03/.test(text))).toBe(true);
    expect(words.some((text) => /\d:\d\d|o'clock|\d ?(?:am|pm)/i.test(text))).toBe(true);
  });

  it("draws the same for the same seed", () => {
    expect(drawn(5)).toEqual(drawn(5));
  });
});
