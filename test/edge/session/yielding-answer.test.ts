/** A default that is overruled, in the prompt or in the weights, is left out before a call goes out; text goes out as it comes. */
import { describe, expect, it } from "vitest";
import { Vocabulary } from "../../../shared/vocabulary.ts";
import { spacedJson } from "../../../shared/spaced-json.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import { AnswerReader } from "../../../edge/policy/answer.ts";
import type { CompletionStep } from "../../../edge/policy/completer.ts";
import type { Policy } from "../../../edge/policy/policy.ts";
import { type Asked, YieldingAnswer, type YieldingCompletion, type YieldingTurn } from "../../../edge/session/yielding-answer.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { holdTo } from "../../../shared/held-notes.ts";
import type { ServedDefault } from "../../../shared/policy.ts";

const { tokenizer, tokenizerFiles, config } = readCheckpoint("base");
const vocabulary = new Vocabulary(tokenizerFiles, config.vocabSize);
const id = (token: string): number => tokenizer.specialIds.get(token) ?? -1;
const [openId, closeId] = [id("<tool_call>"), id("</tool_call>")];
const ROOMS = { noteId: "n_rooms", text: "rooms should be 2.", tool: "SearchHotel", parameter: "rooms", value: "2", corrected: null };
const STARS = { noteId: "n_stars", text: "stars should be 4.", tool: "SearchHotel", parameter: "stars", value: "4", corrected: null };

const call = (args: object, name = "SearchHotel"): number[] => [
  openId,
  ...tokenizer.encode(spacedJson({ name, arguments: args })),
  closeId,
];

const text = { type: "string" };
const HEARD = {
  messages: [{ role: "user" as const, content: "1 room, 3 rooms, 5 stars, 2 stars." }],
  tools: [
    {
      type: "function" as const,
      function: { name: "SearchHotel", parameters: { type: "object", properties: { rooms: text, stars: text } } },
    },
  ],
};

const BOUND = { line: "shared", version: 7, policyDigest: "7", adapter: null };

/** A policy that answers as `script` says for the notes in its prompt and the version that is asked. */
function prepared(
  {
    notes = [],
    defaults = [],
    heard = HEARD,
  }: { notes?: YieldingCompletion["notes"]; defaults?: readonly ServedDefault[]; heard?: YieldingTurn["heard"] },
  script: (notes: readonly string[], version: number, held: readonly string[]) => number[],
) {
  const asked: (string | number)[][] = [];
  const policy = {
    tokenizer,
    async *complete(request: YieldingCompletion): AsyncGenerator<CompletionStep> {
      const names = request.notes.map(({ parameter }) => parameter);
      const held = request.held.map(({ parameter }) => parameter);
      asked.push([request.version, ...names, ...held.map((name) => `held ${name}`)]);
      const reader = new AnswerReader({ vocabulary, markers: { openId, closeId }, stop: [] });
      const { responseFormat: form } = request;
      const said = form.type === "exact" ? tokenizer.encode(form.text) : script(names, request.version, held);
      for (const tokenId of [...said, tokenizer.eosId]) {
        const special = vocabulary.isSpecial(tokenId);
        const deltas = reader.push(tokenId);
        const bytes = vocabulary.bytesOf(tokenId);
        yield { kind: "token", tokenId, bytes, logProb: -0.1, topLogProbs: [], masked: false, special, deltas };
      }
      const deltas = reader.finish();
      const { content, calls } = reader;
      yield { kind: "end", deltas, finishReason: "stop", content, calls, masked: false, reusedTokens: 0, prefilledTokens: 1 };
    },
  } as unknown as Policy;
  const form = { ...FREE_FORM, tools: heard.tools };
  const completionOf = ({ by, notes: kept, hold }: Asked) => {
    const held = hold === undefined ? form : holdTo(hold.to, form, { before: hold.before, heard });
    return { ...FREE_FORM, ...held, ...hold?.form, ...by, notes: kept, held: hold?.to ?? [] } as unknown as YieldingCompletion;
  };
  return { asked, turn: { policy, completion: completionOf({ by: BOUND, notes }), completionOf, heard, defaults } };
}

