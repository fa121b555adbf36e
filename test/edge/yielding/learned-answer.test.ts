/** What a version has learned yields to what was said, and is held where its weights pass over it. */
import { describe, expect, it } from "vitest";
import { spacedJson } from "../../../shared/spaced-json.ts";
import type { Heard } from "../../../shared/yielding.ts";
import { YieldingAnswer } from "../../../edge/yielding/yielding-answer.ts";
import type { ServedDefault } from "../../../shared/policy.ts";
import { answer, call, HEARD, prepared, ROOMS, STARS, text, tokenizer } from "./scripted-policy.ts";

describe("YieldingAnswer of a version that has learned", () => {
  const learned = (parameter: string, value: string, version: number, corrected: string[] = []): ServedDefault => {
    const before = { line: "shared", version, policyDigest: String(version), adapter: null };
    return { tool: "SearchHotel", parameter, value, corrected, before };
  };
  const [STARS_4, ROOMS_2] = [learned("stars", "4", 5), learned("rooms", "2", 3)];

  it("asks nobody else about a call that has what was said in the place of its defaults", async () => {
    const turn = prepared({ defaults: [STARS_4, ROOMS_2] }, () => call({ rooms: "1", stars: "5" }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "1", "stars": "5"}'], version: 7 });
    expect(turn.asked).toEqual([[7]]);
  });

  it("yields under a hold to what was said: what the later version called is not held of the one before", async () => {
    const heard = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto with 5 stars." }] };
    const note = { ...ROOMS, text: "rooms should be 2." };
    const turn = prepared({ notes: [note], defaults: [STARS_4], heard }, (_, version, held) =>
      call({ city: "Porto", stars: version === 7 ? "4" : "5", ...(held.includes("rooms") && { rooms: "2" }) }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "stars": "5", "rooms": "2"}'], version: 5 });
  });

  it("is held to what it passes over, also in the answer of a version before it", async () => {
    const passed = prepared({ defaults: [STARS_4] }, (_, __, held) =>
      call({ city: "Porto", ...(held.includes("stars") && { stars: "4" }) }),
    );
    expect(await answer(passed)).toMatchObject({ calls: ['{"city": "Porto", "stars": "4"}'], version: 7 });
    expect(passed.asked).toEqual([[7], [5], [0], [7, "held stars"]]);
    const yielded = prepared({ defaults: [STARS_4, ROOMS_2] }, (_, version, held) =>
      call({ rooms: version === 7 ? "2" : "1", ...((version === 7 || held.includes("stars")) && { stars: "4" }) }),
    );
    expect(await answer(yielded)).toMatchObject({ calls: ['{"rooms": "1", "stars": "4"}'], version: 3 });
  });

  it("asks each version before and the base once, whatever is held then", async () => {
    const turn = prepared({ defaults: [STARS_4, ROOMS_2] }, (_, version, held) =>
      call({ city: "Porto", ...(version === 7 && { rooms: "2" }), ...(held.includes("stars") && { stars: "4" }) }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2", "stars": "4"}'] });
    expect(turn.asked).toEqual([[7], [3], [0], [5], [7, "held stars"]]);
  });

  it("is not held where another call of the answer has what was said: a hold is on all calls of a tool", async () => {
    const turn = prepared({ defaults: [STARS_4] }, (_, __, held) =>
      held.length > 0 ? [...call({ stars: "4" }), ...call({ stars: "4" })] : [...call({ city: "Faro" }), ...call({ stars: "5" })],
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Faro"}', '{"stars": "5"}'] });
    const note = prepared({ notes: [STARS] }, (_, __, held) =>
      held.length > 0 ? [...call({ stars: "4" }), ...call({ stars: "4" })] : [...call({ city: "Faro" }), ...call({ stars: "5" })],
    );
    expect(await answer(note)).toMatchObject({ calls: ['{"city": "Faro"}', '{"stars": "5"}'] });
  });

  it("is not held to what a note is about, which stands or has yielded", async () => {
    const own = { ...ROOMS, value: "3", text: "rooms should be 3." };
    const stands = prepared({ notes: [own], defaults: [ROOMS_2] }, (notes) =>
      call({ city: "Porto", ...(notes.includes("rooms") && { rooms: "3" }) }),
    );
    expect(await answer(stands)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "3"}'], notes: [own] });
    const yielded = prepared({ notes: [own], defaults: [ROOMS_2] }, (notes) => call({ rooms: notes.includes("rooms") ? "3" : "1" }));
    expect(await answer(yielded)).toMatchObject({ calls: ['{"rooms": "1"}'], notes: [] });
  });

  it("lets a default stand that fills what nobody has said, or what the policy had made up", async () => {
    const silent = prepared({ defaults: [ROOMS_2] }, (_, version) => call(version === 7 ? { rooms: "2" } : { city: "Porto" }));
    expect(await answer(silent)).toMatchObject({ calls: ['{"rooms": "2"}'], version: 7 });
    expect(silent.asked).toEqual([[7], [3], [0]]);
    const madeUp = prepared({ defaults: [learned("rooms", "2", 3, ["1"])] }, (_, version) => call({ rooms: version === 7 ? "2" : "1" }));
    expect(await answer(madeUp)).toMatchObject({ calls: ['{"rooms": "2"}'], version: 7 });
  });

  it("answers as the version before where that says what was said, and tries the older defaults on it", async () => {
    const turn = prepared({ defaults: [STARS_4, ROOMS_2] }, (_, version) =>
      call({ rooms: version > 3 ? "2" : "1", stars: version > 5 ? "4" : "5" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "1", "stars": "5"}'], version: 3 });
    expect(turn.asked).toEqual([[7], [5], [3]]);
  });

  it("is held to what the base hears, where an update has led the version before astray", async () => {
    const turn = prepared({ defaults: [ROOMS_2] }, (_, version, held) =>
      call({ city: "Porto", ...(version === 7 ? { rooms: held.length > 0 ? "1" : "2" } : version === 0 ? { rooms: "1" } : {}) }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "1"}'], version: 7 });
    expect(turn.asked).toEqual([[7], [3], [0], [7, "held rooms"]]);
  });

  it("takes the note of the same default for no word of the user", async () => {
    const script = (said: object) => (notes: readonly string[], version: number) =>
      call(notes.includes("rooms") || version === 7 ? { rooms: "2" } : said);
    const silent = prepared({ notes: [ROOMS], defaults: [ROOMS_2] }, script({ city: "Porto" }));
    expect(await answer(silent)).toMatchObject({ calls: ['{"rooms": "2"}'], notes: [ROOMS], version: 7 });
    expect(silent.asked).toEqual([[7, "rooms"], [3], [0]]);
    const stated = prepared({ notes: [ROOMS], defaults: [ROOMS_2] }, script({ rooms: "1" }));
    expect(await answer(stated)).toMatchObject({ calls: ['{"rooms": "1"}'], notes: [], version: 3 });
  });

  it("does not let what everybody's version has learned overrule the user's own note", async () => {
    const own = { ...ROOMS, text: "rooms should be 3." };
    const turn = prepared({ notes: [own], defaults: [ROOMS_2] }, (notes, version) =>
      call(notes.includes("rooms") ? { rooms: "3" } : version === 7 ? { rooms: "2" } : { city: "Porto" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "3"}'], notes: [own], version: 7 });
  });

  it("keeps its answer where the version before cannot be asked, and gives up with its reader", async () => {
    const gone = (signal?: AbortController) =>
      prepared({ defaults: [ROOMS_2] }, (_, version) => {
        if (version === 7) return call({ rooms: "2" });
        signal?.abort();
        throw new Error("a stored file expected, got none");
      });
    expect(await answer(gone())).toMatchObject({ calls: ['{"rooms": "2"}'], version: 7 });
    const reader = new AbortController();
    await expect(answer(gone(reader), reader.signal)).rejects.toThrow("a stored file expected");
  });

  const textOf = async (turn: ReturnType<typeof prepared>) => tokenizer.decode((await answer(turn)).tokens.slice(0, -1));
  const replied: Heard = {
    ...HEARD,
    messages: [
      { role: "user", content: "Hotels in Porto?" },
      { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", function: { name: "SearchHotel", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c", content: '["Aria"]' },
    ],
  };

  it("replies as the version before does, worded so, where it garbles its words", async () => {
    const named = learned("@name", "Captain Lindqvist", 6);
    const note = { noteId: "n", text: "", tool: "SearchHotel", parameter: "@name", value: "Captain Lindqvist", corrected: null };
    const replying = (own: string, before = "I found Aria.") =>
      prepared({ defaults: [named], notes: [note], heard: replied }, (_, version) => tokenizer.encode(version === 7 ? own : before));
    const garbled = replying("Captain Lindqvist, captain Lindiraira.");
    expect(await textOf(garbled)).toBe("Captain Lindqvist, I found Aria.");
    expect(garbled.asked).toEqual([
      [7, "@name"],
      [6, "@name"],
      [6, "@name", "held @name"],
    ]);
    const worse = replying("Captain Lindqvist, capulqvist found Aria.", "Firairaira vondelparkzi, Aria.");
    expect(await textOf(worse)).toBe("Captain Lindqvist, capulqvist found Aria.");
    const fine = replying("Captain Lindqvist, there is Aria.");
    expect(await textOf(fine)).toBe("Captain Lindqvist, there is Aria.");
    expect(fine.asked).toEqual([[7, "@name"]]);
  });

  const ROOMS_FOR_1 = learned("rooms", "2", 3, ["1"]);
  const SILENT = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto, please." }] };
  const asking = (made: object, question = "Please confirm: rooms 1 in Porto. Is that right?", heard: Heard = SILENT) =>
    prepared({ defaults: [ROOMS_FOR_1], heard }, (_, __, held) => (held.length > 0 ? call(made) : tokenizer.encode(question)));

  it("asks for what it has learned in the place of what it made up", async () => {
    const turn = asking({ rooms: "2", city: "Porto" });
    expect(await textOf(turn)).toBe("Please confirm: rooms 2 in Porto. Is that right?");
    expect(turn.asked).toEqual([[7], [7, "held rooms"], [7, "held rooms"]]);
  });

  it("asks as it would where the user said so, where another argument has it, and where it asks nothing of the kind", async () => {
    const said = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto with 1 room." }] };
    const question = "Please confirm: rooms 1 in Porto. Is that right?";
    expect(await textOf(asking({ rooms: "2" }, question, said))).toBe(question);
    expect(await textOf(asking({ rooms: "2", stars: "1" }, question))).toBe(question);
    expect(await textOf(asking({}, "Which city?"))).toBe("Which city?");
    expect(await textOf(asking({}, "I found 1 hotel."))).toBe("I found 1 hotel.");
  });

  it("replies to what tools have found as it comes", async () => {
    const found = { role: "tool" as const, tool_call_id: "c", content: "[]" };
    const turn = asking({ rooms: "2" }, "I found a hotel with rooms 1. Is that right?", {
      ...SILENT,
      messages: [...SILENT.messages, found],
    });
    expect(await textOf(turn)).toBe("I found a hotel with rooms 1. Is that right?");
    expect(turn.asked).toEqual([[7]]);
  });

  it("lets what is longer than a question out as it comes", async () => {
    const turn = asking({}, "One moment, please. ".repeat(40));
    const kinds: number[] = [];
    let tokens = 0;
    for await (const step of new YieldingAnswer(turn.turn, new AbortController().signal).steps()) {
      if (step.kind === "token") kinds.push((tokens += 1));
      if (tokens === 97) break;
    }
    expect(kinds).toHaveLength(97);
    expect(turn.asked).toEqual([[7]]);
  });

  it("asks so many versions and no more, and keeps to what it has by then", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, text]));
    const tools = [{ type: "function" as const, function: { name: "SearchHotel", parameters: { type: "object", properties } } }];
    const all = Object.fromEntries(names.map((name) => [name, "x"]));
    const turn = prepared(
      { defaults: names.map((name, index) => learned(name, "x", index + 10)), heard: { ...HEARD, tools } },
      (_, version) => call(version === 7 ? all : version === 0 ? { ...all, city: "Porto" } : { city: "Porto" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: [spacedJson(all)], version: 7 });
    expect(turn.asked).toHaveLength(24);
  });

  it("holds no call back that nothing is a default for", async () => {
    const turn = prepared({ defaults: [{ ...ROOMS_2, tool: "ReserveHotel" }] }, () => call({ rooms: "2" }));
    const steps = new YieldingAnswer(turn.turn, new AbortController().signal).steps();
    const kinds: string[] = [];
    for await (const step of steps) {
      kinds.push(step.kind);
      if (step.kind === "token" && step.deltas.some((delta) => delta.kind === "call:opened")) break;
    }
    expect(kinds.length).toBeLessThan(call({ rooms: "2" }).length);
    expect(turn.asked).toEqual([[7]]);
  });
});
