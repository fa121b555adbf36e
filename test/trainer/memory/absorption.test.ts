/** A note is needless once the policy gives its value without it on the last turns that used it. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import type { TurnFinished } from "../../../shared/events.ts";
import type { Note } from "../../../shared/note.ts";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import type { LoggedTurn } from "../../../trainer/data/exchange.ts";
import type { LineHead } from "../../../shared/policy.ts";
import { createNoteReview, isNeedless, turnsUnder } from "../../../trainer/memory/absorption.ts";
import type { AskPolicy } from "../../../trainer/teacher/lead.ts";
import { CHAT_TEMPLATE } from "../../../trainer/pretrain/chat-template.ts";
import { tokenizerJson, trainBpe } from "../../../trainer/pretrain/bpe.ts";
import { call, result, turn, user } from "../hotel.ts";

const tokenizer = new Tokenizer({
  tokenizer: tokenizerJson(trainBpe(new Map(), 0)),
  config: { chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>", pad_token: "<|pad|>" },
});
const note: Note = {
  ...{
    noteId: "n_1",
    line: "shared",
    user: "u1",
    scope: "user",
    tool: "SearchHotel",
    parameter: "number_of_rooms",
    corrected: null,
    value: "2",
  },
  ...{ text: "number_of_rooms should be 2.", eventId: "s_first/t0/next", turnId: "s_first/t0", uses: 3, lastUsedAt: null },
  ...{ createdAt: "2026-01-01T00:00:00.000Z", learnedBy: 1, absorbedBy: null, status: "inForce" },
};
const under = { notes: [{ noteId: "n_1", text: note.text }] };
let sessions = 0;
/** A hotel asked for in a session of its own. */
function hotels(rooms: string, changes: Partial<TurnFinished> = {}, messages: ChatMessage[] = [user("A hotel in Porto.")]): LoggedTurn {
  sessions += 1;
  return { ...turn(messages, call("SearchHotel", { city: "Porto", number_of_rooms: rooms }), changes), sessionId: `s_${sessions}` };
}
const saying = (rooms: string): number[] => {
  const text = `{"name": "SearchHotel", "arguments": {"city": "Porto", "number_of_rooms": "${rooms}"}}`;
  const [open, close] = ["<tool_call>", "</tool_call>"].map((name) => tokenizer.specialIds.get(name) ?? 0);
  return [open ?? 0, ...tokenizer.encode(text), close ?? 0, tokenizer.eosId];
};

describe("turnsUnder", () => {
  const ids = (turns: readonly LoggedTurn[]): string[] => turns.map(({ turnId }) => turnId);

  it("takes the last three turns that had the note and used its value", () => {
    const used = Array.from({ length: 4 }, () => hotels("2", under));
    const others = [hotels("3", under), hotels("2"), hotels("2", { ...under, learning: false }), turn([user("Hi")], user("Hello"), under)];
    expect(ids(turnsUnder(note, [...used, ...others]))).toEqual(ids(used.slice(1)));
  });

  it("takes none whose value something else told: the user, an offer, an earlier call, the correction's own conversation", () => {
    const asked = [user("A hotel in Porto.")];
    const told = [
      hotels("2", under, [user("A hotel in Porto, number of rooms 2.")]),
      hotels("2", under, [...asked, { role: "assistant", content: "With 2 rooms?" }, user("Yes.")]),
      hotels("2", under, [...asked, call("SearchHotel", { city: "Faro", number_of_rooms: "2" }), result("{}"), user("And in Porto?")]),
      { ...hotels("2", under), sessionId: "s_first" },
    ];
    expect(ids(turnsUnder(note, told))).toEqual([]);
  });

  it("takes one turn of a session", () => {
    const [first, second] = [hotels("2", under), hotels("2", under)];
    expect(ids(turnsUnder(note, [first, { ...second, sessionId: first.sessionId }]))).toEqual([second.turnId]);
  });
});

