/** What a look sees of a candidate, over an engine whose likeliest tokens are given. */
import { describe, expect, it } from "vitest";
import { ASK_FIRST, aspectParameter } from "../../../../shared/aspects.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import { argumentSpan } from "../../../../shared/argument-span.ts";
import { UpdateSettings } from "../../../../trainer/config.ts";
import { aspectFailure } from "../../../../trainer/learn/update/aspect.ts";
import { confirmationFailure, holdBack, look, type HeldBack } from "../../../../trainer/learn/update/confirm.ts";
import type { Scoring } from "../../../../trainer/learn/lesson/scores.ts";
import { loadBase } from "../../../../trainer/policy/base.ts";
import type { Lesson } from "../../../../trainer/teacher/answers.ts";
import type { AskPolicy } from "../../../../trainer/teacher/lead.ts";
import { SEARCH, user } from "../../hotel.ts";

const base = loadBase("base");
const { tokenizer, config } = base;
const PARAMETER = findParameter(SEARCH, "number_of_rooms");
if (PARAMETER === undefined) throw new Error("the hotel tool has rooms");
const CORRECTION = { tool: SEARCH, parameter: PARAMETER, hint: { parameter: "number_of_rooms", value: "2" } };

const special = (name: string): number => tokenizer.specialIds.get(name) ?? -1;
const answer = (rooms: string): number[] => [
  special("<tool_call>"),
  ...tokenizer.encode(`{"name": "SearchHotel", "arguments": {"city": "Porto", "number_of_rooms": "${rooms}"}}`),
  special("</tool_call>"),
  tokenizer.eosId,
];

function lesson(kind: "silent" | "stated", rooms: string, words = "1 hotel in Porto, for 3"): Lesson {
  const tokens = answer(rooms);
  const stated = kind === "stated" ? { stated: rooms } : {};
  const context = { kind, origin: "generated", messages: [user(words)], tools: [SEARCH], tool: "SearchHotel", ...stated };
  return { context, guidance: "none", teacherPrompt: [5], studentPrompt: [5], answer: tokens, own: tokens };
}

/** Every token of the answer is the likeliest one, but for the one at `deviates`. */
const engineThat = (deviates: number | undefined): Scoring => ({
  score: async ({ targets }) => ({
    logProbs: new Float32Array(targets.length),
    argmax: targets.map((target, at) => (at === deviates ? target + 1 : target)),
  }),
});

async function lookAt(held: Lesson, deviates: number | undefined) {
  const engine = engineThat(deviates);
  const { vocabSize } = config;
  const back = await holdBack(engine, [held], { correction: CORRECTION, parent: undefined, tokenizer, vocabSize });
  return look(engine, back, { adapter: "candidate", tokenizer, vocabSize });
}

const SPAN = argumentSpan(tokenizer, answer("3"), "number_of_rooms") ?? { from: -1, to: -1 };

describe("look", () => {
  it("sees a stated value kept where the whole call up to it stays", async () => {
    expect((await lookAt(lesson("stated", "3"), undefined)).kept).toBe(1);
    expect((await lookAt(lesson("stated", "3"), SPAN.to)).kept).toBe(1);
  });

  it("sees deafness where the call would begin otherwise, long before the argument", async () => {
    expect((await lookAt(lesson("stated", "3"), SPAN.from - 2)).kept).toBe(0);
    expect((await lookAt(lesson("stated", "3"), SPAN.to - 1)).kept).toBe(0);
  });

  it("asks a silent context for the default alone", async () => {
    expect((await lookAt(lesson("silent", "2"), SPAN.from - 2)).honoured).toBe(1);
    expect((await lookAt(lesson("silent", "2"), SPAN.to - 1)).honoured).toBe(0);
  });
});

describe("an aspect as it is confirmed", () => {
  const parameter = aspectParameter("@ask");
  if (parameter === undefined) throw new Error("an aspect expected");
  const correction = { tool: SEARCH, parameter, hint: { parameter: "@ask", value: ASK_FIRST } };
  const settings = UpdateSettings.parse({ statedBar: 0.85 });
  /** What a candidate is refused for that makes no call where one is due, in so many of the contexts. */
  const refusedFor = async (lost: number, contexts: number) => {
    const lessons = Array.from({ length: contexts }, () => lesson("stated", "3"));
    const ask: AskPolicy = async (asked) => asked.map((_, index) => (index < lost ? [tokenizer.eosId] : answer("3")));
    return (await aspectFailure(lessons, { ask, correction, tokenizer, settings, known: new Set() }))?.code;
  };

  it("takes no deafness in a single context, and one of four for chance", async () => {
    expect(await refusedFor(1, 1)).toBe("update/deaf");
    expect(await refusedFor(1, 2)).toBe("update/deaf");
    expect(await refusedFor(1, 4)).toBeUndefined();
    expect(await refusedFor(2, 4)).toBe("update/deaf");
    expect(await refusedFor(0, 1)).toBeUndefined();
  });
});

