import { describe, expect, it } from "vitest";
import { mentions } from "../../../trainer/data/mention.ts";
import { readParameters } from "../../../trainer/data/parameters.ts";
import { SEARCH } from "../hotel.ts";

function parameter(name: string): ReturnType<typeof readParameters>[number] {
  const found = readParameters(SEARCH).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no parameter ${name}`);
  return found;
}

describe("mentions", () => {
  it.each([
    { text: "No, I need 2 rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "No, I need two rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "No, I need 12 rooms", name: "number_of_rooms", value: "2", said: false },
    { text: "Somewhere in San Jose.", name: "city", value: "San Jose", said: true },
    { text: "Somewhere in San Diego.", name: "city", value: "San Jose", said: false },
    { text: "Make it March 5th", name: "city", value: "2019-03-05", said: true },
    { text: "the 5th of March, please", name: "city", value: "2019-03-05", said: true },
    { text: "around 2:30 pm", name: "city", value: "14:30", said: true },
    { text: "around 2:30 am", name: "city", value: "14:30", said: false },
    { text: "It must have wifi!", name: "has_wifi", value: "True", said: true },
    { text: "It must have a pool!", name: "has_wifi", value: "True", said: false },
  ])("finds that $text says $value for $name: $said", ({ text, name, value, said }) => {
    expect(mentions(text, { parameter: parameter(name), value })).toBe(said);
  });
});

describe("readParameters", () => {
  it("tells kinds from enum, name and description", () => {
    expect(readParameters(SEARCH).map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ["city", "place", true],
      ["number_of_rooms", "enum", false],
      ["has_wifi", "boolean", false],
    ]);
  });
});
