/** The steps of an update on a tiny random policy, through the real engine. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Engine } from "../../../../trainer/engine/engine.ts";
import type { LossBatch } from "../../../../trainer/engine/loss-batch.ts";
import type { CorrectedRow } from "../../../../trainer/learn/lesson/corrected-rows.ts";
import { OBJECTIVES } from "../../../../trainer/learn/update/objective.ts";
import { meanKlNats, scoreRows, sharpen, totalLogProb } from "../../../../trainer/learn/lesson/scores.ts";
import { groupLessons, paceAt, trainStep, type TaughtLesson, type Training } from "../../../../trainer/learn/update/train.ts";
import type { ContextKind } from "../../../../trainer/teacher/contexts.ts";
import { tinyConfig } from "../../tiny.ts";

const V = 32;
const CONFIG = tinyConfig({
  vocab_size: V,
  hidden_size: 16,
  intermediate_size: 32,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  max_position_embeddings: 1024,
  rope_theta: 10_000,
});
const TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

// Errands need a tokenizer; test/trainer/learn/lesson/errands.test.ts has one.
const LESSONS_ALONE = { ...OBJECTIVES.hybrid, errands: 0 };

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start({ config: CONFIG, threads: 1 });
  await engine.initialise({ seed: 3 });
  // With embeddings of deviation 0.02 no answer could become likely: logits would stay near zero.
  const weights = await engine.readWeights();
  await engine.loadWeights(
    new Map([...weights].map(([name, values]) => [name, name.includes("embed") ? values.map((value) => value * 50) : values])),
  );
});
afterAll(() => engine.close());

/** A lesson whose teacher always wants `token`, on a prompt of `from` repeated. */
function lesson(kind: ContextKind, from: number, token: number): TaughtLesson {
  const answer = [token, token];
  const teacherLogProbs = new Float32Array(answer.length * V).fill(Math.log(0.02 / (V - 1)));
  answer.forEach((_, index) => teacherLogProbs.set([Math.log(0.98)], index * V + token));
  const prompt = Array.from({ length: 6 }, () => from);
  return {
    lesson: {
      context: { kind, origin: "generated", messages: [], tools: [], tool: "" },
      guidance: "note",
      teacherPrompt: prompt,
      studentPrompt: prompt,
      own: [],
      answer,
    },
    teacherLogProbs,
    teacherLogProb: 2 * Math.log(0.98),
  };
}

async function trained(name: string, lessons: readonly TaughtLesson[], steps: number): Promise<Training> {
  await engine.createAdapter(name, { rank: 4, alpha: 8, targets: TARGETS, seed: 1 });
  const training: Training = { engine, adapter: name, objective: LESSONS_ALONE, vocabSize: V, lr: 1e-2 };
  const groups = groupLessons(lessons, training);
  for (let step = 0; step < steps; step += 1) {
    // Rates fall to zero as in an update: at a constant one, single steps throw such a small policy far off and back.
    const pace = paceAt(step, steps, { settleSteps: Math.floor(steps / 3) });
    await trainStep(training, { step, pace, groups, corrected: [] });
  }
  return training;
}

describe("trainStep", () => {
  it("moves the student to its teacher where they differ and leaves it where it was told to stay", async () => {
    const anchor = { prompt: [9, 9, 9, 9, 9, 9], answer: [1, 2] };
    const [before] = await scoreRows(engine, [anchor], { adapter: undefined, full: true, vocabSize: V });
    const stay: TaughtLesson = {
      ...lesson("other", 9, 1),
      teacherLogProbs: before?.full ?? new Float32Array(0),
      lesson: { ...lesson("other", 9, 1).lesson, answer: anchor.answer, studentPrompt: anchor.prompt },
    };
    const learn = lesson("silent", 5, 7);
    const row = { prompt: learn.lesson.studentPrompt, answer: learn.lesson.answer };
    const [student] = await scoreRows(engine, [row], { adapter: undefined, vocabSize: V });
    await trained("moves", [learn, lesson("silent", 6, 7), stay, stay], 60);
    const [taught] = await scoreRows(engine, [row], { adapter: "moves", vocabSize: V });
    const [after] = await scoreRows(engine, [anchor], { adapter: "moves", full: true, vocabSize: V });
    expect(student === undefined ? 0 : totalLogProb(student)).toBeLessThan(-5);
    expect(taught === undefined ? -9 : totalLogProb(taught)).toBeGreaterThan(-0.5);
    expect(meanKlNats(before?.full ?? new Float32Array(0), after?.full ?? new Float32Array(0), V)).toBeLessThan(0.01);
  });

  it("gives the same adapter for the same lessons", async () => {
    await trained("first", [lesson("silent", 5, 7)], 3);
    await trained("second", [lesson("silent", 5, 7)], 3);
    const [first, second] = [await engine.readAdapter("first"), await engine.readAdapter("second")];
    expect([...second.tensors]).toEqual([...first.tensors]);
  });

  it("changes nothing where teacher and student agree", async () => {
    const row = { prompt: [5, 5, 5, 5, 5, 5], answer: [7, 7] };
    const [own] = await scoreRows(engine, [row], { adapter: undefined, full: true, vocabSize: V });
    await trained("agrees", [{ ...lesson("silent", 5, 7), teacherLogProbs: own?.full ?? new Float32Array(0) }], 4);
    const [after] = await scoreRows(engine, [row], { adapter: "agrees", full: true, vocabSize: V });
    expect(meanKlNats(own?.full ?? new Float32Array(0), after?.full ?? new Float32Array(0), V)).toBeLessThan(1e-3);
  });
});

