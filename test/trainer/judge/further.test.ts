/** What one message corrects beside the first thing: parts that are corrections by themselves, and all that is none. */
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../../shared/chat.ts";
import { assembleSignal, type Signal } from "../../../trainer/data/exchange.ts";
import { EventCache } from "../../../trainer/feed/cache.ts";
import { withFurther } from "../../../trainer/judge/further.ts";
import type { HeardHint } from "../../../trainer/judge/judge.ts";
import { correctionsIn } from "../../../trainer/judge/parts.ts";
import { call, nextState, turn, user } from "../hotel.ts";

const oneOf = (...values: string[]): object => ({ type: "string", enum: values });
const COUNT = { type: "integer" };
const TRUTH = { type: "boolean" };

function tool(name: string, properties: Record<string, object>): ToolDefinition {
  return { type: "function", function: { name, description: "", parameters: { type: "object", properties, required: [] } } };
}

const HOUSE = tool("rent_house", {
  town: { type: "string", description: "Town of the house" },
  arrival_date: { type: "string", description: "YYYY-MM-DD" },
  arrival_time: { type: "string", description: "HH:MM" },
  weeks: COUNT,
  warmth: { type: "integer", description: "Degrees Celsius" },
  bedrooms: COUNT,
  bathrooms: COUNT,
  heating: oneOf("gas", "wood", "none"),
  view: oneOf("sea", "garden", "sea and garden"),
  place_in_queue: oneOf("first", "second"),
  pool: TRUTH,
  late_checkout: TRUTH,
});
const BOAT = tool("book_boat", { harbour: { type: "string" }, bedrooms: COUNT });
const MADE = call("rent_house", {
  ...{ town: "Skagen", arrival_date: "2019-03-05", arrival_time: "15:00", weeks: 1, bedrooms: 1 },
  ...{ heating: "gas", view: "garden", pool: false, late_checkout: true },
});

function saying(words: string, asked = "A house in Skagen, please."): Signal {
  const cache = new EventCache(10);
  const made = turn([user(asked)], MADE, { tools: [HOUSE, BOAT] });
  cache.add(made);
  const assembled = assembleSignal(nextState(made, [user(words)]), cache);
  if (assembled?.status !== "signal") throw new Error("a signal expected");
  return assembled.signal;
}

function hintOf(parameter: string, value: string): HeardHint {
  return { text: `${parameter} should be ${value}.`, hint: { parameter, value }, toolName: "rent_house" };
}

function partsSay(words: string): string[] {
  return correctionsIn(saying(words)).map(({ hint: { parameter, value } }) => `${parameter} ${value}`);
}

