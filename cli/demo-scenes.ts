/**
 * What the demo's user may talk about, and the tools that the client then has. The client plays the back
 * end, as any application plays its own. Nothing of it is known to the policy. The shipped base is small, so the demo
 * takes the first scene in which it makes the call by itself.
 */
import type OpenAI from "openai";
import { z } from "zod";
import { EXAMPLE_INSTRUCTIONS, EXAMPLE_WORDS, GET_WEATHER, RESERVE_TABLE } from "../shared/example.ts";

export type Tool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;

export type Scene = {
  name: string;
  /** The tool that the user's requests are about, then one that the unrelated request is about. */
  tools: readonly [Tool, Tool];
  /** The argument on which user and policy disagree. */
  parameter: string;
  /** What the user may want of it; the demo takes one that the policy does not use by itself. */
  wishes: readonly Wish[];
  /** The request whose answer is corrected. */
  first: string;
  /** Asked before the lesson, after it, and after the rollback, each time in a conversation of its own. */
  fresh: string;
  /** Arguments that the two requests state, in whatever case: a call without them has misread what it was asked. */
  states: { readonly first: Arguments; readonly fresh: Arguments };
  /** Must be answered as before. */
  unrelated: string;
};

type Arguments = Readonly<Record<string, string>>;

export type Wish = { value: string; correction: string };

export const SYSTEM = EXAMPLE_INSTRUCTIONS;

/** What the user says to a question, such as whether the details are right. */
export const YES = EXAMPLE_WORDS.yes;

const hotel = tool(
  "ReserveHotel",
  "Reserve rooms at a selected place for given dates",
  ["place_name", "check_in_date", "stay_length", "location"],
  {
    place_name: text("Name of the hotel"),
    check_in_date: text("Start date for the reservation"),
    stay_length: text("Number of days in the reservation"),
    location: text("Location of the hotel"),
    number_of_rooms: { ...text("Number of rooms in the reservation"), enum: ["1", "2", "3"], default: "1" },
  },
);

const bus = tool("FindBus", "Find a bus from one city to another", ["from_location", "to_location", "leaving_date"], {
  from_location: text("City where the bus is leaving from"),
  to_location: text("City where the bus is going to"),
  leaving_date: text("Date of the journey"),
  travelers: { ...text("Number of travelers"), enum: ["1", "2", "3", "4", "5"], default: "1" },
});

const restaurants = tool("FindRestaurants", "Find restaurants of a particular cuisine in a city", ["cuisine", "city"], {
  cuisine: text("Cuisine of food served in the restaurant"),
  city: text("City in which the restaurant is located"),
  price_range: { ...text("Price range for the restaurant"), enum: ["inexpensive", "moderate", "expensive", "very expensive"] },
});

export const SCENES: readonly Scene[] = [
  {
    name: "a hotel",
    tools: [hotel, restaurants],
    parameter: "number_of_rooms",
    wishes: [
      { value: "2", correction: "No, the number of rooms should be 2. I always travel with a colleague." },
      { value: "3", correction: "No, the number of rooms should be 3. I always travel with two colleagues." },
    ],
    first: "Please reserve a room at the Hyatt Place in Chicago from March 11th, for 3 days.",
    fresh: "I want to book the Marriott Marquis in San Diego for 5 days, starting March 8th.",
    states: {
      first: { place_name: "Hyatt Place", location: "Chicago", stay_length: "3" },
      fresh: { place_name: "Marriott Marquis", location: "San Diego", stay_length: "5" },
    },
    unrelated: "Can you find me an Italian restaurant in San Jose?",
  },
  {
    name: "a table",
    tools: [RESERVE_TABLE, GET_WEATHER],
    parameter: "party_size",
    wishes: [
      { value: "4", correction: EXAMPLE_WORDS.correction },
      { value: "5", correction: "No, the party size should be 5. I always eat with my family." },
    ],
    first: EXAMPLE_WORDS.request,
    fresh: EXAMPLE_WORDS.again,
    states: {
      first: { restaurant_name: "Olive Garden", city: "San Jose" },
      fresh: { restaurant_name: "Sushi Confidential", city: "Campbell" },
    },
    unrelated: "What will the weather be like in San Francisco?",
  },
  {
    name: "a bus",
    tools: [bus, GET_WEATHER],
    parameter: "travelers",
    wishes: [
      { value: "2", correction: "No, the number of travelers should be 2. I never travel alone." },
      { value: "3", correction: "No, the number of travelers should be 3. I never travel alone." },
    ],
    first: "I need a bus from San Diego to Fresno on March 8th.",
    fresh: "Can you find me a bus from Los Angeles to San Francisco on the 5th of March?",
    states: {
      first: { from_location: "San Diego", to_location: "Fresno" },
      fresh: { from_location: "Los Angeles", to_location: "San Francisco" },
    },
    unrelated: "What will the weather be like in Berkeley?",
  },
  {
    name: "a restaurant",
    tools: [restaurants, GET_WEATHER],
    parameter: "price_range",
    wishes: [
      { value: "inexpensive", correction: "No, the price range should be inexpensive. I always look for something cheap." },
      { value: "moderate", correction: "No, the price range should be moderate." },
    ],
    first: "Can you find me an Italian restaurant in San Jose?",
    fresh: "Find me a Mexican place to eat in Oakland.",
    states: { first: { cuisine: "Italian", city: "San Jose" }, fresh: { cuisine: "Mexican", city: "Oakland" } },
    unrelated: "What will the weather be like in Berkeley?",
  },
];

const ToolParameters = z.object({
  required: z.array(z.string()),
  properties: z.record(z.string(), z.object({ default: z.unknown().optional() })),
});

/** Whether a call has what its tool requires and what the request states, and for the argument in question nothing but the default. */
export function isRightlyRead(
  call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> } | undefined,
  { tools: [tool], parameter, states }: Scene,
  request: "first" | "fresh",
): boolean {
  if (call === undefined) return false;
  const { name, args } = call;
  const { required, properties } = ToolParameters.parse(tool.function.parameters);
  const value = args[parameter];
  return (
    name === tool.function.name &&
    required.every((each) => args[each] !== undefined) &&
    Object.entries(states[request]).every(([each, stated]) => String(args[each]).toLowerCase() === stated.toLowerCase()) &&
    (value === undefined || value === properties[parameter]?.default)
  );
}

/** What the application behind the tool would answer to a call with these arguments, as the policy wrote them. */
export function runTool(args: string): string {
  try {
    return JSON.stringify({ count: 1, results: [JSON.parse(args)] });
  } catch {
    return JSON.stringify({ status: "error", message: "the arguments are not JSON" });
  }
}

function tool(name: string, description: string, required: string[], properties: Record<string, unknown>): Tool {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

function text(description: string): Record<string, unknown> {
  return { type: "string", description };
}
