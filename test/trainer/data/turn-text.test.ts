/** Turns without their tokens, read from their text: what the engine must have counted, and what is made of the answer. */
import { describe, expect, it } from "vitest";
import type { TurnFinished } from "../../../shared/events.ts";
import { givenTokens, readOtherwise, statedPrompt } from "../../../trainer/data/turn-text.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { call, TOOLS, turn, user } from "../hotel.ts";

const { tokenizer } = readCheckpoint("base");
const MESSAGES = [user("A hotel in Porto, please.")];
const PROMPT = tokenizer.encodePrompt({ messages: MESSAGES, tools: TOOLS, addGenerationPrompt: true });

function untoldTurn(promptTokens: number, changes: Partial<TurnFinished> = {}): TurnFinished {
  const sampling = { seed: 1, temperature: 1, topP: 1, masked: false };
  const unusable = { reason: "it told none", promptTokens, responseTokens: 9 };
  const rollout = { promptTokens: [], responseTokens: [], rolloutLogProbs: [], sampling, unusable };
  return turn(MESSAGES, call("SearchHotel", { city: "Porto" }), { rollout, ...changes }).payload;
}

const told = (changes: Partial<TurnFinished> = {}): TurnFinished => turn(MESSAGES, call("SearchHotel", { city: "Porto" }), changes).payload;
const other = (payload: TurnFinished) => readOtherwise(tokenizer, payload, statedPrompt(payload));

describe("readOtherwise", () => {
  it("compares the prompt that the template writes with what the engine counted", () => {
    expect(other(untoldTurn(PROMPT.length))).toBeUndefined();
    expect(other(untoldTurn(PROMPT.length + 2))).toEqual({
      code: "turn/template",
      detail: `a prompt of ${PROMPT.length + 2} tokens expected, as its engine read it, and the base's chat template writes one of ${PROMPT.length}`,
    });
  });

  it("has nothing to compare where the engine counts none, told the ids, or read guidance beside the conversation", () => {
    expect(other(untoldTurn(0))).toBeUndefined();
    expect(other(told())).toBeUndefined();
    expect(other(untoldTurn(7, { notes: [{ noteId: "n", text: "number_of_rooms should be 2." }] }))).toBeUndefined();
    expect(other(untoldTurn(7, { agreedTo: "A hotel in Porto?" }))).toBeUndefined();
  });
});

describe("givenTokens", () => {
  it("are those that were sampled, where they are told", () => {
    expect(givenTokens(tokenizer, told())).toEqual([3]);
  });

  it("are those that the template writes of the answer, and end where the answer did", () => {
    const text = (payload: TurnFinished): string => tokenizer.decode(givenTokens(tokenizer, payload) ?? []);
    expect(text(untoldTurn(0))).toBe('<tool_call>{"name": "SearchHotel", "arguments": {"city": "Porto"}}</tool_call><|im_end|>');
    const cut = untoldTurn(0, { answer: { role: "assistant", content: "I found" }, finishReason: "length" });
    expect(text(cut)).toBe("I found");
  });
});
