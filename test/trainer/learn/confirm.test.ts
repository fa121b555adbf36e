/** What a look sees of a candidate, over an engine whose likeliest tokens are given. */
import { describe, expect, it } from "vitest";
import { findParameter } from "../../../trainer/data/parameters.ts";
import { argumentSpan } from "../../../shared/argument-span.ts";
import { holdBack, look } from "../../../trainer/learn/confirm.ts";
import type { Scoring } from "../../../trainer/learn/scores.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";
import type { Lesson } from "../../../trainer/teacher/answers.ts";
import { SEARCH, user } from "../hotel.ts";

const { tokenizer, config } = readCheckpoint("base");
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

function lesson(kind: "silent" | "stated", rooms: string): Lesson {
  const tokens = answer(rooms);
  const stated = kind === "stated" ? { stated: rooms } : {};
  const context = { kind, origin: "generated", messages: [user("A hotel in Porto")], tools: [SEARCH], tool: "SearchHotel", ...stated };
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
