/** What a training row teaches: which tokens weigh, what guidance changes, and that every row can be drawn again. */
import { describe, expect, it } from "vitest";
import { parseHint } from "../../../shared/jobs.ts";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { rewardOfActs } from "../../../trainer/pretrain/acts.ts";
import { drawConversation, plainConversation } from "../../../trainer/pretrain/augment.ts";
import { BUCKETS, toBatch } from "../../../trainer/pretrain/batches.ts";
import { actExample, type Example, guidedExample } from "../../../trainer/pretrain/examples.ts";
import { correctedExchange, naturalExchanges } from "../../../trainer/pretrain/exchanges.ts";
import { bySpeech, isGuidable } from "../../../trainer/pretrain/guidance.ts";
import { copyExample } from "../../../trainer/pretrain/copying.ts";
import { drawDrill, NameSource } from "../../../trainer/pretrain/drill.ts";
import { readLexicon } from "../../../trainer/pretrain/lexicon.ts";
import { Revaluer } from "../../../trainer/pretrain/revalue.ts";
import { Mixture } from "../../../trainer/pretrain/mixture.ts";
import { loosely } from "../../../trainer/pretrain/phrases.ts";
import { Random } from "../../../trainer/random.ts";
import { trainTokenizer } from "../../../trainer/pretrain/tokenizer.ts";
import type { Schemas, Service } from "../../../trainer/pretrain/sgd.ts";
import { DIALOGUE, SCHEMAS } from "./dialogue.ts";

const sgd = { dialogues: [DIALOGUE], schemas: SCHEMAS };
const tokenizer = new Tokenizer(trainTokenizer(sgd, { size: 400, seed: 1, context: 4096 }));
const lexicon = readLexicon({
  schemas: SCHEMAS,
  dialogues: [
    DIALOGUE,
    {
      ...DIALOGUE,
      turns: DIALOGUE.turns.map((turn) => ({
        ...turn,
        calls: turn.calls?.map((call) => ({ ...call, parameters: { ...call.parameters, valley: "Birch Valley" } })),
      })),
    },
  ],
});
const plain = plainConversation(DIALOGUE, SCHEMAS);

/** The texts whose tokens weigh as much as `weight`, one per run of such tokens. */
function weighing({ tokens, weights }: Example, weight: number): string[] {
  const runs: number[][] = [];
  tokens.forEach((token, index) => {
    if (weights[index] !== weight) return;
    if (index > 0 && weights[index - 1] === weight) runs.at(-1)?.push(token);
    else runs.push([token]);
  });
  return runs.map((run) => tokenizer.decode(run));
}

describe("actExample", () => {
  it("weighs calls with their end token fully, and of a reply the first token more than the rest", () => {
    const example = actExample(tokenizer, plain, 4096);
    const full = weighing(example, 1);
    expect(full[0]).toBe(
      '<tool_call>{"name": "FindCabin", "arguments": {"valley": "Alder Valley", "number_of_beds": "1"}}</tool_call><|im_end|>',
    );
    expect(full).toHaveLength(2);
    expect(weighing(example, 0.15)[0]).toMatch(/^\S/);
    expect(weighing(example, 0.1).every((text) => text.endsWith("<|im_end|>") && !text.includes("<tool_call>"))).toBe(true);
  });

  it("weighs words of users and tools little, and the system prompt not at all", () => {
    const example = actExample(tokenizer, plain, 4096);
    expect(weighing(example, 0.03).join("")).toContain('"count": 1');
    expect([1, 0.15, 0.1].flatMap((weight) => weighing(example, weight)).join("")).not.toContain("count");
    expect([1, 0.15, 0.1, 0.03].flatMap((weight) => weighing(example, weight)).join("")).not.toContain("# Tools");
  });
});

function guided(count: number): Example[] {
  return Array.from({ length: count }, (_, seed) => guidedExample(tokenizer, plain, lexicon, 4096, new Random(seed)) ?? []).flat();
}