describe("createNoteReview", () => {
  const SERVED = { onEngine: false, adapter: null, answering: null, defaults: [] };

  it("asks the version that answers for the note's tool", async () => {
    const loaded: unknown[] = [];
    const review = createNoteReview({
      engine: {
        generate: async ({ prompts, adapter }) =>
          prompts.map(() => ({ tokens: Int32Array.from(saying(adapter === undefined ? "1" : "2")), logProbs: new Float32Array(0) })),
        score: async () => ({ logProbs: new Float32Array(0), argmax: new Int32Array(0) }),
        loadAdapter: async () => {},
        dropAdapter: async () => {},
      },
      base: { tokenizer, rowTokens: 1_024 },
      loadAdapter: async ({ adapter }) => (loaded.push(adapter), adapter === null ? null : { rank: 1, alpha: 1, tensors: new Map() }),
    });
    const turns = Array.from({ length: 3 }, () => hotels("2", under));
    const files = (name: string) => ({ configDigest: name, weightsDigest: name, rank: 1, alpha: 1 });
    const version = (number: number, adapter: ReturnType<typeof files> | null) => ({
      line: "shared",
      version: number,
      policyDigest: `v${number}`,
      adapter,
    });
    const head = { ...SERVED, agent: "a", line: "shared", stablePolicyDigest: "v2", adapter: files("stable") };
    const answering = (...tools: string[]) => ({
      outside: version(0, null),
      tools: tools.map((tool) => ({ tool, by: version(1, files("first")) })),
    });
    const reviewed = async (served: object) => review({ ...head, ...served } as unknown as LineHead, { notes: [note], turns });
    // The stable weights would do it; what is served for the tool is the base.
    expect(await reviewed({ answering: answering() })).toEqual([]);
    expect(await reviewed({ answering: answering("FindBus") })).toEqual([]);
    expect(await reviewed({ answering: answering("SearchHotel") })).toEqual([note]);
    expect(await reviewed({ answering: answering("SearchHotel"), onEngine: true })).toEqual([note]);
    // Other arguments than those that were learned about are as without anything learned.
    const learned = { tool: "SearchHotel", parameter: "board", value: "full", corrected: [], before: version(0, null) };
    expect(await reviewed({ answering: answering("SearchHotel"), defaults: [learned] })).toEqual([]);
    expect(loaded).toEqual([null, files("first"), files("stable"), null]);
  });

  it("asks about the same turns under the same version once, whatever other lines are reviewed in between", async () => {
    const asked: string[] = [];
    const review = createNoteReview({
      engine: {
        generate: async ({ prompts }) => prompts.map(() => ({ tokens: Int32Array.from(saying("1")), logProbs: new Float32Array(0) })),
        score: async () => ({ logProbs: new Float32Array(0), argmax: new Int32Array(0) }),
        loadAdapter: async () => {},
        dropAdapter: async () => {},
      },
      base: { tokenizer, rowTokens: 1_024 },
      loadAdapter: async ({ baseDigest }) => (asked.push(baseDigest), null),
    });
    const lines = ["hotels.shared", "trains.shared", "trains.u1"].map((name) => {
      const noteId = `n_${name}`;
      const turns = Array.from({ length: 3 }, () => hotels("2", { notes: [{ noteId, text: note.text }] }));
      const [agent, line] = name.split(".");
      return (stablePolicyDigest: string) =>
        review({ ...SERVED, agent, line, stablePolicyDigest, baseDigest: `${name} ${stablePolicyDigest}` } as unknown as LineHead, {
          notes: [{ ...note, noteId }],
          turns,
        });
    });
    for (let steps = 0; steps < 3; steps += 1) for (const step of lines) expect(await step("v1")).toEqual([]);
    await lines[0]?.("v2");
    expect(asked).toEqual(["hotels.shared v1", "trains.shared v1", "trains.u1 v1", "hotels.shared v2"]);
  });
});

describe("isNeedless", () => {
  it("asks without the note, and wants the value every time", async () => {
    const turns = [hotels("2", under), hotels("2", under)];
    const asked: string[] = [];
    const answering =
      (...rooms: string[]): AskPolicy =>
      async (questions) => {
        asked.push(...questions.map(({ prompt }) => tokenizer.decode([...prompt])));
        return rooms.map(saying);
      };
    expect(await isNeedless(note, turns, { tokenizer, rowTokens: 1_024, ask: answering("2", "2") })).toBe(true);
    expect(await isNeedless(note, turns, { tokenizer, rowTokens: 1_024, ask: answering("2", "1") })).toBe(false);
    expect(asked).toHaveLength(4);
    expect(asked.filter((prompt) => prompt.includes("<note>"))).toEqual([]);
  });

  it("of a choice between two tools, or a wish to be asked, wants just that, and of turns that were held to it", async () => {
    const held = { notes: [{ noteId: "n_1", text: "", held: true as const }] };
    const other: Note = { ...note, parameter: "@tool", value: "FindRoom" };
    const first: Note = { ...note, parameter: "@ask", value: "first" };
    const question: ChatMessage = { role: "assistant", content: "Please confirm: 2 rooms in Porto." };
    const turns = [{ ...turn([user("Two rooms in Porto.")], question, held), sessionId: "s_held" }];
    expect(turnsUnder(first, [...turns, hotels("2", under)])).toEqual(turns);
    const words = (text: string): number[] => [...tokenizer.encode(text), tokenizer.eosId];
    const found = saying("2");
    const needless = (of: Note, answer: readonly number[]): Promise<boolean> =>
      isNeedless(of, turns, { tokenizer, rowTokens: 1_024, ask: async (asked) => asked.map(() => answer) });
    expect(await needless(first, words("Shall I book it in Porto?"))).toBe(true);
    expect(await needless(first, words("I cannot do that."))).toBe(false);
    expect(await needless(first, found)).toBe(false);
    expect(await needless({ ...first, value: "never" }, found)).toBe(true);
    expect(await needless(other, found)).toBe(false);
    expect(await needless(other, words("Which town?"))).toBe(false);
  });
});
