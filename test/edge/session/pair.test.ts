/** Which turn a request follows, and with what, on conversations drawn as lists of letters. */
import { describe, expect, it } from "vitest";
import { pair, type AnsweredTurn } from "../../../edge/session/pair.ts";
import type { ChatMessage } from "../../../shared/chat.ts";

// Lower-case letters are users', upper-case ones answers, digits tool results; a prefix stands for its own digest.
const message = (letter: string): ChatMessage => {
  if (/\d/.test(letter)) return { role: "tool", content: letter, tool_call_id: letter };
  return letter === letter.toUpperCase() ? { role: "assistant", content: letter } : { role: "user", content: letter };
};
const incoming = (conversation: string, follows?: string) => {
  const letters = conversation.split("");
  const last = letters.findLast((letter) => message(letter).role === "assistant");
  const digests = letters.map((_, index) => conversation.slice(0, index + 1));
  return { messages: letters.map(message), digests, lastAnswerDigest: last, follows };
};
/** A turn that answered all but the last letter with it; `next` is the conversation that followed. */
const turn = (conversation: string, next: string | null = null): AnsweredTurn => ({
  turnId: conversation,
  transcriptDigest: conversation.slice(0, -1),
  answerDigest: conversation,
  messageDigest: conversation.slice(-1),
  nextDigest: next,
});

describe("a request", () => {
  const cases: [
    claim: string,
    conversation: string,
    turns: AnsweredTurn[],
    origin: string,
    nextState: [turnId: string, next: string] | undefined,
  ][] = [
    ["opens an empty session", "a", [], "opening", undefined],
    ["opens an empty session with a history from elsewhere", "aXb", [], "opening", undefined],
    ["continues an answer with what the user says", "aBc", [turn("aB")], "continuation", ["aB", "c"]],
    ["continues calls with all their results", "aB12", [turn("aB")], "continuation", ["aB", "12"]],
    ["continues results with what the user says after them", "aB12Cd", [turn("aB", "aB12"), turn("aB12C")], "continuation", ["aB12C", "d"]],
    ["asks again for an answer that was given", "aBc", [turn("aB", "aBc"), turn("aBcD")], "regeneration", undefined],
    ["asks again for the opening's answer", "a", [turn("aB")], "regeneration", undefined],
    ["asks again where no answer came: it is the continuation still", "aBc", [turn("aB", "aBc")], "continuation", undefined],
    ["follows an answer with something else than before", "aBx", [turn("aB", "aBc"), turn("aBcD")], "branch", undefined],
    ["edits an answer", "aYc", [turn("aB", "aBc"), turn("aBcD")], "branch", undefined],
    ["edits the opening and keeps the newest answer", "xBc", [turn("aB")], "branch", ["aB", "c"]],
    ["edits the opening and keeps an older answer", "xBc", [turn("aB", "aBc"), turn("aBcD")], "branch", undefined],
    ["follows the second of two answers", "aCd", [turn("aB", "aBd"), turn("aC")], "continuation", ["aC", "d"]],
    ["comes without history in a session that has one", "x", [turn("aB")], "branch", undefined],
  ];

  it.for(cases)("%s", ([, conversation, turns, origin, nextState]) => {
    const [turnId, next] = nextState ?? [];
    const expected = turnId === undefined ? undefined : { turnId, messages: (next ?? "").split("").map(message) };
    expect(pair(incoming(conversation), turns)).toEqual({ origin, nextState: expected });
  });

  it("follows the answer that it names, whatever stands before it, though a newer one says the same", () => {
    const turns = [turn("aB"), turn("aBdB")];
    const nextState = { turnId: "aB", messages: [message("c")] };
    expect(pair(incoming("xBc", "aB"), turns)).toEqual({ origin: "continuation", nextState });
  });

  it("names an answer once: what comes the second time is no signal", () => {
    const turns = [turn("aB", "aBc"), turn("aBcD")];
    expect(pair(incoming("xBx", "aB"), turns)).toEqual({ origin: "branch", nextState: undefined });
  });
});