describe("guidedExample", () => {
  it("is the plain row up to the answer to the last guided call, where nothing but guidance and arguments differ", () => {
    const rows = guided(40).map(({ tokens }) => tokenizer.decode(tokens));
    expect(rows.some((row) => row.includes("<hint>"))).toBe(true);
    expect(rows.some((row) => row.includes("<note>"))).toBe(true);
    const whole = tokenizer.decode(actExample(tokenizer, plain, 4096).tokens).replace(/"arguments": \{[^}]*\}/g, "");
    for (const row of rows) {
      const bare = row.replace(/\n<(hint|note)>[^\n<]*/g, "").replace(/"arguments": \{[^}]*\}/g, "");
      expect([bare, whole.startsWith(bare)]).toEqual([bare, true]);
      expect(row.lastIndexOf("<tool_call>")).toBeGreaterThan(Math.max(row.lastIndexOf("<hint>"), row.lastIndexOf("<note>")));
    }
  });

  it("weighs the argument that guidance names most, and puts it first, whoever decides its value", () => {
    const call = plain.steps[1];
    if (call?.kind !== "call") throw new Error("step 1 is the first call");
    const rows = guided(40);
    const named = rows.flatMap((example) => weighing(example, 3));
    expect(named.length).toBeGreaterThan(10);
    for (const text of named) expect(text).toMatch(/"(valley|number_of_beds|has_stove|cabin_name)": "/);
    const texts = rows.map(({ tokens }) => tokenizer.decode(tokens));
    const hinted = texts.filter((text) => /<hint>[^<]*number_of_beds/.test(text));
    expect(hinted.length).toBeGreaterThan(0);
    for (const text of hinted) expect(text).toMatch(/<hint>[^<]*number_of_beds[^]*?"arguments": \{"number_of_beds"/);
    const booked = texts.flatMap((text) => /Yes, please\.\n<note>[^<]*number_of_beds[^]*?"arguments": (\{.*?\})/.exec(text)?.[1] ?? []);
    expect(booked.length).toBeGreaterThan(0);
    for (const call of booked) expect(call).toMatch(/^\{"number_of_beds": "2"/);
  });
});

describe("bySpeech", () => {
  it("calls an optional argument that nobody mentioned silent and a mentioned one stated", () => {
    const call = plain.steps[1];
    if (call?.kind !== "call") throw new Error("step 1 is the first call");
    const { silent, stated } = bySpeech(plain.steps, 1, call);
    expect(silent.map(({ slot }) => slot)).toEqual(["number_of_beds", "has_stove"]);
    expect(stated.map(({ slot }) => slot)).toEqual(["valley"]);
  });

  it("leaves a call of a tool without parameters alone", () => {
    const steps = plain.steps.map((step) =>
      step.kind === "call" ? { ...step, tool: { ...step.tool, parameters: [] }, values: {} } : step,
    );
    expect(steps.some((_, at) => isGuidable(steps, at))).toBe(false);
    expect(correctedExchange({ ...plain, steps }, lexicon, new Random(1))).toBeUndefined();
  });
});

describe("loosely", () => {
  it("names slot and value once each, in either order, among other words", () => {
    const texts = Array.from({ length: 40 }, (_, seed) => loosely("SLOT", "VALUE", ["as it were"], new Random(seed)));
    for (const text of texts) expect([text.split("SLOT").length, text.split("VALUE").length]).toEqual([2, 2]);
    expect(texts.some((text) => text.indexOf("SLOT") < text.indexOf("VALUE"))).toBe(true);
    expect(texts.some((text) => text.indexOf("SLOT") > text.indexOf("VALUE"))).toBe(true);
  });
});

describe("exchanges", () => {
  it("labels the user's next turn by its acts", () => {
    expect(naturalExchanges(plain.steps).map(({ reward }) => reward)).toEqual([-1, 1, 1]);
  });

  it.each([
    [
      "a thankful end after 'anything else?'",
      [
        ["NEGATE", "", []],
        ["THANK_YOU", "", []],
      ],
      [["REQ_MORE", "", []]],
      1,
    ],
    ["a bare no after 'anything else?'", [["NEGATE", "", []]], [["REQ_MORE", "", []]], 0],
    ["a no to a confirmation", [["NEGATE", "", []]], [["CONFIRM", "x", ["1"]]], -1],
    ["an answer to a question", [["INFORM", "x", ["1"]]], [["REQUEST", "x", []]], 0],
    ["another offer wanted", [["REQUEST_ALTS", "", []]], [["OFFER", "x", ["1"]]], 0],
  ] as const)("%s", (_, user, assistant, reward) => {
    const acts = (list: typeof user | typeof assistant) =>
      list.map(([act, slot, values]): [string, string, string[]] => [act, slot, [...values]]);
    expect(rewardOfActs(acts(user), acts(assistant))).toBe(reward);
  });

  it("a corrected exchange ends in words that hold the hint's value, and the hint can be read back", () => {
    const corrected = correctedExchange(plain, lexicon, new Random(3), (name, value) => `I said ${value} for ${name}`);
    if (corrected === undefined) throw new Error("a call with another value exists");
    const { hint, exchange } = corrected;
    expect(exchange.nextState[0]?.content).toContain(hint.value);
    expect(parseHint(`${hint.parameter} should be ${hint.value}.`)).toEqual({
      kind: "hint",
      text: `${hint.parameter} should be ${hint.value}.`,
      hint,
    });
  });
});

describe("drawConversation", () => {
  it("renames consistently: every argument of a call is a parameter of the tool shown", () => {
    for (let seed = 0; seed < 50; seed++) {
      const drawn = drawConversation(DIALOGUE, SCHEMAS, new Revaluer(lexicon), new Random(seed));
      for (const step of drawn.steps) {
        if (step.kind !== "call") continue;
        const shown = drawn.tools.find(({ function: tool }) => tool.name === step.tool.name);
        expect(Object.keys(shown?.function.parameters?.properties ?? {})).toEqual(step.tool.parameters.map(({ name }) => name));
      }
    }
  });

  it("swaps a value for the same made-up name in words, calls and results", () => {
    const drawn = Array.from({ length: 30 }, (_, seed) => drawConversation(DIALOGUE, SCHEMAS, new Revaluer(lexicon), new Random(seed)));
    const swapped = drawn.filter(({ steps }) => steps[1]?.kind === "call" && steps[1].values.valley !== "Alder Valley");
    expect(swapped.length).toBeGreaterThan(3);
    let lowered = 0;
    for (const { steps } of swapped) {
      const value = steps[1]?.kind === "call" ? (steps[1].values.valley ?? "?") : "?";
      const text = steps[0]?.kind === "user" ? steps[0].text : "";
      // A user who writes no capitals writes none in names, either; the call has them.
      if (text === text.toLowerCase()) lowered++;
      expect(text.toLowerCase()).toContain(value.toLowerCase());
      if (text !== text.toLowerCase()) expect(text).toContain(value);
      expect(value).toMatch(/^\p{Lu}/u);
    }
    expect(lowered).toBeGreaterThan(0);
    expect(lowered).toBeLessThan(swapped.length / 2);
  });
});

describe("drawConversation, beside a service of another family", () => {
  const lamps: Service = {
    service_name: "Lamps_1",
    description: "Lamps",
    slots: [{ name: "bulb_colour", description: "Colour of the bulb", is_categorical: true, possible_values: ["White", "Amber"] }],
    intents: [
      { name: "FindLamp", description: "Find a lamp", is_transactional: false, required_slots: ["bulb_colour"], optional_slots: {} },
    ],
  };
  const schemas = Object.fromEntries(
    Object.entries(SCHEMAS).map(([variant, services]) => [variant, new Map([...services, ["Lamps_1", lamps]])]),
  ) as Schemas;
  const drawn = Array.from({ length: 80 }, (_, seed) => drawConversation(DIALOGUE, schemas, new Revaluer(lexicon), new Random(seed)));

  it("lends a tool an optional parameter of that service", () => {
    const lent = drawn.flatMap(({ steps }) =>
      steps.flatMap((step) => (step.kind === "call" && step.tool.parameters.some(({ slot }) => slot === "bulb_colour") ? [step] : [])),
    );
    expect(lent.length).toBeGreaterThan(5);
    for (const { tool } of lent)
      expect(tool.parameters.find(({ slot }) => slot === "bulb_colour")).toMatchObject({ required: false, options: ["White", "Amber"] });
  });

  it("can name a lent parameter in a note, which the call then begins with", () => {
    const rows = drawn.flatMap((conversation, seed) => guidedExample(tokenizer, conversation, lexicon, 4096, new Random(seed)) ?? []);
    const filled = rows.filter(({ tokens }) =>
      /<note>[^<]*(White|Amber)[^<]*<\|im_end\|>[^{]*\{"name": "[^"]*", "arguments": \{"[^"]*": "(White|Amber)"/.test(
        tokenizer.decode(tokens),
      ),
    );
    expect(filled.length).toBeGreaterThan(0);
  });
});

describe("drawDrill", () => {
  it("says every argument of a call in the user's words or in their spoken form, and records that it was spoken of", () => {
    const names = new NameSource(SCHEMAS, lexicon.values);
    for (let seed = 0; seed < 40; seed++) {
      const { steps } = drawDrill(names, new Random(seed));
      for (const [at, step] of steps.entries()) {
        const user = steps[at - 1];
        if (step.kind !== "call" || user?.kind !== "user") continue;
        expect(user.acts.map(([, slot]) => slot).sort()).toEqual(Object.keys(step.values).sort());
        const { silent, stated } = bySpeech(steps, at, step);
        expect(new Set([...silent, ...stated].map(({ slot }) => slot)).size).toBe(silent.length + stated.length);
        expect(stated.map(({ slot }) => slot)).toEqual(expect.arrayContaining(Object.keys(step.values)));
      }
    }
  });
});

describe("copyExample", () => {
  it("weighs only tokens that the row has shown before after the same token", () => {
    const { tokens, weights } = copyExample(4096, new Random(2));
    const places = weights.flatMap((weight, index) => (weight > 0 ? [index] : []));
    expect(places.length).toBeGreaterThan(50);
    for (const place of places)
      expect(tokens.slice(0, place - 1).some((token, index) => token === tokens[place - 1] && tokens[index + 1] === tokens[place])).toBe(
        true,
      );
  });
});

describe("Mixture", () => {
  it("draws the same row at the same position, whatever was drawn before", () => {
    const [first, second] = [0, 1].map(() => new Mixture({ sgd, tokenizer, maxTokens: 4096, vocabSize: 400 }));
    for (const index of [0, 1, 2]) first?.at(9, index);
    expect(first?.at(9, 7)).toEqual(second?.at(9, 7));
  });
});

describe("toBatch", () => {
  it("predicts each weighted token from the place before it", () => {
    const batch = toBatch(
      [
        { tokens: [5, 6, 7], weights: [0, 0, 1] },
        { tokens: [8, 9], weights: [0, 0.5] },
      ],
      { length: 8, rows: 2 },
    );
    expect([...batch.positions.slice(0, 2)]).toEqual([1, 8]);
    expect([...batch.targets.slice(0, 2)]).toEqual([7, 9]);
    expect([...batch.weights.slice(0, 3)]).toEqual([1, 0.5, 0]);
  });

  it("keeps the weightiest targets where there are more than places", () => {
    const batch = toBatch([{ tokens: [1, 2, 3, 4, 5, 6, 7, 8], weights: [0, 0.1, 0.1, 0.1, 0.1, 1, 1, 1] }], { length: 8, rows: 1 });
    expect(batch.weights.length).toBe(3);
    expect(batch.weights.every((weight) => weight === 1)).toBe(true);
    expect(BUCKETS.every(({ length, rows }) => length * rows <= 4096)).toBe(true);
  });
});
