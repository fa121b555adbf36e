/** What somebody without tools of their own can try: an agent that reserves tables, and what to say to it. Nothing learns from it. */
import type { ToolDefinition } from "./chat.ts";

export const EXAMPLE_INSTRUCTIONS = "You are a helpful assistant. Today is Friday, 2019-03-01.";

export const RESERVE_TABLE = {
  type: "function",
  function: {
    name: "ReserveRestaurant",
    description: "Reserve a table at a restaurant",
    parameters: {
      type: "object",
      properties: {
        restaurant_name: { type: "string", description: "Name of the restaurant" },
        city: { type: "string", description: "City in which the restaurant is located" },
        time: { type: "string", description: "Time of the reservation" },
        date: { type: "string", description: "Date of the reservation", default: "2019-03-01" },
        party_size: {
          type: "string",
          description: "Party size for the reservation",
          enum: ["1", "2", "3", "4", "5", "6"],
          default: "2",
        },
      },
      required: ["restaurant_name", "city", "time"],
    },
  },
} satisfies ToolDefinition;

export const GET_WEATHER = {
  type: "function",
  function: {
    name: "GetWeather",
    description: "Get the weather of a certain location on a date",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string", description: "Name of the city" },
        date: { type: "string", description: "Date for the weather", default: "2019-03-01" },
      },
      required: ["city"],
    },
  },
} satisfies ToolDefinition;

/** What to say to it, in this order; `yes` is for what it asks back. */
export const EXAMPLE_WORDS = {
  request: "Please reserve a table at Olive Garden in San Jose at 7 pm.",
  yes: "Yes, that is right.",
  correction: "No, the party size should be 4. I always eat with my family.",
  again: "I want to reserve a table at Sushi Confidential in Campbell at 7:30 pm.",
} as const;
