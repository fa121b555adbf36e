/** Which calls are done, and by which words they are asked for again. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { doneCalls, isDone } from "../../../shared/speech/done-calls.ts";

const CALL = { name: "bookTable", arguments: { restaurant: "Aria", seats: 2 } };

function booked({ result = '{"ok": true}', reply = "Aria is booked.", said = "Lovely, I like Aria." } = {}): ChatMessage[] {
  const tool_calls = [{ id: "c1", type: "function" as const, function: { name: CALL.name, arguments: JSON.stringify(CALL.arguments) } }];
  return [
    { role: "user", content: "A table for two at Aria." },
    { role: "assistant", content: null, tool_calls },
    { role: "tool", tool_call_id: "c1", content: result },
    { role: "assistant", content: reply },
    { role: "user", content: said },
  ];
}

describe("doneCalls", () => {
  it.each(["Lovely, I like Aria.", "who cooks there?", "2 is what we are", "My neighbour swears by Aria.", "go ahead"])(
    "has the call that was told of: %s",
    (said) => expect(doneCalls(booked({ said }))).toMatchObject([CALL]),
  );

  it.each([
    "Book it again.",
    "one more table please",
    "another one",
    "Any other tables?",
    "the same for my sister",
    "is it still booked?",
    "try once more",
    "recheck that",
    "what is it now",
    "a table for two at Aria",
    "I said: a table for two, at Aria!",
  ])("has none that is asked for again: %s", (said) => expect(doneCalls(booked({ said }))).toEqual([]));

  it("has none where the tool failed, or the reply asks", () => {
    expect(doneCalls(booked({ result: "Error: timeout" }))).toEqual([]);
    expect(doneCalls(booked({ result: '{"status": "failed"}' }))).toEqual([]);
    expect(doneCalls(booked({ reply: "Aria is full. Shall I wait for a table?", said: "Please." }))).toEqual([]);
    expect(doneCalls(booked({ reply: "Booked. Anything else?" }))).toHaveLength(1);
  });

  it("has none of a turn before, and none while a result is to be told", () => {
    const [asked, called, result, ...rest] = booked();
    expect(doneCalls([asked, called, result] as ChatMessage[])).toEqual([]);
    const later: ChatMessage[] = [
      { role: "assistant", content: "Glad to hear it." },
      { role: "user", content: "A table for two at Aria" },
    ];
    expect(doneCalls([asked, called, result, ...rest, ...later] as ChatMessage[])).toEqual([]);
  });
});

describe("isDone", () => {
  const done = doneCalls(booked());

  it("is of calls that are all the same, argument by argument, in whatever order", () => {
    expect(isDone([{ name: "bookTable", arguments: { seats: 2, restaurant: "Aria" } }], done)).toBe(true);
    expect(isDone([CALL, { ...CALL, arguments: { ...CALL.arguments, seats: 3 } }], done)).toBe(false);
    expect(isDone([{ ...CALL, name: "cancelTable" }], done)).toBe(false);
    expect(isDone([{ ...CALL, arguments: { restaurant: "Aria" } }], done)).toBe(false);
    expect(isDone([], done)).toBe(false);
  });
});
