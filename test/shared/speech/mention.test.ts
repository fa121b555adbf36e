/** When words mention a value. */
import { describe, expect, it } from "vitest";
import { mentions, parametersNamed, toolsNamed } from "../../../shared/speech/mention.ts";
import { humanise, readParameters } from "../../../shared/speech/parameters.ts";
import { SEARCH } from "../../trainer/hotel.ts";

function parameter(name: string): ReturnType<typeof readParameters>[number] {
  const found = readParameters(SEARCH).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no parameter ${name}`);
  return found;
}

describe("toolsNamed", () => {
  it.each(["FindASong", "find_a_song", "findASong"])("hears %s by the words that it is made of", (name) => {
    const tool = { ...SEARCH, function: { ...SEARCH.function, name } };
    expect(toolsNamed("No, use find a song for that.", [tool])).toEqual([tool]);
    expect(toolsNamed("Find songs.", [tool])).toEqual([]);
  });

  it("reads abbreviations as words", () => {
    expect(["getHTTPStatus", "isUSCitizen", "HTTPGet"].map(humanise)).toEqual(["get http status", "is us citizen", "http get"]);
  });
});

describe("parametersNamed", () => {
  const parameters = ["reminder minutes", "duration minutes", "pickup city", "pickup date", "assignee"].map((words) => ({ words }));

  it.each([
    ["Remind me 30 minutes before.", ["reminder minutes"]],
    ["It takes 30 minutes.", ["reminder minutes", "duration minutes"]],
    ["The pickup city is wrong.", ["pickup city"]],
    ["The pickup is wrong.", ["pickup city", "pickup date"]],
    ["The pickup date and the pickup city, please.", ["pickup city", "pickup date"]],
    ["Assign it to Dana.", ["assignee"]],
    ["Remind me.", ["reminder minutes"]],
    ["No, thanks.", []],
  ])("%s", (said, named) => expect(parametersNamed(said, parameters).map(({ words }) => words)).toEqual(named));
});

describe("mentions", () => {
  it.each([
    { text: "No, I need 2 rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "No, I need two rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "No, I need 12 rooms", name: "number_of_rooms", value: "2", said: false },
    { text: "It should be -2", name: "number_of_rooms", value: "2", said: false },
    { text: "It should be -2", name: "number_of_rooms", value: "-2", said: true },
    { text: "-2 rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "Of 1-2 rooms", name: "number_of_rooms", value: "2", said: true },
    { text: "From 2019-03-05 on", name: "number_of_rooms", value: "-3", said: false },
    { text: "Somewhere in San Jose.", name: "city", value: "San Jose", said: true },
    { text: "Somewhere in San Diego.", name: "city", value: "San Jose", said: false },
    { text: "Make it March 5th", name: "city", value: "2019-03-05", said: true },
    { text: "the 5th of March, please", name: "city", value: "2019-03-05", said: true },
    { text: "around 2:30 pm", name: "city", value: "14:30", said: true },
    { text: "around 2:30 am", name: "city", value: "14:30", said: false },
    { text: "at 2 in the afternoon", name: "city", value: "14:00", said: true },
    { text: "at 2 in the morning", name: "city", value: "14:00", said: false },
    { text: "at two in the afternoon", name: "city", value: "14:00", said: true },
    { text: "this evening at 6 would do", name: "city", value: "18:00", said: true },
    { text: "this evening, 6 people", name: "city", value: "18:00", said: false },
    { text: "half past six in the evening, please", name: "city", value: "18:30", said: true },
    { text: "half past 6 pm", name: "city", value: "18:30", said: true },
    { text: "half past 6 pm", name: "city", value: "06:30", said: false },
    { text: "at a quarter to 12 in the morning", name: "city", value: "11:45", said: true },
    { text: "around noon", name: "city", value: "12:00", said: true },
    { text: "No, at 2:30 pm", name: "number_of_rooms", value: "2", said: false },
    { text: "No, at 2 pm, or 2pm", name: "number_of_rooms", value: "2", said: false },
    { text: "from March 2nd, the 2nd of March, March 2", name: "number_of_rooms", value: "2", said: false },
    { text: "1,500 dollars", name: "number_of_rooms", value: "1", said: false },
    { text: "1,500 dollars", name: "number_of_rooms", value: "1500", said: true },
    { text: "2.5 of them", name: "number_of_rooms", value: "2", said: false },
    { text: "I said 2.", name: "number_of_rooms", value: "2", said: true },
    { text: "at 9am", name: "city", value: "09:00", said: true },
    { text: "It must have wifi!", name: "has_wifi", value: "True", said: true },
    { text: "A hotel in Porto", name: "has_wifi", value: "False", said: false },
    { text: "It must have a pool!", name: "has_wifi", value: "True", said: false },
  ])("finds that $text says $value for $name: $said", ({ text, name, value, said }) => {
    expect(mentions(text, { parameter: parameter(name), value })).toBe(said);
  });
});
