/** Corrections that name no argument: which one is meant, where the words can be read in one way only. */
import { describe, expect, it } from "vitest";
import { heardCorrection } from "../../../shared/correction/heard.ts";
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";

const text = { type: "string" };
const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "lend_bike",
    parameters: {
      type: "object",
      properties: {
        rider: { ...text, description: "Who rides it" },
        postcode: { ...text, description: "Number of the area" },
        gear: { ...text, enum: ["city", "gravel", "cargo"] },
        days: { type: "integer", description: "Days that it is lent for" },
        meters_above: { type: "integer", description: "Height of the saddle" },
        helmet: { type: "boolean", description: "Whether a helmet is lent, too" },
        pickup_time: { ...text, description: "Time, HH:MM" },
      },
    },
  },
};

const lent = (args: object, result: object = { ok: true }): ChatMessage[] => [
  { role: "user", content: "A bike for Ada, please." },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "lend_bike", arguments: JSON.stringify(args) } }],
  },
  { role: "tool", tool_call_id: "c", content: JSON.stringify(result) },
  { role: "assistant", content: "It is lent." },
];

const heard = (
  said: string,
  { args = { rider: "Ada", gear: "city" }, result }: { args?: object; result?: object } = {},
): string | undefined => {
  const found = heardCorrection({ messages: [...lent(args, result), { role: "user", content: said }], tools: [TOOL] });
  return found && `${found.parameter} = ${found.value}`;
};

describe("heardCorrection of what names no argument", () => {
  it.each([
    ["No, cargo.", "gear = cargo"],
    ["Gravel, not city!", "gear = gravel"],
    ["I was hoping for a gravel one.", "gear = gravel"],
    ["That's wrong, we only ever ride cargo.", "gear = cargo"],
    ["Please lend it with a helmet.", "helmet = True"],
    ["From now on at 7:30, please.", "pickup_time = 07:30"],
    ["The pick-up time should be 7:30.", "pickup_time = 07:30"],
  ])("hears what only one of them can have: %s", (said, correction) => {
    expect(heard(said)).toBe(correction);
  });

  it("hears a number of the argument that has a number, or whose own the words put beside it", () => {
    const args = { rider: "Ada", postcode: "A-12", days: 3, meters_above: 5 };
    expect(heard("No, it should be 4, not 3.", { args })).toBe("days = 4");
    expect(heard("No, 4.", { args })).toBeUndefined();
    expect(heard("7, not 5 please", { args: { rider: "Ada" }, result: { ok: true, meters_above: 5 } })).toBe("meters_above = 7");
  });

  it.each([
    "Cargo bikes are heavy.",
    "Was cargo cheaper?",
    "And now a cargo one for Bob.",
    "No, cargo or gravel.",
    "Wrong, I was on a gravel bike.",
  ])("hears nothing in %s", (said) => expect(heard(said)).toBeUndefined());
});