async function answer({ turn }: ReturnType<typeof prepared>, signal = new AbortController().signal) {
  const run = new YieldingAnswer(turn, signal);
  const steps: CompletionStep[] = [];
  for await (const step of run.steps()) steps.push(step);
  const end = steps.at(-1);
  const tokens = steps.flatMap((step) => (step.kind === "token" ? [step.tokenId] : []));
  const { notes, version } = run.completion;
  return { tokens, calls: end?.kind === "end" ? end.calls.map((each) => each.arguments) : [], notes, version };
}

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

  it("asks the user first about the call as it would be made", async () => {
    const turn = prepared({ notes: [FIRST, ROOMS, STARS] }, (_, __, held) =>
      call({ stars: "4", ...(held.includes("rooms") && { rooms: "2" }) }),
    );
    const given = await answer(turn);
    expect([said(given), given.calls]).toEqual(["Please confirm: search hotel (stars: 4, rooms: 2). Is that right?", []]);
    expect(turn.asked.at(-1)).toEqual([7, "@ask", "rooms", "stars", "held @ask", "held rooms"]);
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

  it("is held to what it passes over, also in the answer of a version before it", async () => {
    const passed = prepared({ defaults: [STARS_4] }, (_, __, held) =>
      call({ city: "Porto", ...(held.includes("stars") && { stars: "4" }) }),
    );
    expect(await answer(passed)).toMatchObject({ calls: ['{"city": "Porto", "stars": "4"}'], version: 7 });
    expect(passed.asked).toEqual([[7], [5], [7, "held stars"]]);
    const yielded = prepared({ defaults: [STARS_4, ROOMS_2] }, (_, version, held) =>
      call({ rooms: version === 7 ? "2" : "1", ...((version === 7 || held.includes("stars")) && { stars: "4" }) }),
    );
    expect(await answer(yielded)).toMatchObject({ calls: ['{"rooms": "1", "stars": "4"}'], version: 3 });
  });

  it("asks each version before once, whatever is held then", async () => {
    const turn = prepared({ defaults: [STARS_4, ROOMS_2] }, (_, version, held) =>
      call({ city: "Porto", ...(version === 7 && { rooms: "2" }), ...(held.includes("stars") && { stars: "4" }) }),
    );
    expect(await answer(turn)).toMatchObject({ calls: ['{"city": "Porto", "rooms": "2", "stars": "4"}'] });
    expect(turn.asked).toEqual([[7], [3], [5], [7, "held stars"]]);
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
    expect(silent.asked).toEqual([[7], [3]]);
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

  it("takes the note of the same default for no word of the user", async () => {
    const script = (said: object) => (notes: readonly string[], version: number) =>
      call(notes.includes("rooms") || version === 7 ? { rooms: "2" } : said);
    const silent = prepared({ notes: [ROOMS], defaults: [ROOMS_2] }, script({ city: "Porto" }));
    expect(await answer(silent)).toMatchObject({ calls: ['{"rooms": "2"}'], notes: [ROOMS], version: 7 });
    expect(silent.asked).toEqual([[7, "rooms"], [3]]);
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

  const ROOMS_FOR_1 = learned("rooms", "2", 3, ["1"]);
  const SILENT = { ...HEARD, messages: [{ role: "user" as const, content: "A hotel in Porto, please." }] };
  const asking = (made: object, question = "Please confirm: rooms 1 in Porto. Is that right?", heard = SILENT) =>
    prepared({ defaults: [ROOMS_FOR_1], heard }, (_, __, held) => (held.length > 0 ? call(made) : tokenizer.encode(question)));
  const textOf = async (turn: ReturnType<typeof prepared>) => tokenizer.decode((await answer(turn)).tokens.slice(0, -1));

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
      (_, version) => call(version === 7 ? all : { city: "Porto" }),
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
