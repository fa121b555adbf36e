/** One conversation has one chain of digests, however a client writes it down; another's has another. */
import { describe, expect, it } from "vitest";
import { canonicalMessage, chainDigests, extendChain } from "../../../edge/session/transcript.ts";
import type { ChatMessage } from "../../../shared/chat.ts";

const scope = { agent: "assistant", keyId: "k1", user: "u1" };
const hello: ChatMessage = { role: "user", content: "Hello" };
const calling = (text: string, id = "call_1"): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "Book", arguments: text } }],
});

describe("a canonical message", () => {
  it("is one for every way to write the same answer", () => {
    const empty: ChatMessage = { ...calling('{"a":1,"b":2}'), content: "" };
    expect(canonicalMessage(empty)).toBe(canonicalMessage(calling('{ "b": 2, "a": 1 }')));
    expect(canonicalMessage({ role: "assistant", content: " Done.\n" })).toBe(canonicalMessage({ role: "assistant", content: "Done." }));
  });

  it("tells calls apart by id, name and arguments, broken ones too", () => {
    const forms = [calling('{"a":1}'), calling('{"a":2}'), calling('{"a":1}', "call_2"), calling('{"a":'), calling('{"a": ')];
    expect(new Set(forms.map(canonicalMessage)).size).toBe(forms.length);
  });

  it("compares numbers as numbers where a double holds them, and digit by digit where it does not", () => {
    expect(canonicalMessage(calling('{"price":1.50}'))).toBe(canonicalMessage(calling('{"price":1.5}')));
    expect(canonicalMessage(calling('{"id":12345678901234567}'))).not.toBe(canonicalMessage(calling('{"id":12345678901234568}')));
    expect(canonicalMessage(calling('{"id":"-1e999, 12345678901234567"}'))).toBe(
      canonicalMessage(calling('{ "id": "-1e999, 12345678901234567" }')),
    );
  });

  it("keeps what users and tools say to the character", () => {
    expect(canonicalMessage({ role: "user", content: "Hello " })).not.toBe(canonicalMessage(hello));
  });
});

describe("the chain", () => {
  it("of a conversation extends the chain of its beginning", async () => {
    const answer: ChatMessage = { role: "assistant", content: "Hi" };
    const [first, second] = await chainDigests(scope, [hello, answer]);
    expect(await chainDigests(scope, [hello])).toEqual([first]);
    expect(await extendChain(first ?? "", answer)).toBe(second);
  });

  it("of the same words is another for another agent, key or user", async () => {
    const scopes = [scope, { ...scope, agent: "other" }, { ...scope, keyId: "k2" }, { ...scope, user: "u2" }];
    const digests = await Promise.all(scopes.map((each) => chainDigests(each, [hello])));
    expect(new Set(digests.flat()).size).toBe(scopes.length);
  });
});
