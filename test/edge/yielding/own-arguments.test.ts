/** A call is made by the version that answers for its tool, with no other argument changed than what was learned about. */
import { describe, expect, it } from "vitest";
import { answer, call, HEARD, prepared, ROOMS, tokenizer } from "./scripted-policy.ts";

describe("YieldingAnswer of versions that answer for some tools", () => {
  const OTHER = { line: "shared", version: 3, policyDigest: "3", adapter: null };
  const passing = (script: Parameters<typeof prepared>[1], parts: Parameters<typeof prepared>[0] = {}) =>
    prepared({ ...parts, answering: { outside: OTHER, tools: [] } }, script);

  it("has a call made by the version that answers for its tool, and nothing shown before", async () => {
    const turn = passing((_, version) => call({ rooms: String(version) }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "3"}'], version: 3 });
    expect(turn.asked).toEqual([[7], [3]]);
  });

  it("lets out as it comes what that one says, whatever it is", async () => {
    const words = tokenizer.encode("Which city would you like to stay in?");
    const turn = passing((_, version) => (version === 7 ? call({ rooms: "7" }) : words));
    expect(await answer(turn)).toMatchObject({ tokens: [...words, tokenizer.eosId], calls: [], version: 3 });
  });

  it("keeps words, and a call that words have gone out before", async () => {
    const words = tokenizer.encode("Let me see.");
    const spoken = passing(() => words);
    expect(await answer(spoken)).toMatchObject({ tokens: [...words, tokenizer.eosId], version: 7 });
    const both = passing((_, version) => [...words, ...call({ rooms: String(version) })]);
    expect(await answer(both)).toMatchObject({ calls: ['{"rooms": "7"}'], version: 7 });
    expect([spoken.asked, both.asked]).toEqual([[[7]], [[7]]]);
  });

  it("is decided by the first call alone, and once", async () => {
    const own = { line: "shared", version: 7, policyDigest: "7", adapter: null };
    const string = { type: "string" };
    const weather = {
      type: "function" as const,
      function: { name: "GetWeather", parameters: { type: "object", properties: { city: string } } },
    };
    const heard = { ...HEARD, tools: [...HEARD.tools, weather] };
    const answering = { outside: OTHER, tools: [{ tool: "SearchHotel", by: own }] };
    // Notes keep calls back until they are whole, so that a second one is seen before anything is shown.
    const both = (version: number) => [
      ...call({ city: "Porto", rooms: "2", stars: String(version) }),
      ...call({ city: "Faro" }, "GetWeather"),
    ];
    const two = prepared({ answering, heard, notes: [ROOMS] }, (_, version) => both(version));
    expect(await answer(two)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2", "stars": "7"}', '{"city": "Faro"}'], version: 7 });
    const back = prepared({ answering, heard }, (_, version) =>
      version === 7 ? call({ city: "Faro" }, "GetWeather") : call({ rooms: "3" }),
    );
    expect(await answer(back)).toMatchObject({ calls: ['{"rooms": "3"}'], version: 3 });
    expect(back.asked).toEqual([[7], [3]]);
  });

  it("keeps the notes in its prompt, and is held to them", async () => {
    const turn = passing(
      (_, version, held) => call(held.length > 0 ? { city: "Porto", rooms: "2" } : { city: version === 3 ? "Porto" : "Faro" }),
      {
        notes: [ROOMS],
      },
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2"}'], version: 3, notes: [ROOMS] });
  });

  it("answers by itself where the files of that version are gone", async () => {
    const turn = passing((_, version) => {
      if (version === 3) throw new Error("a stored file expected, got none");
      return call({ rooms: "7" });
    });
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "7"}'], version: 7 });
    expect(turn.asked).toEqual([[7], [3], [7]]);
  });
});

describe("YieldingAnswer of a version that has learned of one argument", () => {
  const version = (number: number) => ({ line: "shared", version: number, policyDigest: String(number), adapter: null });
  const ALL = { ...version(7), policyDigest: "7" };
  const answering = { outside: version(3), tools: [{ tool: "SearchHotel", by: ALL }] };
  const learned = { ...ROOMS, corrected: [], before: version(3) };
  const heard = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto." }] };
  /** The newest says another city, and the one without anything learned no number of rooms. */
  const script = (_: readonly string[], number: number, held: readonly string[]) =>
    call(number === 7 ? { city: "Faro", rooms: "2" } : { city: "Porto", ...(held.includes("rooms") && { rooms: "2" }) });

  it("has all others as without anything learned, and says what it was held to", async () => {
    const turn = prepared({ defaults: [learned], heard, answering }, script);
    const out = await answer(turn);
    expect(out).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2"}'], version: 3 });
    expect(turn.asked).toEqual([[7], [3], [0], [3, "held rooms"]]);
  });

  it("keeps its own where a note is about the tool, or that version's files are gone", async () => {
    const noted = prepared({ defaults: [learned], notes: [ROOMS], heard, answering }, script);
    expect(await answer(noted)).toMatchObject({ calls: ['{"city": "Faro", "rooms": "2"}'], version: 7 });
    // How replies are to be worded is read by no policy, and about no call.
    const worded = { ...ROOMS, noteId: "n_length", parameter: "@length", value: "4" };
    const brief = prepared({ defaults: [learned], notes: [worded], heard, answering }, script);
    expect(await answer(brief)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2"}'], version: 3 });
    const gone = prepared({ defaults: [learned], heard, answering }, (notes, number, held) => {
      if (number === 3) throw new Error("gone");
      return script(notes, number, held);
    });
    expect(await answer(gone)).toMatchObject({ calls: ['{"city": "Faro", "rooms": "2"}'], version: 7 });
  });

  it("has the user asked about the call with those others", async () => {
    const first = { ...ROOMS, noteId: "n_ask", parameter: "@ask", value: "first" };
    const { tokens, calls } = await answer(prepared({ defaults: [learned], notes: [first], heard, answering }, script));
    const question = tokenizer.decode(tokens);
    expect([calls, question.includes("Porto"), question.includes("2"), question.includes("Faro")]).toEqual([[], true, true, false]);
  });

  it("keeps the call that the user was asked about, and agrees to", async () => {
    const question = { role: "assistant" as const, content: "Shall I search a hotel in Faro with 2 rooms?" };
    const agreed = { ...heard, messages: [...heard.messages, question, { role: "user" as const, content: "Yes, please do." }] };
    const turn = prepared({ defaults: [learned], heard: agreed, answering }, script);
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Faro", "rooms": "2"}'], version: 7 });
  });
});

describe("YieldingAnswer after a correction in so many words", () => {
  const made = {
    role: "assistant" as const,
    content: null,
    tool_calls: [{ id: "c1", type: "function" as const, function: { name: "SearchHotel", arguments: '{"city": "Porto", "rooms": "1"}' } }],
  };
  const before = [
    { role: "user" as const, content: "A hotel in Porto." },
    made,
    { role: "tool" as const, content: '[{"name": "Vila Gale"}]', tool_call_id: "c1" },
    { role: "assistant" as const, content: "I found Vila Gale." },
  ];
  const heard = { ...HEARD, messages: [...before, { role: "user" as const, content: "No, rooms should be 3." }] };
  const again = (_: readonly string[], __: number, held: readonly string[]) =>
    call({ city: "Porto", rooms: held.includes("rooms") ? "3" : "1" });

  it("does not make the same mistake again", async () => {
    const turn = prepared({ heard }, again);
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "3"}'], version: 7 });
    expect(turn.asked).toEqual([[7], [7, "held rooms"]]);
  });

  it("puts what was just said before a note that says otherwise", async () => {
    const noted = (_: readonly string[], __: number, held: readonly string[]) =>
      call({ city: "Porto", rooms: held.includes("rooms") ? "3" : "2" });
    expect(await answer(prepared({ heard, notes: [ROOMS] }, noted))).toMatchObject({ calls: ['{"city": "Porto", "rooms": "3"}'] });
  });
});
