/** What an update is taught from where many have said the same, and how much of a reply is held to what it was. */
import { expect, it } from "vitest";
import { UpdateSettings } from "../../../../trainer/config.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import { toReplay } from "../../../../trainer/learn/batch/replay.ts";
import type { CorrectedExchange } from "../../../../trainer/learn/update/learner.ts";
import { collectLessons, countLessons } from "../../../../trainer/learn/lesson/lessons.ts";
import { stayingLessons } from "../../../../trainer/learn/lesson/staying.ts";
import { teach } from "../../../../trainer/learn/lesson/teaching.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import type { Lesson } from "../../../../trainer/teacher/answers.ts";
import type { ContextKind, Correction } from "../../../../trainer/teacher/contexts.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const { tokenizer, grammars, config } = { grammars: undefined as never, ...readCheckpoint("base") };
const NONE = { silent: 0, stated: 0, other: 0, anchor: 0 };
const SETTINGS = UpdateSettings.parse({ contexts: NONE, heldBack: NONE, readings: 0, heldBackReadings: 0, replayed: 4 });
const CITIES = ["Porto", "Rome", "Oslo", "Bern", "Kyiv", "Riga", "Lima", "Cairo", "Paris", "Delhi", "Quito", "Tunis"];

function correction(): Correction {
  const parameter = findParameter(SEARCH, "number_of_rooms");
  if (parameter === undefined) throw new Error("the hotel tool has rooms");
  return { tool: SEARCH, parameter, hint: { parameter: "number_of_rooms", value: "2" } };
}

function correctedIn(city: string, share: number): CorrectedExchange {
  const made = turn([user(`A hotel in ${city}.`)], call("SearchHotel", { city }), { tools: [SEARCH] });
  return {
    ...{ eventId: `${made.turnId}/next`, seq: made.seq, correction: correction(), turns: [made], reward: -1, held: undefined },
    ...{ words: "Two rooms.", share },
  };
}

it("teaches from nine of twelve exchanges, those with the largest share and then the last, and replays none of the others", async () => {
  const corrected = CITIES.map((city, index) => correctedIn(city, index === 0 ? 0.34 : 0.06));
  const asked: string[] = [];
  const { silentAsked } = await collectLessons(corrected, {
    correction: correction(),
    replay: toReplay(corrected.flatMap(({ turns }) => turns)),
    settings: SETTINGS,
    base: { tokenizer, rowTokens: 1_024 },
    ask: async (questions) => {
      asked.push(...questions.map(({ prompt }) => tokenizer.decode([...prompt])));
      return questions.map(() => []);
    },
    seed: 1,
  });
  expect(silentAsked).toBe(9);
  expect(CITIES.filter((city) => asked.some((prompt) => prompt.includes(city)))).toEqual([CITIES[0], ...CITIES.slice(-8)]);
});

it("replays none of the others where none are to be replayed, neither to teach nor to stay as they are", async () => {
  const corrected = [correctedIn("Porto", 1)];
  const replay = toReplay([...corrected, ...CITIES.slice(1).map((city) => correctedIn(city, 1))].flatMap(({ turns }) => turns));
  const own = new Set(corrected.flatMap(({ turns }) => turns.map(({ turnId }) => turnId)));
  const citiesAsked = async (replayed: number): Promise<string[][]> => {
    const settings = { ...SETTINGS, replayed };
    const asked: string[] = [];
    const hear = (prompt: ArrayLike<number>): void => void asked.push(tokenizer.decode(Array.from(prompt)));
    const base = { tokenizer, grammars, config, rowTokens: 1_024 };
    await collectLessons(corrected, {
      ...{ correction: correction(), replay, settings, base, seed: 1 },
      ask: async (questions) => (questions.forEach(({ prompt }) => hear(prompt)), questions.map(() => [])),
    });
    const taught = asked.splice(0);
    const generate = async ({ prompts }: { prompts: readonly Int32Array[] }) => (
      prompts.forEach(hear),
      prompts.map(() => ({ tokens: [] }))
    );
    const adapters = { parent: undefined, candidate: "candidate" };
    await stayingLessons({ engine: { generate } as never, base, settings } as never, { request: { replay, seed: 1 }, own, adapters });
    return [taught, asked].map((prompts) => CITIES.filter((city) => prompts.some((prompt) => prompt.includes(city))));
  };
  expect(await citiesAsked(2)).toEqual([[CITIES[0], ...CITIES.slice(-2)], CITIES.slice(-2)]);
  expect(await citiesAsked(0)).toEqual([[CITIES[0]], []]);
});

