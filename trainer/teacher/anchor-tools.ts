/**
 * Everyday tools that stand for all that an agent's log does not show. An update that is tried on the agent's own tools
 * alone keeps those and loses others: what it must leave alone is asked of these as well.
 */
import type { ToolDefinition } from "../../shared/chat.ts";

/** Description, then the values allowed where they are few. A name with `?` is optional. */
type Properties = Readonly<Record<string, string | readonly [string, ...string[]]>>;

const SPECS: readonly (readonly [name: string, description: string, properties: Properties])[] = [
  [
    "SetAlarm",
    "Set an alarm on the phone",
    { time: "Time at which it rings", "label?": "What it is for", "repeat_daily?": ["Ring every day", "True", "False"] },
  ],
  [
    "convert_currency",
    "Convert an amount of money",
    { amount: "How much to convert", source_currency: "Currency it is in", target_currency: "Currency wanted" },
  ],
  [
    "TrackParcel",
    "Find out where a parcel is",
    { tracking_code: "Code on the receipt", "carrier?": ["Who delivers it", "Post", "Courier", "Freight"] },
  ],
  [
    "order_pizza",
    "Order a pizza for delivery",
    { pizza_name: "Pizza on the menu", address: "Where to deliver", "pizza_size?": ["Size of the pizza", "Small", "Medium", "Large"] },
  ],
  [
    "BookHaircut",
    "Make an appointment with a hairdresser",
    { salon_name: "Name of the salon", appointment_date: "Day of the visit", appointment_time: "Time of the visit" },
  ],
  [
    "find_recipe",
    "Look for a recipe",
    { ingredient: "Main ingredient", "vegetarian?": ["Without meat", "True", "False"], "servings?": "Number of people" },
  ],
  [
    "TranslateText",
    "Translate a text",
    { text: "Text to translate", target_language: ["Language wanted", "Dutch", "Finnish", "Korean", "Swahili"] },
  ],
  ["dim_lights", "Change the brightness of the lights", { room: "Room in the house", level: ["Brightness", "low", "middle", "high"] }],
  [
    "ScheduleMeeting",
    "Put a meeting into the calendar",
    { topic: "What it is about", meeting_date: "Day of the meeting", "number_of_guests?": "How many are invited" },
  ],
  ["renew_loan", "Renew a book of the library", { book_title: "Title of the book", "weeks?": ["For how long", "1", "2", "4"] }],
  [
    "ReportFault",
    "Report something broken",
    { object_name: "What is broken", place: "Where it is", "urgent?": ["Whether it cannot wait", "True", "False"] },
  ],
  [
    "find_parking",
    "Find a place to park",
    { city: "City to park in", "covered?": ["Under a roof", "True", "False"], "arrival_time?": "When the car comes" },
  ],
  ["RequestRefund", "Ask for money back", { order_code: "Code of the order", reason: ["Why", "damaged", "late", "unwanted"] }],
  [
    "create_ticket",
    "Open a ticket for the support team",
    { title: "Title of the ticket", "priority?": ["How soon it matters", "low", "normal", "high"] },
  ],
  ["LogWorkout", "Write down some exercise", { activity: "Kind of exercise", minutes: "How many minutes it took" }],
  [
    "search_files",
    "Search the files of a project",
    { query: "What to look for", "folder?": "Folder to look in", "limit?": "Number of results" },
  ],
  [
    "RentBike",
    "Rent a bike",
    { station: "Station to start from", bike_type: ["Kind of bike", "City", "Cargo", "Electric"], "number_of_days?": "Days it is needed" },
  ],
  [
    "adopt_plan",
    "Change the phone plan",
    { plan_name: "Name of the plan", start_date: "First day", "roaming?": ["Use abroad", "True", "False"] },
  ],
  ["FindDoctor", "Find a doctor nearby", { speciality: ["Field", "Skin", "Eyes", "Heart", "Teeth"], city: "City to look in" }],
  ["water_plants", "Switch the watering on", { garden_zone: "Part of the garden", duration: "How many minutes" }],
  ["BuyStamps", "Buy stamps", { quantity: "How many", destination_country: "Where the letters go" }],
  ["play_podcast", "Play an episode", { podcast_name: "Name of the podcast", "speed?": ["How fast", "slow", "normal", "fast"] }],
  [
    "InviteFriend",
    "Send an invitation",
    { guest_name: "Name of the guest", event_name: "What they are invited to", "plus_one?": ["May bring someone", "True", "False"] },
  ],
  [
    "list_invoices",
    "List the invoices of a customer",
    { customer_name: "Name of the customer", "paid?": ["Paid already", "True", "False"], "year?": "Year of the invoices" },
  ],
];

export const ANCHOR_TOOLS: readonly ToolDefinition[] = SPECS.map(([name, description, properties]) => {
  const entries = Object.entries(properties).map(([key, about]) => {
    const [text, ...allowed] = typeof about === "string" ? [about] : about;
    return {
      name: key.replace("?", ""),
      required: !key.endsWith("?"),
      schema: { type: "string", description: text, ...(allowed.length > 0 ? { enum: allowed } : {}) },
    };
  });
  const parameters = {
    type: "object",
    properties: Object.fromEntries(entries.map((each) => [each.name, each.schema])),
    required: entries.filter(({ required }) => required).map((each) => each.name),
  };
  return { type: "function", function: { name, description, parameters } };
});