describe("a default as it is served", () => {
  const SURE = Math.log(0.9);
  const TEACHES = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2", corrected: "1" };
  const settings = UpdateSettings.parse({ honouredBar: 0.6, statedBar: 0.85 });
  /** The parent says `own`, as sure as `logProb`; every token that is scored is as likely, and none is the likeliest. */
  const unlikely = (logProb: number): Scoring => ({
    score: async ({ targets }) => ({
      logProbs: new Float32Array(targets.length).fill(logProb),
      argmax: targets.map((target) => target + 1),
    }),
  });
  const hold = (lessons: readonly Lesson[], logProb = SURE, teaches: typeof TEACHES | null = TEACHES): Promise<HeldBack> =>
    holdBack(unlikely(logProb), lessons, {
      correction: CORRECTION,
      ...(teaches === null ? {} : { teaches }),
      parent: undefined,
      tokenizer,
      vocabSize: config.vocabSize,
    });
  const lookedAt = (held: HeldBack) => look(unlikely(SURE), held, { adapter: "candidate", tokenizer, vocabSize: config.vocabSize });
  /** What a candidate that answers every context with so many rooms is refused for. */
  const refusedWith = async (held: HeldBack, rooms: string) =>
    (await confirmationFailure(held, { ask: async (asked) => asked.map(() => answer(rooms)), base, settings }))?.code;
  const says = (kind: "silent" | "stated", value: string, own: string): Lesson => ({ ...lesson(kind, value), own: answer(own) });

  it("keeps a stated value that the parent is sure of, where the candidate has the default", async () => {
    const held = await hold([says("stated", "3", "3")]);
    expect(await refusedWith(held, "2")).toBeUndefined();
    expect((await lookedAt(held)).kept).toBe(1);
    expect(await refusedWith(await hold([says("stated", "3", "3")], Math.log(0.4)), "2")).toBe("update/deaf");
    expect((await lookedAt(await hold([says("stated", "3", "3")], Math.log(0.4)))).kept).toBe(0);
  });

  it("asks less of weights where a version is held to what it carries", async () => {
    const silents = ["Porto", "Faro", "Lisbon"].map((city) => ({ ...says("silent", "2", "1"), studentPrompt: tokenizer.encode(city) }));
    const [first] = silents;
    const once = async (held: HeldBack) =>
      (
        await confirmationFailure(held, {
          ask: async (asked) => asked.map(({ prompt }) => answer(prompt === first?.studentPrompt ? "2" : "1")),
          base,
          settings,
        })
      )?.code;
    expect(await once(await hold(silents))).toBeUndefined();
    expect(await once(await hold(silents, SURE, null))).toBe("update/notLearned");
    expect(await refusedWith(await hold(silents), "1")).toBe("update/notLearned");
  });

  it("keeps it where the candidate has a third value that nobody said, too", async () => {
    expect(await refusedWith(await hold([says("stated", "3", "3")]), "4")).toBeUndefined();
    expect(await refusedWith(await hold([says("stated", "3", "3")], Math.log(0.4)), "4")).toBe("update/deaf");
  });

  it("takes nothing back that the candidate makes of the value that was corrected", async () => {
    expect(await refusedWith(await hold([says("stated", "1", "1")]), "2")).toBe("update/deaf");
  });

  it("honours nothing where the parent would speak for a silent user", async () => {
    const held = await hold([says("silent", "2", "3")]);
    expect(await refusedWith(held, "2")).toBe("update/notLearned");
    expect((await lookedAt(held)).honoured).toBe(0);
    expect(await refusedWith(await hold([says("silent", "2", "1")]), "2")).toBeUndefined();
    expect(await refusedWith(await hold([says("silent", "2", "3")], Math.log(0.4)), "2")).toBeUndefined();
    const unsaid = { ...lesson("silent", "2", "A hotel in Porto"), own: answer("3") };
    expect(await refusedWith(await hold([unsaid]), "2")).toBeUndefined();
  });

  it("is asked of defaults alone", async () => {
    expect(await refusedWith(await hold([says("stated", "3", "3")], SURE, null), "2")).toBe("update/deaf");
  });
});
