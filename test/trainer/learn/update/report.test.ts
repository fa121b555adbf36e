/** What a version says about itself, in words that a person understands. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../../shared/chat.ts";
import { askedWords } from "../../../../trainer/learn/update/report.ts";

const user = (content: string): ChatMessage => ({ role: "user", content });
const agent = (content: string): ChatMessage => ({ role: "assistant", content });

describe("what was asked", () => {
  it("is more than the yes to a question", () => {
    const messages: ChatMessage[] = [
      { role: "system", content: "Be kind." },
      user("A room in Porto."),
      agent("For one night?"),
      user("Yes."),
    ];
    expect(askedWords(messages)).toBe("A room in Porto. … Yes.");
  });

  it("is nothing of before a call, and nothing without a user", () => {
    const call: ChatMessage = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "Book", arguments: "{}" } }],
    };
    const result: ChatMessage = { role: "tool", content: "{}", tool_call_id: "c" };
    const before = [user("A room in Porto."), call, result, agent("Done.")];
    expect(askedWords([...before, user("Two rooms.")])).toBe("Two rooms.");
    expect(askedWords(before.slice(0, 3))).toBe("A room in Porto.");
    expect(askedWords([])).toBe("");
  });
});
