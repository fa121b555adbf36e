/** A note that is overruled is left out before a call goes out, and one that is passed over is held; text goes out as it comes. */
import { describe, expect, it } from "vitest";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { YieldingAnswer } from "../../../edge/yielding/yielding-answer.ts";
import type { Asked, YieldingCompletion } from "../../../edge/yielding/yielding-turn.ts";
import type { CompletionStep } from "../../../edge/policy/completion.ts";
import type { Policy } from "../../../edge/policy/policy.ts";
import { answer, call, closeId, HEARD, openId, prepared, ROOMS, STARS, tokenizer } from "./scripted-policy.ts";

describe("YieldingAnswer under notes", () => {
  it("asks once where there are no notes, and once for a reply under notes", async () => {
    const plain = prepared({}, () => call({ rooms: "1" }));
    expect(await answer(plain)).toMatchObject({ calls: ['{"rooms": "1"}'], notes: [] });
    const reply = prepared({ notes: [ROOMS] }, () => tokenizer.encode("How many stars?"));
    expect(await answer(reply)).toMatchObject({ tokens: [...tokenizer.encode("How many stars?"), tokenizer.eosId], notes: [ROOMS] });
    expect([plain.asked, reply.asked]).toEqual([[[7]], [[7, "rooms"]]]);
  });

  it("waits for a call that words follow", async () => {
    const words = tokenizer.encode("Is that right?");
    const turn = prepared({ notes: [ROOMS] }, (notes) => [...call({ rooms: notes.length > 0 ? "2" : "1" }), ...words]);
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "1"}'], notes: [] });
  });

  it("lets a note stand that fills what nobody has said", async () => {
    const turn = prepared({ notes: [ROOMS] }, (notes) => call(notes.length > 0 ? { rooms: "2", city: "Porto" } : { city: "Porto" }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "2", "city": "Porto"}'], notes: [ROOMS] });
    expect(turn.asked).toEqual([[7, "rooms"], [7]]);
  });

  it("lets nothing else stand that the policy fills only where it reads notes", async () => {
    const turn = prepared({ notes: [ROOMS] }, (notes, _, held) =>
      call(
        held.length > 0 ? { city: "Porto", rooms: "2" } : notes.length > 0 ? { city: "Porto", stars: "5", rooms: "2" } : { city: "Porto" },
      ),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2"}'] });
    expect(turn.asked).toEqual([[7, "rooms"], [7], [7, "held rooms"]]);
    const stubborn = prepared({ notes: [ROOMS] }, (notes, _, held) =>
      call(held.length > 0 ? { city: "Porto" } : notes.length > 0 ? { stars: "5", rooms: "2" } : { city: "Porto" }),
    );
    expect(await answer(stubborn)).toMatchObject({ calls: ['{"stars": "5", "rooms": "2"}'], notes: [ROOMS] });
  });

  it("has other arguments as without a note that changes nothing of its own", async () => {
    const turn = prepared({ notes: [ROOMS] }, (notes) =>
      call(notes.length > 0 ? { city: "Faro", rooms: "3" } : { city: "Porto", stars: "5", rooms: "3" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "stars": "5", "rooms": "3"}'], notes: [] });
    expect(turn.asked).toEqual([[7, "rooms"], [7]]);
  });

  it("holds the policy's own call where it fills a note's argument, only in reading it, with what it has for another one", async () => {
    const city = { ...ROOMS, noteId: "n_city", text: "city should be Faro.", parameter: "city", value: "Faro" };
    const heard = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel by Siza, 4 stars." }] };
    const turn = prepared({ notes: [city], heard }, (notes, _, held) =>
      call(held.length > 0 ? { stars: "Siza", city: "Faro" } : notes.length > 0 ? { city: "Siza" } : { stars: "Siza" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"stars": "Siza", "city": "Faro"}'] });
    expect(turn.asked).toEqual([[7, "city"], [7], [7, "held city"]]);
  });

  it("holds a second note that stands and is passed over to the policy's own call, too", async () => {
    const quiet = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto." }] };
    const turn = prepared({ notes: [ROOMS, STARS], heard: quiet }, (notes, _, held) =>
      call({
        ...(held.length > 0 || notes.length === 0 ? { city: "Porto" } : { city: "Porto", floor: "3" }),
        ...((notes.length > 0 || held.includes("rooms")) && { rooms: "2" }),
        ...(held.includes("stars") && { stars: "4" }),
      }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2", "stars": "4"}'] });
  });

  it("answers without a note that is overruled, and is recorded as answered so", async () => {
    const turn = prepared({ notes: [ROOMS] }, (notes) => call(notes.length > 0 ? { rooms: "2" } : { city: "Porto", rooms: "1" }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "1"}'], notes: [] });
  });

  it("keeps the others in the prompt, and asks again under them", async () => {
    const turn = prepared({ notes: [ROOMS, STARS] }, (notes) =>
      call({ ...(notes.includes("stars") ? { stars: "4" } : {}), rooms: notes.includes("rooms") ? "2" : "1" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"stars": "4", "rooms": "1"}'], notes: [STARS] });
    expect(turn.asked).toEqual([[7, "rooms", "stars"], [7], [7, "stars"]]);
  });

  it("keeps what a client has seen: words before a call go out at once, and the call with them", async () => {
    const turn = prepared({ notes: [ROOMS] }, () => [...tokenizer.encode("One moment."), ...call({ rooms: "2" })]);
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "2"}'], notes: [ROOMS] });
    expect(turn.asked).toEqual([[7, "rooms"]]);
  });
});

describe("YieldingAnswer under notes that are about another tool", () => {
  it("lets the call out that is made without them, and its words where none is", async () => {
    const turn = prepared({ notes: [ROOMS, STARS] }, (notes) => call({ city: notes.length > 0 ? "Faro" : "Porto" }, "GetWeather"));
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto"}'], notes: [] });
    expect(turn.asked).toEqual([[7, "rooms", "stars"], [7]]);
    const words = prepared({ notes: [ROOMS] }, (notes) => (notes.length > 0 ? call({}, "GetWeather") : tokenizer.encode("Where?")));
    expect(await answer(words)).toMatchObject({ calls: [], notes: [] });
  });

  it("makes no call again that was made before, only because they are read", async () => {
    const made = { id: "c", type: "function" as const, function: { name: "SearchHotel", arguments: '{"city": "Porto"}' } };
    const after = (said: string) => ({
      ...HEARD,
      messages: [
        { role: "user" as const, content: "A hotel in Porto." },
        { role: "assistant" as const, content: null, tool_calls: [made] },
        { role: "tool" as const, content: "{}", tool_call_id: "c" },
        { role: "user" as const, content: said },
      ],
    });
    const under = (heard: ReturnType<typeof after>, without: number[], args: object = { city: "Porto", rooms: "2" }) =>
      answer(prepared({ notes: [ROOMS], heard }, (notes) => (notes.length > 0 ? call(args) : without)));
    const words = tokenizer.encode("Shall I book it?");
    expect(await under(after("Book it."), words)).toMatchObject({ calls: [], notes: [] });
    const again = { calls: ['{"city": "Porto", "rooms": "2"}'], notes: [ROOMS] };
    expect(await under(after("1 room, please."), words, { city: "Porto", rooms: "1" })).toMatchObject({ calls: [] });
    expect(await under(after("Book it."), call({ city: "Porto", rooms: "1" }))).toMatchObject(again);
    expect(await under(after("In Faro."), words, { city: "Faro", rooms: "2" })).toMatchObject({ notes: [ROOMS] });
  });

  it("makes none where one of another tool is due without them, or asked about", async () => {
    const booking = call({ city: "Porto" }, "BookHotel");
    const under = (own: number[], next: number[]) =>
      prepared({ notes: [ROOMS] }, (notes, _, __, agreed) => (notes.length > 0 ? call({ rooms: "2" }) : agreed ? next : own));
    expect(await answer(under(booking, []))).toMatchObject({ calls: ['{"city": "Porto"}'], notes: [] });
    const confirm = tokenizer.encode("Please confirm: a hotel in Porto?");
    const [other, same] = [under(confirm, booking), under(confirm, call({ rooms: "2" }))];
    expect(await answer(other)).toMatchObject({ tokens: [...confirm, tokenizer.eosId], notes: [] });
    expect(other.asked).toEqual([[7, "rooms"], [7], [7, "agreed"]]);
    expect(await answer(same)).toMatchObject({ calls: ['{"rooms": "2"}'], notes: [ROOMS] });
  });

  it("keeps to the call where one of theirs is due without them", async () => {
    const turn = prepared({ notes: [ROOMS] }, (notes) => (notes.length > 0 ? call({ city: "Faro" }, "GetWeather") : call({ rooms: "1" })));
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Faro"}'], notes: [ROOMS] });
  });
});

describe("YieldingAnswer under notes that are passed over", () => {
  it("holds the call to them, and asks no more than that", async () => {
    const turn = prepared({ notes: [ROOMS, STARS] }, (_, __, held) => call({ stars: "4", ...(held.includes("rooms") && { rooms: "2" }) }));
    expect(await answer(turn)).toMatchObject({ calls: ['{"stars": "4", "rooms": "2"}'], notes: [ROOMS, STARS] });
    expect(turn.asked).toEqual([[7, "rooms", "stars"], [7], [7, "rooms", "stars", "held rooms"]]);
  });

  it("holds another number than theirs that comes of reading them, and none that the policy fills by itself or that somebody has said", async () => {
    const under = (rooms: string, without: object) =>
      answer(
        prepared({ notes: [ROOMS] }, (notes, _, held) =>
          call({ ...without, ...(held.length > 0 ? { rooms: "2" } : notes.length > 0 && { rooms }) }),
        ),
      );
    expect(await under("9", { city: "Porto" })).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2"}'] });
    expect(await under("9", { rooms: "8" })).toMatchObject({ calls: ['{"rooms": "9"}'] });
    expect(await under("3", { city: "Porto" })).toMatchObject({ calls: ['{"city": "Porto", "rooms": "3"}'] });
  });

  it("holds what was made up again, and not what somebody has said", async () => {
    const made = { ...ROOMS, corrected: "7" };
    const again = prepared({ notes: [made] }, (_, __, held) => call({ rooms: held.length > 0 ? "2" : "7" }));
    expect(await answer(again)).toMatchObject({ calls: ['{"rooms": "2"}'] });
    const said = prepared({ notes: [{ ...ROOMS, corrected: "3" }] }, (_, __, held) => call({ rooms: held.length > 0 ? "2" : "3" }));
    expect(await answer(said)).toMatchObject({ calls: ['{"rooms": "3"}'] });
    expect(said.asked).toEqual([[7, "rooms"], [7]]);
  });

  const FIRST = { ...ROOMS, noteId: "n_ask", parameter: "@ask", value: "first" };
  const said = ({ tokens }: { tokens: number[] }): string => tokenizer.decode(tokens.slice(0, -1));

  describe("and want a call made unasked", () => {
    const NEVER = { ...ROOMS, noteId: "n_unasked", parameter: "@ask", value: "never" };
    const question = tokenizer.encode("5 stars, 3 rooms. Is that right?");
    const made = async (agreed: object, direct: object) => {
      const turn = prepared({ notes: [NEVER] }, (_, __, held, isAgreed) =>
        held.length === 0 ? question : call(isAgreed ? agreed : direct),
      );
      return { ...(await answer(turn)), asked: turn.asked.slice(1) };
    };
    const [AGREED, DIRECT] = [
      [7, "@ask", "held @ask", "agreed"],
      [7, "@ask", "held @ask"],
    ];

    it("make the one that the question told of, if users have said all of it", async () => {
      expect(await made({ stars: "5", rooms: "3" }, { rooms: "1" })).toMatchObject({
        calls: ['{"stars": "5", "rooms": "3"}'],
        asked: [AGREED],
      });
    });

    it("else the one that is made without the question, if that can stand", async () => {
      const unsaid = { stars: "5", rooms: "3", city: "Is" };
      expect(await made(unsaid, { rooms: "3" })).toMatchObject({ calls: ['{"rooms": "3"}'], asked: [AGREED, DIRECT] });
      expect(await made(unsaid, { city: "Rome" })).toMatchObject({ calls: [JSON.stringify(unsaid).replaceAll(/([:,])/g, "$1 ")] });
    });

    it("stay as they were looked at where other notes hold them: what those change is theirs alone", async () => {
      const extras = { type: "array", items: { type: "string" } };
      const properties = { stars: { type: "string" }, rooms: { type: "string" }, extras };
      const tools = [{ type: "function" as const, function: { name: "SearchHotel", parameters: { type: "object", properties } } }];
      const heard = { messages: [{ role: "user" as const, content: "5 stars, with pool and wifi." }], tools };
      const [pool, spa] = [
        { stars: "5", extras: ["pool"] },
        { stars: "5", extras: ["spa"] },
      ];
      const turn = (later: object) =>
        prepared({ notes: [NEVER, ROOMS], heard }, (_, __, held) =>
          held.length === 0
            ? tokenizer.encode("5 stars with pool. Is that right?")
            : call(held.includes("rooms") ? { ...later, rooms: "2" } : pool),
        );
      const kept = turn(pool);
      expect(await answer(kept)).toMatchObject({ calls: ['{"stars": "5", "extras": ["pool"], "rooms": "2"}'] });
      expect(kept.asked.at(-1)).toEqual([7, "@ask", "rooms", "held rooms", "held @ask", "agreed"]);
      expect(await answer(turn(spa))).toMatchObject({ calls: ['{"stars": "5", "extras": ["pool"]}'] });
    });

    it("ask where neither can", async () => {
      expect(await made({ city: "Rome" }, { city: "Faro" })).toMatchObject({ calls: [], tokens: [...question, tokenizer.eosId] });
    });
  });

  it("asks the user first about the call as it would be made", async () => {
    const turn = prepared({ notes: [FIRST, ROOMS, STARS] }, (_, __, held) =>
      call({ stars: "4", ...(held.includes("rooms") && { rooms: "2" }) }),
    );
    const given = await answer(turn);
    expect([said(given), given.calls]).toEqual(["Please confirm: search hotel (stars: 4, rooms: 2). Is that right?", []]);
    // What it is only held to is in no prompt: without the others it is asked once.
    expect(turn.asked).toEqual([
      [7, "@ask", "rooms", "stars"],
      [7, "@ask"],
      [7, "@ask", "rooms", "stars", "held rooms"],
      [7, "@ask", "rooms", "stars", "held @ask", "held rooms"],
    ]);
  });

  it("asks about what is left once what the version has learned has yielded", async () => {
    const before = { line: "shared", version: 3, policyDigest: "3", adapter: null };
    const learned = { tool: "SearchHotel", parameter: "stars", value: "4", corrected: [], before };
    const turn = prepared({ notes: [FIRST, ROOMS], defaults: [learned] }, (_, version, held) =>
      call({ stars: version === 7 ? "4" : "5", ...(held.includes("rooms") && { rooms: "2" }) }),
    );
    expect(said(await answer(turn))).toBe("Please confirm: search hotel (stars: 5, rooms: 2). Is that right?");
    expect(turn.asked.at(-1)).toEqual([3, "@ask", "rooms", "held @ask", "held rooms"]);
  });

  it("asks once about the calls of two tools", async () => {
    const taxi = {
      type: "function" as const,
      function: { name: "GetTaxi", parameters: { type: "object", properties: { to: { type: "string" } } } },
    };
    const heard = { ...HEARD, tools: [...HEARD.tools, taxi] };
    const second = [openId, ...tokenizer.encode(spacedJson({ name: "GetTaxi", arguments: { to: "Porto" } })), closeId];
    const turn = prepared({ notes: [FIRST, { ...FIRST, noteId: "n_taxi", tool: "GetTaxi" }], heard }, () => [
      ...call({ stars: "4" }),
      ...second,
    ]);
    expect(said(await answer(turn))).toBe("Please confirm: search hotel (stars: 4) and get taxi (to: Porto). Is that right?");
    expect(turn.asked).toHaveLength(2);
  });

  it("waits with no answer that cannot become a question", async () => {
    const { turn } = prepared({ notes: [FIRST] }, () => tokenizer.encode('{"stars": 4, "rooms": 2}'));
    const sent = async (form: Partial<YieldingCompletion>): Promise<number> => {
      let sampled = 0;
      const complete = async function* (request: YieldingCompletion): AsyncGenerator<CompletionStep> {
        for await (const step of turn.policy.complete(request)) {
          sampled += 1;
          yield step;
        }
      };
      const policy = { tokenizer, complete } as unknown as Policy;
      await new YieldingAnswer({ ...turn, policy, completion: { ...turn.completion, ...form } }, new AbortController().signal)
        .steps()
        .next();
      return sampled;
    };
    expect(await sent({ responseFormat: { type: "json_object" } })).toBe(1);
    expect(await sent({ toolChoice: "none" })).toBe(1);
    expect(await sent({})).toBeGreaterThan(1);
  });

  it("makes the call that the user has agreed to, where it would be worded anew", async () => {
    const messages = [
      ...HEARD.messages,
      { role: "assistant" as const, content: "Please confirm: search hotel (rooms: 3). Is that right?" },
      { role: "user" as const, content: "Yes." },
    ];
    const turn = prepared({ notes: [FIRST], heard: { ...HEARD, messages } }, (_, __, held) =>
      call({ rooms: held.includes("@ask") ? "3" : "two" }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"rooms": "3"}'] });
  });

  it("answers nothing where who is to be asked first cannot be asked", async () => {
    const turn = prepared({ notes: [FIRST] }, () => call({ stars: "4" }));
    const { completionOf } = turn.turn;
    const failing = { ...turn, turn: { ...turn.turn, completionOf: (asked: Asked) => (asked.hold ? fail() : completionOf(asked)) } };
    const fail = (): never => {
      throw new Error("a grammar expected, got none");
    };
    await expect(answer(failing)).rejects.toThrow("a grammar expected");
  });

  it("words a reply to a result as it is to be worded, before any of it goes out", async () => {
    const made = { id: "c", type: "function" as const, function: { name: "SearchHotel", arguments: "{}" } };
    const messages = [
      ...HEARD.messages,
      { role: "assistant" as const, content: null, tool_calls: [made] },
      { role: "tool" as const, tool_call_id: "c", content: '["Aria", "Corner"]' },
    ];
    const short = { ...ROOMS, noteId: "n_short", parameter: "@length", value: "3" };
    const reply = tokenizer.encode("I have found two hotels, Aria and Corner. Which one?");
    const turn = prepared({ notes: [short], heard: { ...HEARD, messages } }, () => reply);
    expect(said(await answer(turn))).toBe("How about Aria?");
    const elsewhere = prepared({ notes: [short] }, () => reply);
    expect(said(await answer(elsewhere))).toBe("I have found two hotels, Aria and Corner. Which one?");
    expect([turn.asked.length, elsewhere.asked.length]).toEqual([2, 1]);
  });

  it("lets the answer stand that calls another tool when it is held", async () => {
    const other = [openId, ...tokenizer.encode(spacedJson({ name: "GetWeather", arguments: {} })), closeId];
    const turn = prepared({ notes: [ROOMS] }, (_, __, held) => (held.length > 0 ? other : call({ city: "Porto" })));
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto"}'] });
  });
});

describe("YieldingAnswer after a call that is done", () => {
  const done = (said: string): { heard: typeof HEARD } => {
    const tool_calls = [{ id: "c1", type: "function" as const, function: { name: "SearchHotel", arguments: '{"city": "Porto"}' } }];
    const messages = [
      ...HEARD.messages,
      { role: "assistant" as const, content: null, tool_calls },
      { role: "tool" as const, tool_call_id: "c1", content: '{"hotel": "Aria"}' },
      { role: "assistant" as const, content: "I found Aria." },
      { role: "user" as const, content: said },
    ];
    return { heard: { ...HEARD, messages } as unknown as typeof HEARD };
  };
  const words = [...tokenizer.encode("Glad to help."), tokenizer.eosId];

  it("says in words what would be the same call once more, which nobody has asked for", async () => {
    const turn = prepared(done("Porto is lovely in spring."), (_, __, ___, ____, mayCall) =>
      mayCall ? call({ city: "Porto" }) : tokenizer.encode("Glad to help."),
    );
    expect(await answer(turn)).toMatchObject({ calls: [], tokens: words });
    expect(turn.asked).toEqual([[7], [7]]);
  });

  it("makes it where it is asked for again, and another one at once", async () => {
    const again = prepared(done("Search again, please."), () => call({ city: "Porto" }));
    expect(await answer(again)).toMatchObject({ calls: ['{"city": "Porto"}'] });
    const other = prepared(done("And in Faro."), () => call({ city: "Faro" }));
    expect(await answer(other)).toMatchObject({ calls: ['{"city": "Faro"}'] });
    expect([again.asked, other.asked]).toEqual([[[7]], [[7]]]);
  });
});
