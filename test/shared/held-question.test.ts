/** Questions with what was learned in the place of what was made up. */
import { describe, expect, it } from "vitest";
import { heldQuestion } from "../../shared/held-question.ts";

const string = { type: "string" };
const TABLE = {
  type: "function" as const,
  function: {
    name: "ReserveTable",
    parameters: {
      type: "object",
      properties: { party_size: string, seating: { type: "string", enum: ["indoor", "outdoor"] }, pets: { type: "boolean" } },
    },
  },
};
const PARTY = { tool: "ReserveTable", parameter: "party_size", value: "4", corrected: ["2"] };
const SEATING = { tool: "ReserveTable", parameter: "seating", value: "outdoor", corrected: [] };
const asked = (text: string, learned = PARTY as typeof PARTY | typeof SEATING, said = "A table at Aria, please."): string | undefined =>
  heldQuestion(learned, { text, heard: { messages: [{ role: "user", content: said }], tools: [TABLE] } })?.text;

describe("heldQuestion", () => {
  it("has the default where a number was made up that was corrected, as a figure or a word", () => {
    expect(asked("Please confirm a table for 2 at Aria at 7 pm on March 1st.")).toBe(
      "Please confirm a table for 4 at Aria at 7 pm on March 1st.",
    );
    expect(asked("A table for two at Aria, right?")).toBe("A table for 4 at Aria, right?");
    expect(asked("Please confirm: 2 people, March 2nd, 2 pm, 2:30 or 12. Right?")).toBe(
      "Please confirm: 4 people, March 2nd, 2 pm, 2:30 or 12. Right?",
    );
  });

  it("has another option of the schema's", () => {
    expect(asked("An indoor table, is that right?", SEATING)).toBe("An outdoor table, is that right?");
  });

  it("is none where nothing is asked, nothing was made up, or the default stands there already", () => {
    expect(asked("I booked a table for 2.")).toBeUndefined();
    expect(asked("A table for 3, right?")).toBeUndefined();
    expect(asked("A table for 4 at 2 pm, right?")).toBeUndefined();
    expect(asked("At 2 pm, right?")).toBeUndefined();
    expect(asked("At 14:02 on 2019-03-02, right?")).toBeUndefined();
  });

  it("is none where the user has said so, or may have meant it", () => {
    expect(asked("A table for 2, right?", PARTY, "A table for two at Aria.")).toBeUndefined();
    expect(asked("A table for 2, right?", PARTY, "A table for my wife and me.")).toBeUndefined();
    expect(asked("An indoor table, right?", SEATING, "Indoor, please.")).toBeUndefined();
  });

  it("is none where a tool has told it: what was found is so", () => {
    const messages = [
      { role: "user" as const, content: "Which tables are there?" },
      { role: "tool" as const, tool_call_id: "c", content: '{"tables": [{"seats": 2}]}' },
      { role: "user" as const, content: "That one, please." },
    ];
    expect(heldQuestion(PARTY, { text: "It has 2 seats. Is that right?", heard: { messages, tools: [TABLE] } })).toBeUndefined();
  });

  it("is none where it cannot be told which of two it is", () => {
    expect(asked("A table for 2 and 2 high chairs, right?")).toBeUndefined();
    expect(asked("For 2, right?", { ...PARTY, value: "many" } as typeof PARTY)).toBe("For many, right?");
    expect(heldQuestion(PARTY, { text: "For 2, right?", heard: { messages: [], tools: [] } })).toBeUndefined();
  });
});
