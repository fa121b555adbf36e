/** Notes that an answer passes over, and tools as a call is held to them: real grammars say what they let through. */
import { describe, expect, it } from "vitest";
import type { ToolDefinition } from "../../shared/chat.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { answerMasks } from "../../shared/grammar/answer-masks.ts";
import { holdArguments, passesOver } from "../../shared/held-notes.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { loadBase } from "../../trainer/policy/base.ts";

const { tokenizer, grammars } = loadBase("base");
const TOOL: ToolDefinition = {
  type: "function",
  function: {
    name: "ReserveHotel",
    parameters: {
      type: "object",
      properties: {
        place: { type: "string" },
        rooms: { type: "integer" },
        view: { type: "string", enum: ["sea", "yard"], default: "yard" },
      },
      required: ["place"],
    },
  },
};
const ROOMS = { tool: "ReserveHotel", parameter: "rooms", value: "2", corrected: "1" };
const VIEW = { tool: "ReserveHotel", parameter: "view", value: "sea", corrected: null };

function isPassedOver(note: typeof ROOMS | typeof VIEW, args: Record<string, unknown>, said = "A hotel in Porto."): boolean {
  const heard = { messages: [{ role: "user" as const, content: said }], tools: [TOOL] };
  return passesOver(note, { call: { name: "ReserveHotel", arguments: args }, heard });
}

describe("passesOver", () => {
  it.each([
    { name: "leaves the argument out", note: ROOMS, args: {}, is: true },
    { name: "has what was corrected, made up again", note: ROOMS, args: { rooms: 1 }, is: true },
    { name: "has what was corrected, and somebody said it", note: ROOMS, args: { rooms: 1 }, said: "1 room in Porto.", is: false },
    { name: "has the value", note: ROOMS, args: { rooms: 2 }, is: false },
    { name: "has another one", note: ROOMS, args: { rooms: 3 }, is: false },
    { name: "leaves out what the schema puts there otherwise", note: VIEW, args: {}, is: true },
    { name: "leaves out what the schema puts there anyway", note: { ...VIEW, value: "yard" }, args: {}, is: false },
    { name: "has no such parameter", note: { ...VIEW, parameter: "floor" }, args: {}, is: false },
    { name: "is another tool's", note: { ...VIEW, tool: "SearchHotel" }, args: {}, is: false },
  ])("$is where the call $name", ({ note, args, said, is }) => {
    expect(isPassedOver(note, args, said)).toBe(is);
  });
});

describe("holdArguments", () => {
  const lets = (tools: readonly ToolDefinition[], args: object): boolean => {
    const [open = -1, close = -1] = ["<tool_call>", "</tool_call>"].map((token) => tokenizer.specialIds.get(token));
    const body = tokenizer.encode(spacedJson({ name: "ReserveHotel", arguments: args }));
    return answerMasks(grammars, { tools, form: FREE_FORM, tokens: [open, ...body, close, tokenizer.eosId] }) !== undefined;
  };

  it("lets calls through that have the values, in the schema's own types, and no others", () => {
    const tools = holdArguments([TOOL], [ROOMS, VIEW]);
    expect(lets(tools, { place: "Porto", rooms: 2, view: "sea" })).toBe(true);
    expect([
      lets(tools, { place: "Porto", rooms: 1, view: "sea" }),
      lets(tools, { place: "Porto", rooms: "2", view: "sea" }),
      lets(tools, { place: "Porto", rooms: 2 }),
      lets(tools, { rooms: 2, view: "sea" }),
    ]).toEqual([false, false, false, false]);
    expect(lets([TOOL], { place: "Porto", rooms: 1 })).toBe(true);
  });

  it("leaves a tool as it is whose schema has no place for the value, and other tools", () => {
    for (const note of [
      { ...VIEW, value: "mountains" },
      { ...ROOMS, value: "two" },
      { ...ROOMS, parameter: "floor" },
      { ...ROOMS, tool: "X" },
    ])
      expect(holdArguments([TOOL], [note])).toEqual([TOOL]);
  });
});
