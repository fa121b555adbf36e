/** What a next state is paired with, and which turns are never trained on. */
import type { ChatMessage } from "../../../shared/chat.ts";
import { describe, expect, it } from "vitest";
import type { Rollout, TurnFinished } from "../../../shared/events.ts";
import { assembleSignal, onBase, untold } from "../../../trainer/data/exchange.ts";
import { EventCache } from "../../../trainer/feed/cache.ts";
import { call, nextState, result, SEARCH, turn, user } from "../hotel.ts";

const ASK = user("A hotel in Porto, please.");
const CALL = call("SearchHotel", { city: "Porto", number_of_rooms: "1" });
const REPLY = { role: "assistant", content: "I found one." } as const;

const UNTOLD: Rollout = {
  ...{ promptTokens: [], responseTokens: [], rolloutLogProbs: [] },
  sampling: { seed: 1, temperature: 1, topP: 1, masked: false },
  unusable: { reason: "it told none", promptTokens: 4, responseTokens: 2 },
};

describe("assembleSignal", () => {
  it("gives a correction the whole exchange: request, call, result and reply", () => {
    const cache = new EventCache(10);
    const called = turn([ASK], CALL);
    const replied = turn([ASK, CALL, result("{}")], REPLY);
    [called, replied].forEach((event) => cache.add(event));
    const assembled = assembleSignal(nextState(replied, [user("No, two rooms.")]), cache);
    expect(assembled).toMatchObject({
      status: "signal",
      signal: { exchange: { answered: [ASK, CALL, result("{}"), REPLY], nextState: [user("No, two rooms.")], tools: [SEARCH] } },
    });
    expect(assembled?.status === "signal" && assembled.signal.turns.map(({ turnId }) => turnId)).toEqual([called.turnId, replied.turnId]);
  });

  it("hears users and tools, and no instructions that a client adds on the way", () => {
    const cache = new EventCache(10);
    const called = turn([ASK], CALL);
    cache.add(called);
    const clock = { role: "system", content: "It is noon." } as const;
    const assembled = assembleSignal(nextState(called, [result("{}"), clock, user("No, two rooms."), clock]), cache);
    expect(assembled).toMatchObject({
      signal: { toolResults: [result("{}")], exchange: { nextState: [user("No, two rooms.")] } },
    });
    const alone = assembleSignal(nextState(called, [result("{}"), clock]), cache);
    expect(alone).toMatchObject({ signal: { toolResults: [result("{}")], exchange: { nextState: [] } } });
  });

  it("leaves out an answer that was regenerated away", () => {
    const cache = new EventCache(10);
    const dropped = turn([ASK], call("SearchHotel", { city: "Porto", number_of_rooms: "3" }, "call_9"));
    const called = turn([ASK], CALL, { origin: "opening" });
    const replied = turn([ASK, CALL, result("{}")], REPLY);
    [dropped, called, replied].forEach((event) => cache.add(event));
    const assembled = assembleSignal(nextState(replied, [user("No, two rooms.")]), cache);
    expect(assembled?.status === "signal" && assembled.signal.turns.map(({ turnId }) => turnId)).toEqual([called.turnId, replied.turnId]);
  });

  it("takes an answer that was asked for once more for any other, once something follows it", () => {
    const cache = new EventCache(10);
    const again = turn([ASK], CALL, { origin: "regeneration" });
    cache.add(again);
    const assembled = assembleSignal(nextState(again, [user("No, two rooms.")]), cache);
    expect(assembled).toMatchObject({ status: "signal", signal: { turns: [again] } });
  });

  it("counts results that come with the user's message to what was answered", () => {
    const cache = new EventCache(10);
    const called = turn([ASK], CALL);
    cache.add(called);
    const assembled = assembleSignal(nextState(called, [result("{}"), user("No, two rooms.")]), cache);
    expect(assembled).toMatchObject({
      status: "signal",
      signal: { toolResults: [result("{}")], exchange: { answered: [ASK, CALL, result("{}")], nextState: [user("No, two rooms.")] } },
    });
  });

  it("starts the exchange at the last user message, not at the conversation's first", () => {
    const cache = new EventCache(10);
    const hello = { role: "assistant", content: "Where?" } as const;
    const called = turn([user("I want to travel."), hello, ASK], CALL);
    cache.add(called);
    const assembled = assembleSignal(nextState(called, [user("Thanks")]), cache);
    expect(assembled?.status === "signal" && assembled.signal.exchange.answered).toEqual([ASK, CALL]);
  });

  it.each<{ name: string; changes: Partial<TurnFinished>; code: string }>([
    { name: "a side turn", changes: { turnKind: "side" }, code: "turn/side" },
    { name: "a turn served while learning was off", changes: { learning: false }, code: "learning/disabled" },
    { name: "an ambiguous session", changes: { origin: "ambiguous" }, code: "turn/ambiguous" },
    { name: "a turn that was not stored", changes: { messages: [] }, code: "turn/notStored" },
    {
      name: "log-probs that do not match the tokens",
      changes: {
        rollout: {
          promptTokens: [1],
          responseTokens: [2, 3],
          rolloutLogProbs: [-1],
          sampling: { seed: 1, temperature: 1, topP: 1, masked: false },
        },
      },
      code: "turn/lengths",
    },
    {
      name: "a turn of an engine that told no tokens, and was not stored",
      changes: { messages: [], rollout: UNTOLD },
      code: "turn/notStored",
    },
  ])("refuses $name", ({ changes, code }) => {
    const cache = new EventCache(10);
    const bad = turn([ASK], CALL, changes);
    cache.add(bad);
    expect(assembleSignal(nextState(bad, [user("No")]), cache)).toMatchObject({ status: "refused", refusal: { code } });
  });

  it("hears what follows a turn whose tokens nobody told, and says so of the turn", () => {
    const cache = new EventCache(10);
    const called = turn([ASK], CALL, { rollout: UNTOLD });
    const replied = turn([ASK, CALL, result("{}")], REPLY, { rollout: UNTOLD });
    [called, replied].forEach((event) => cache.add(event));
    const assembled = assembleSignal(nextState(replied, [user("No, two rooms.")]), cache);
    expect(assembled).toMatchObject({ status: "signal", signal: { turns: [called, replied] } });
    expect(untold(called.payload)).toEqual({ code: "turn/untold", detail: "it told none" });
    expect(untold(turn([ASK], CALL).payload)).toBeUndefined();
  });

  it("refuses a turn of another base than the line's, whose tokens are other words", () => {
    const cache = new EventCache(10);
    const asked = turn([ASK], CALL, { baseDigest: "a" });
    cache.add(asked);
    const assembled = assembleSignal(nextState(asked, [user("No")]), cache);
    if (assembled === undefined) throw new Error("a signal expected");
    expect(onBase(assembled, { baseDigest: "b" })).toMatchObject({ status: "refused", refusal: { code: "turn/otherBase" } });
    expect(onBase(assembled, { baseDigest: "a" })).toBe(assembled);
  });

  it("knows the turn that called where either has lost its beginning, and none that goes on otherwise or was told other instructions", () => {
    const before = [user("Hello"), REPLY];
    const turnsOf = (called: ChatMessage[], replied: ChatMessage[]): number | undefined => {
      const cache = new EventCache(10);
      const [first, second] = [turn(called, CALL), turn([...replied, CALL, result("{}")], REPLY)];
      [first, second].forEach((event) => cache.add(event));
      const assembled = assembleSignal(nextState(second, [user("No, two rooms.")]), cache);
      return assembled?.status === "signal" ? assembled.signal.turns.length : undefined;
    };
    const system: ChatMessage = { role: "system", content: "Be kind." };
    expect(turnsOf([...before, ASK], [ASK])).toBe(2);
    expect(turnsOf([system, ...before, ASK], [system, ASK])).toBe(2);
    expect(turnsOf([ASK], [...before, ASK])).toBe(2);
    expect(turnsOf([system], [system])).toBe(2);
    expect(turnsOf([user("Good evening"), REPLY, ASK], [...before, ASK])).toBe(1);
    expect(turnsOf([system, ASK], [ASK])).toBe(1);
  });

  it("leaves out earlier turns of another base: an agent may move while an exchange lasts", () => {
    const cache = new EventCache(10);
    const called = turn([ASK], CALL, { baseDigest: "a" });
    const replied = turn([ASK, CALL, result("{}")], REPLY, { baseDigest: "b" });
    [called, replied].forEach((event) => cache.add(event));
    const assembled = assembleSignal(nextState(replied, [user("No, two rooms.")]), cache);
    expect(assembled).toMatchObject({ status: "signal", signal: { turns: [replied] } });
  });

  it("refuses a next state whose turn is not in the log", () => {
    expect(assembleSignal(nextState(turn([ASK], CALL), [user("No")]), new EventCache(10))).toMatchObject({
      status: "refused",
      refusal: { code: "turn/unknown" },
    });
  });
});