describe("the parts of a message", () => {
  it.each([
    ["No, make it 2 bedrooms, and with a pool.", ["bedrooms 2", "pool True"]],
    ["No, 2 bedrooms for 3 weeks.", ["bedrooms 2", "weeks 3"]],
    ["No, I need two bedrooms and three weeks.", ["bedrooms 2", "weeks 3"]],
    ["The bedrooms should be 2, the weeks 2.", ["bedrooms 2", "weeks 2"]],
    ["That's wrong: the number of bedrooms should be 3 and the view should be sea.", ["bedrooms 3", "view sea"]],
    ["Wood heating, and a sea view please", ["heating wood", "view sea"]],
    ["I always want wood, three bedrooms, pool included.", ["heating wood", "bedrooms 3", "pool True"]],
    ["The town should be Bergen, not Skagen, and no late checkout.", ["town Bergen", "late_checkout False"]],
    ["The town should be Bergen. We arrive at 6 pm.", ["town Bergen"]],
    ["At 6 pm, please, and 2 bathrooms.", ["arrival_time 18:00", "bathrooms 2"]],
    ["2 bedrooms instead of 1, wood rather than gas.", ["bedrooms 2", "heating wood"]],
    ["Could I have 2 bedrooms and a pool?", ["bedrooms 2", "pool True"]],
    ["A view of sea and garden, 2 weeks.", ["view sea and garden", "weeks 2"]],
    ["Second place in the queue, and a pool.", ["place_in_queue second", "pool True"]],
    ["Wood heating and 21 degrees", ["heating wood", "warmth 21"]],
  ])("are heard one by one: %s", (words, expected) => {
    expect(partsSay(words)).toEqual(expected);
  });

  it.each([
    ["a reason", "No, 2 bedrooms, because my 3 weeks of rest are holy.", ["bedrooms 2"]],
    ["a number of other things", "No, 2 bedrooms, since my 3 kids come along.", ["bedrooms 2"]],
    ["a new request", "No, 2 bedrooms. And book a boat with 3 bedrooms.", ["bedrooms 2"]],
    ["the same request once more", "Wood, please. Rent me a house with a pool, too.", ["heating wood"]],
    ["what comes after a new request", "Wood, please, and then book a boat, 3 bedrooms.", ["heating wood"]],
    ["a value that is refused", "No, 2 bedrooms, not 2 weeks.", ["bedrooms 2"]],
    ["what is refused together", "I don't want 3 weeks and 2 bedrooms, wood.", ["heating wood"]],
    ["what was not wrong", "Wood, please. The pool looks good.", ["heating wood"]],
    ["what somebody else likes", "Wood, please. My wife likes the pool.", ["heating wood"]],
    ["a question", "Wood, please. Is there a pool?", ["heating wood"]],
    ["a question without a verb", "Wood, please. 2 bedrooms?", ["heating wood"]],
    ["what was", "Wood, please. The pool was cold last year.", ["heating wood"]],
    ["what is meant this once", "Wood from now on, and just this once a pool.", ["heating wood"]],
    ["the same number twice", "2 bedrooms. I said 2, didn't I?", ["bedrooms 2"]],
    ["two numbers that nobody can tell apart", "Wood, and 2 or 3 bedrooms.", ["heating wood"]],
    ["two values for one", "Wood, 2 bedrooms, well, 3 bedrooms.", ["heating wood"]],
    ["a number beside nothing", "Wood, 3 please.", ["heating wood"]],
    ["a name that its topic stands in", "Wood, Town Hall.", ["heating wood"]],
    ["a name beside nothing", "Wood. I told you on Friday, Bob.", ["heating wood"]],
    ["which of several is spoken of", "Wood. The first one.", ["heating wood"]],
    ["what the call had", "Wood, one bedroom, the garden view.", ["heating wood"]],
    ["other words", "Nice weather in Skagen, isn't it?", []],
  ])("say nothing by %s", (_, words, expected) => {
    expect(partsSay(words)).toEqual(expected);
  });
});

describe("withFurther", () => {
  const all = ({ hint, further = [] }: ReturnType<typeof withFurther>): (string | undefined)[] => [
    hint?.text,
    ...further.map(({ text }) => text),
  ];

  it("adds what else is said to what was heard first, three at most", () => {
    const said = saying("No, 2 bedrooms, 3 weeks, wood, a sea view and a pool.");
    expect(all(withFurther({ hint: hintOf("weeks", "3") }, said))).toEqual([
      "weeks should be 3.",
      "bedrooms should be 2.",
      "heating should be wood.",
      "view should be sea.",
    ]);
  });

  it("hears one where there is one, and none where none was heard", () => {
    expect(withFurther({ hint: hintOf("heating", "wood") }, saying("Wood, please."))).toEqual({ hint: hintOf("heating", "wood") });
    expect(withFurther({}, saying("Wood, and 2 bedrooms."))).toEqual({});
  });

  it("believes a part that names its parameter, not what was heard across parts", () => {
    expect(all(withFurther({ hint: hintOf("weeks", "2") }, saying("No, 2 bedrooms and 3 weeks.")))).toEqual([
      "weeks should be 3.",
      "bedrooms should be 2.",
    ]);
    expect(all(withFurther({ hint: hintOf("bedrooms", "3") }, saying("Wood, since my 3 kids are cold.")))).toEqual([
      "heating should be wood.",
    ]);
    expect(all(withFurther({ hint: hintOf("pool", "True") }, saying("We come along with the pool noodles.")))).toEqual([
      "pool should be True.",
    ]);
  });

  it("leaves out what the user had said before the call, and what belongs to a tool that is not to be called", () => {
    const asked = "A house in Skagen with 2 bedrooms, please.";
    const said = "Wood, and 2 bedrooms.";
    expect(all(withFurther({ hint: hintOf("heating", "wood") }, saying(said, asked)))).toEqual(["heating should be wood."]);
    const instead: HeardHint = {
      text: "Call book_boat in place of rent_house.",
      hint: { parameter: "@tool", value: "book_boat" },
      toolName: "rent_house",
    };
    expect(all(withFurther({ hint: instead }, saying("Use book boat, and 2 bedrooms.")))).toEqual([instead.text]);
  });
});
