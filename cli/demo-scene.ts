/**
 * What the demo's user says and what tools its client has; data only. The client plays the hotel, as any application
 * plays its own back end. Nothing here is known to the product.
 */
import type OpenAI from "openai";

type Tool = OpenAI.Chat.Completions.ChatCompletionFunctionTool;

export const SYSTEM = "You are a helpful assistant. Today is Friday, 2019-03-01.";

/** The argument on which user and policy disagree. */
export const PARAMETER = "number_of_rooms";

/** Values the user may want by default; the demo takes one that the policy does not use by itself. */
export const WANTED = [
  { value: "2", correction: "No, that should be 2 rooms. I always travel with a colleague." },
  { value: "3", correction: "No, that should be 3 rooms. I always travel with two colleagues." },
] as const;

/** The conversation in which the user corrects the policy. */
export const FIRST_REQUEST = "Please reserve a room at the Hyatt Place in Chicago from March 11th, for 3 days.";

/** Asked before, after the lesson, and after the rollback, each time in a conversation of its own. */
export const FRESH_REQUEST = "I want to book the Marriott Marquis in San Diego for 5 days, starting March 8th.";

/** Has nothing to do with hotels and must be answered as before. */
export const UNRELATED_REQUEST = "Can you find me an Italian restaurant in San Jose?";

export const TOOLS: Tool[] = [
  tool("ReserveHotel", "Reserve rooms at a selected place for given dates", ["place_name", "check_in_date", "stay_length", "location"], {
    place_name: text("Name of the hotel"),
    check_in_date: text("Start date for the reservation"),
    stay_length: text("Number of days in the reservation"),
    location: text("Location of the hotel"),
    [PARAMETER]: { ...text("Number of rooms in the reservation"), enum: ["1", "2", "3"], default: "1" },
  }),
  tool("FindRestaurants", "Find restaurants of a particular cuisine in a city", ["cuisine", "city"], {
    cuisine: text("Cuisine of food served in the restaurant"),
    city: text("City in which the restaurant is located"),
    price_range: { ...text("Price range for the restaurant"), enum: ["inexpensive", "moderate", "expensive", "very expensive"] },
  }),
];

/** What the hotel's own system would answer. */
export function reserve(args: Record<string, unknown>): string {
  return JSON.stringify({ status: "confirmed", ...args });
}

function tool(name: string, description: string, required: string[], properties: Record<string, unknown>): Tool {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

function text(description: string): Record<string, unknown> {
  return { type: "string", description };
}