it("rehearses defaults of other tools in the place of requests for those tools, some of them held back", async () => {
  const corrected = [correctedIn("Porto", 1)];
  const booking = { ...SEARCH, function: { ...SEARCH.function, name: "BookHotel" } };
  const { parameter } = correction();
  const counted = async (rehearsed: number): Promise<[number, number]> => {
    const { training, heldBack } = await collectLessons(corrected, {
      correction: correction(),
      replay: [],
      rehearsed: [{ tool: booking, parameter, tools: [SEARCH, booking], system: [] }],
      settings: UpdateSettings.parse({ ...SETTINGS, contexts: { ...NONE, other: 1 }, rehearsed }),
      base: { tokenizer, rowTokens: 1_024 },
      ask: async (questions) => questions.map(() => [...tokenizer.encode("Where?"), tokenizer.eosId]),
      seed: 1,
    });
    const kept = [training, heldBack].map((lessons) =>
      lessons.filter(({ context: { kind, tool } }) => kind === "other" && tool === "BookHotel"),
    );
    for (const { guidance, answer, own } of kept.flat()) expect([guidance, answer]).toEqual(["none", own]);
    return [kept[0]?.length ?? 0, kept[1]?.length ?? 0];
  };
  expect(await counted(4)).toEqual([2, 2]);
  expect(await counted(0)).toEqual([0, 0]);
});

it("counts the contexts that have no room for an answer in a row", async () => {
  const corrected = [correctedIn("Porto", 1)];
  const lessons = await collectLessons(corrected, {
    correction: correction(),
    replay: toReplay(corrected.flatMap(({ turns }) => turns)),
    settings: SETTINGS,
    base: { tokenizer, rowTokens: 100 },
    ask: async (questions) => questions.map(() => []),
    seed: 1,
  });
  expect(lessons.tooLong).toBeGreaterThan(0);
  expect(countLessons(lessons)["too long"]).toBe(lessons.tooLong);
});

it("holds the beginning of a long reply to what it was, and all of a call", async () => {
  const reply = tokenizer.encode("I can help you with that. ".repeat(20));
  const special = (name: string): number => tokenizer.specialIds.get(name) ?? -1;
  const text = `{"name": "GetWeather", "arguments": {"place": "${CITIES.join(" ")} ${CITIES.join(" ")}"}}`;
  const long = [special("<tool_call>"), ...tokenizer.encode(text), special("</tool_call>"), tokenizer.eosId];
  expect(Math.min(reply.length, long.length)).toBeGreaterThan(48);
  const lessons = [lessonOf("other", reply), lessonOf("other", long), lessonOf("stated", reply), lessonOf("anchor", reply.slice(0, 20))];
  const score = async ({ positions }: { positions: Int32Array }) => ({
    logProbs: new Float32Array(positions.length),
    argmax: new Int32Array(positions.length),
    full: new Float32Array(positions.length * config.vocabSize),
  });
  const deps = { engine: { score } as never, base: { tokenizer, grammars, config, rowTokens: 1_024 }, settings: SETTINGS };
  const taught = await teach(deps, lessons, { correction: correction(), adapters: { parent: undefined, candidate: "candidate" } });
  expect(taught.map(({ lesson }) => lesson.answer.length)).toEqual([48, long.length, reply.length, 20]);
  for (const { lesson, teacherLogProbs } of taught) expect(teacherLogProbs).toHaveLength(lesson.answer.length * config.vocabSize);
});

function lessonOf(kind: ContextKind, answer: readonly number[]): Lesson {
  const prompt = [1, 2, 3];
  return {
    context: { kind, origin: "generated", messages: [], tools: [], tool: "" },
    ...{ guidance: "none", teacherPrompt: prompt, studentPrompt: prompt, answer, own: answer },
  };
}
