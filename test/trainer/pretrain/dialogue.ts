/** A small dialogue and its schema in SGD's compact form, written for these tests. */
import { type Dialogue, type Schemas, type Service, VARIANTS } from "../../../trainer/pretrain/sgd.ts";

const CABINS: Service = {
  service_name: "Cabins_1",
  description: "Rent mountain cabins",
  slots: [
    { name: "valley", description: "Valley to stay in", is_categorical: false, possible_values: [] },
    { name: "number_of_beds", description: "Beds needed", is_categorical: true, possible_values: ["1", "2", "3"] },
    { name: "has_stove", description: "Whether there is a stove", is_categorical: true, possible_values: ["True", "False"] },
  ],
  intents: [
    {
      name: "FindCabin",
      description: "Find a cabin",
      is_transactional: false,
      required_slots: ["valley"],
      optional_slots: { number_of_beds: "1", has_stove: "dontcare" },
    },
    {
      name: "BookCabin",
      description: "Book a cabin",
      is_transactional: true,
      required_slots: ["valley", "number_of_beds"],
      optional_slots: {},
    },
  ],
};

const CABINS_V1: Service = {
  ...CABINS,
  service_name: "Cabins_11",
  slots: CABINS.slots.map((slot, index) => ({ ...slot, name: ["where", "bed_count", "stove"][index] ?? slot.name })),
  intents: CABINS.intents.map((intent) => ({
    ...intent,
    name: `${intent.name}Now`,
    required_slots: intent.required_slots.map((name) => ({ valley: "where", number_of_beds: "bed_count" })[name] ?? name),
    optional_slots: renamedSlots(intent.name),
  })),
};

function renamedSlots(intent: string): Record<string, string> {
  return intent === "FindCabin" ? { bed_count: "1", stove: "dontcare" } : {};
}

export const SCHEMAS: Schemas = Object.fromEntries(
  VARIANTS.map((variant) => [variant, new Map([["Cabins_1", variant === "original" ? CABINS : CABINS_V1]])]),
) as Schemas;

export const DIALOGUE: Dialogue = {
  id: "1_00042",
  services: ["Cabins_1"],
  turns: [
    {
      role: "user",
      text: "Find me a cabin in Alder Valley.",
      acts: [
        ["INFORM", "valley", ["Alder Valley"]],
        ["INFORM_INTENT", "intent", ["FindCabin"]],
      ],
    },
    {
      role: "assistant",
      text: "The Owl has one bed.",
      acts: [["OFFER", "number_of_beds", ["1"]]],
      calls: [
        {
          service: "Cabins_1",
          method: "FindCabin",
          parameters: { valley: "Alder Valley", number_of_beds: "1" },
          results: [{ valley: "Alder Valley", number_of_beds: "1" }],
          result_count: 1,
        },
      ],
    },
    {
      role: "user",
      text: "No, I need two beds.",
      acts: [
        ["NEGATE", "", []],
        ["INFORM", "number_of_beds", ["2"]],
      ],
    },
    { role: "assistant", text: "Book it with two beds in Alder Valley?", acts: [["CONFIRM", "number_of_beds", ["2"]]] },
    { role: "user", text: "Yes, please.", acts: [["AFFIRM", "", []]] },
    {
      role: "assistant",
      text: "Booked.",
      acts: [["NOTIFY_SUCCESS", "", []]],
      calls: [
        {
          service: "Cabins_1",
          method: "BookCabin",
          parameters: { valley: "Alder Valley", number_of_beds: "2" },
          results: [],
          result_count: 0,
        },
      ],
    },
    {
      role: "user",
      text: "Thanks, bye.",
      acts: [
        ["THANK_YOU", "", []],
        ["GOODBYE", "", []],
      ],
    },
    { role: "assistant", text: "Goodbye.", acts: [["GOODBYE", "", []]] },
  ],
};