describe("trainStep on corrected turns", () => {
  it("sees a dozen of them in two steps, each with the weight of all and the reward of each once", async () => {
    const rows = Array.from({ length: 12 }, (_, index) => correctedRow(index + 1, 1 / 12));
    await engine.createAdapter("turns", { rank: 4, alpha: 8, targets: TARGETS, seed: 1 });
    const seen: LossBatch[] = [];
    const watched: Training["engine"] = {
      score: (batch, options) => engine.score(batch, options),
      stepAdapter: (name, options) => engine.stepAdapter(name, options),
      accumulateAdapter: (name, batch) => {
        seen.push(batch);
        return engine.accumulateAdapter(name, batch);
      },
    };
    const training: Training = { engine: watched, adapter: "turns", objective: LESSONS_ALONE, vocabSize: V, lr: 1e-2 };
    for (let step = 0; step < 3; step += 1) await trainStep(training, { step, pace: 1, groups: [], corrected: rows });
    const firstTokens = ({ tokens, length }: LossBatch): number[] => Array.from({ length: 6 }, (_, row) => tokens[row * length] ?? -1);
    expect(seen.map(firstTokens)).toEqual([
      [1, 3, 5, 7, 9, 11],
      [2, 4, 6, 8, 10, 12],
      [1, 3, 5, 7, 9, 11],
    ]);
    // c_hindsight · 2 tokens, for all rows, whose shares add up to 1; c_reward · 2 tokens of the rows at hand, in the first two steps alone.
    expect(seen.map(({ distillation }) => sum(distillation?.weights))).toEqual([0.5, 0.5, 0.5].map((each) => expect.closeTo(each, 5)));
    expect(seen.map(({ policy }) => sum(policy?.weights))).toEqual([0.25, 0.25, 0].map((each) => expect.closeTo(each, 5)));
  });
});

/** A corrected turn on a prompt of `from` repeated, whose teacher would have said something else. */
function correctedRow(from: number, weight: number): CorrectedRow {
  const { studentPrompt: prompt, answer } = lesson("silent", from, 3).lesson;
  const { teacherLogProbs: full } = lesson("silent", from, 7);
  const teacher = { full, logProbs: new Float32Array(2).fill(-5), argmax: new Int32Array(2).fill(7) };
  const name = `turn ${from}`;
  return {
    ...{ eventId: name, turnId: name, row: { prompt, answer }, span: { from: 0, to: 2 } },
    ...{ teacher, advantages: [-1, -1], masks: [undefined, undefined], weight },
  };
}

function sum(values: ArrayLike<number> | undefined): number {
  return Array.from(values ?? []).reduce((total, value) => total + value, 0);
}

describe("meanKlNats", () => {
  it("is the hand-worked divergence per token", () => {
    // KL([0.5, 0.5] ‖ [0.25, 0.75]) = 0.5 ln 2 + 0.5 ln(2/3) = 0.14384
    const p = Float32Array.from([0.5, 0.5].map(Math.log));
    const q = Float32Array.from([0.25, 0.75].map(Math.log));
    expect(meanKlNats(p, q, 2)).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(2 / 3), 6);
  });
});

describe("sharpen", () => {
  it("is the hand-worked power of a distribution", () => {
    // [0.6, 0.3, 0.1]^2 = [0.36, 0.09, 0.01] / 0.46
    const sharpened = sharpen(Float32Array.from([0.6, 0.3, 0.1].map(Math.log)), { temperature: 0.5, vocabSize: 3 });
    [0.36, 0.09, 0.01].forEach((power, index) => expect(Math.exp(sharpened[index] ?? 0)).toBeCloseTo(power / 0.46, 6));
  });
});
