/** A note is needless once the policy gives its value without it on the last turns that used it. */
import { describe, expect, it } from "vitest";
import type { Note } from "../../../shared/note.ts";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { isNeedless, turnsUnder } from "../../../trainer/memory/absorption.ts";
import { CHAT_TEMPLATE } from "../../../trainer/pretrain/chat-template.ts";
import { tokenizerJson, trainBpe } from "../../../trainer/pretrain/bpe.ts";
import { call, turn, user } from "../hotel.ts";

const tokenizer = new Tokenizer({
  tokenizer: tokenizerJson(trainBpe(new Map(), 0)),
  config: { chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>", pad_token: "<|pad|>" },
});
const note: Note = {
  ...{ noteId: "n_1", line: "shared", user: "u1", tool: "SearchHotel", parameter: "number_of_rooms", value: "2" },
  ...{ text: "number_of_rooms should be 2.", eventId: "t0/next", turnId: "t0", uses: 3, lastUsedAt: null },
  ...{ createdAt: "2026-01-01T00:00:00.000Z", learnedBy: 1, absorbedBy: null, status: "inForce" },
};
const under = { notes: [{ noteId: "n_1", text: note.text }] };
const hotels = (rooms: string, changes = {}) =>
  turn([user("A hotel in Porto.")], call("SearchHotel", { city: "Porto", number_of_rooms: rooms }), changes);
const saying = (rooms: string): number[] => {
  const text = `{"name": "SearchHotel", "arguments": {"city": "Porto", "number_of_rooms": "${rooms}"}}`;
  const [open, close] = ["<tool_call>", "</tool_call>"].map((name) => tokenizer.specialIds.get(name) ?? 0);
  return [open ?? 0, ...tokenizer.encode(text), close ?? 0, tokenizer.eosId];
};

describe("turnsUnder", () => {
  it("takes the last three turns that had the note and used its value", () => {
    const used = Array.from({ length: 4 }, () => hotels("2", under));
    const others = [hotels("3", under), hotels("2"), hotels("2", { ...under, learning: false }), turn([user("Hi")], user("Hello"), under)];
    expect(turnsUnder(note, [...used, ...others]).map(({ turnId }) => turnId)).toEqual(used.slice(1).map(({ turnId }) => turnId));
  });
});

describe("isNeedless", () => {
  it("asks without the note, and wants the value every time", async () => {
    const turns = [hotels("2", under), hotels("2", under)];
    const asked: string[] = [];
    const answering =
      (...rooms: string[]) =>
      async (prompts: readonly (readonly number[])[]) => {
        asked.push(...prompts.map((prompt) => tokenizer.decode([...prompt])));
        return rooms.map(saying);
      };
    expect(await isNeedless(note, turns, { tokenizer, ask: answering("2", "2") })).toBe(true);
    expect(await isNeedless(note, turns, { tokenizer, ask: answering("2", "1") })).toBe(false);
    expect(asked).toHaveLength(4);
    expect(asked.filter((prompt) => prompt.includes("<note>"))).toEqual([]);
  });
});
