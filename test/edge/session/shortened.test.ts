/** Which messages are left out of a conversation that does not fit, in how few attempts. */
import { describe, expect, it } from "vitest";
import { shortenedTo } from "../../../edge/session/shortened.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import { AppError } from "../../../shared/errors.ts";

const system: ChatMessage = { role: "system", content: "Be kind." };
const user = (content: string): ChatMessage => ({ role: "user", content });
const assistant = (content: string): ChatMessage => ({ role: "assistant", content });
const call: ChatMessage = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", type: "function", function: { name: "Book", arguments: "{}" } }],
};
const result: ChatMessage = { role: "tool", content: "booked", tool_call_id: "a" };

/** Takes what has at most `most` messages; says how long the rest is where it is to. */
function context(most: number, counted = true) {
  const tried: number[] = [];
  const attempt = async (messages: readonly ChatMessage[]): Promise<readonly ChatMessage[]> => {
    tried.push(messages.length);
    if (messages.length <= most) return messages;
    const code = "context_length_exceeded";
    const details: Record<string, string | number> = counted ? { code, promptTokens: messages.length, contextTokens: most } : { code };
    throw new AppError("input/invalid", "messages: too long", { details });
  };
  return { attempt, tried };
}

describe("a conversation that is shortened", () => {
  it("is left as it is where it fits", async () => {
    const whole = [system, user("a"), assistant("b"), user("c")];
    const { attempt, tried } = context(4);
    expect(await shortenedTo(whole, attempt)).toBe(whole);
    expect(tried).toEqual([4]);
  });

  it("keeps system messages, wherever they stand, and begins with one of the user's", async () => {
    const late: ChatMessage = { role: "system", content: "Be brief." };
    const whole = [system, user("a"), call, result, assistant("b"), late, user("c"), assistant("d"), user("e")];
    for (const counted of [true, false]) {
      expect(await shortenedTo(whole, context(6, counted).attempt)).toEqual([system, late, user("c"), assistant("d"), user("e")]);
      expect(await shortenedTo(whole, context(4, counted).attempt)).toEqual([system, late, user("e")]);
    }
  });

  it("never loses the last message of the user's and what follows it", async () => {
    const whole = [user("a"), assistant("b"), user("c"), call, result];
    expect(await shortenedTo(whole, context(3).attempt)).toEqual([user("c"), call, result]);
    await expect(shortenedTo(whole, context(2).attempt)).rejects.toThrow("messages: too long");
    await expect(shortenedTo([system, user("a")], context(1).attempt)).rejects.toThrow("messages: too long");
  });

  it("is refused at once for anything but its length", async () => {
    const tried: number[] = [];
    const attempt = async (messages: readonly ChatMessage[]): Promise<never> => {
      tried.push(messages.length);
      throw new AppError("policy/busy", "many wait");
    };
    await expect(shortenedTo([user("a"), assistant("b"), user("c")], attempt)).rejects.toThrow("many wait");
    expect(tried).toEqual([3]);
  });

  it("takes few attempts where much has to go, and leaves out no more than has to", async () => {
    const whole = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? user("said") : assistant("told")));
    const { attempt, tried } = context(101);
    const kept = await shortenedTo([...whole, user("last")], attempt);
    expect(kept.length).toBeGreaterThan(96);
    expect(kept.at(-1)).toEqual(user("last"));
    expect(tried.length).toBeLessThan(6);
  });
});
