/** Which replies an update has spoiled that it was not about. */
import { expect, it } from "vitest";
import { aspectParameter } from "../../../../shared/aspects.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import { refuseSpoiled, spoiledReplies } from "../../../../trainer/learn/update/spoiled.ts";
import type { Lesson } from "../../../../trainer/teacher/answers.ts";
import type { ContextKind } from "../../../../trainer/teacher/contexts.ts";
import { call, result, SEARCH, user } from "../../hotel.ts";

const { tokenizer } = readCheckpoint("base");
const saying = (text: string): number[] => [...tokenizer.encode(text), tokenizer.eosId];
const OWN = "I found 9 hotels. How about Aria?";

function replied(kind: ContextKind): Lesson {
  const messages = [
    user("A hotel in Porto."),
    call("SearchHotel", { city: "Porto" }),
    result('{"count": 9, "results": [{"name": "Aria"}]}'),
  ];
  const prompt = tokenizer.encodePrompt({ messages, tools: [SEARCH], addGenerationPrompt: true });
  const context = { kind, origin: "generated", messages, tools: [SEARCH], tool: "SearchHotel" };
  return { context, guidance: "none", teacherPrompt: prompt, studentPrompt: prompt, answer: saying(OWN), own: saying(OWN) };
}

const spoiled = (text: string, kind: ContextKind = "anchor") =>
  spoiledReplies([replied(kind), replied(kind)], {
    ask: async (asked) => asked.map((_, index) => saying(index === 0 ? text : OWN)),
    tokenizer,
  });

it.each(["Madam F F F F F F F F F F F F F F", "Captain Lindqvist, capulqvistar, I found 9 hotels."])("%s: is one of two", async (text) =>
  expect(await spoiled(text)).toEqual({ share: 0.5, replies: [text] }),
);

it.each([OWN, "There are 9 hotels in Porto. One is Aria.", "Which day?"])("%s: is none, words that there are may change", async (text) =>
  expect(await spoiled(text)).toEqual({ share: 0, replies: [] }),
);

it("is none of what was to change", async () =>
  expect(await spoiled("Madam F F F F F F F F F F F F F F", "silent")).toEqual({ share: 0, replies: [] }));

it("is none of what repeated itself before", async () => {
  const stammer = saying("F F F F F F F F F F F F F F");
  const lesson = { ...replied("other"), own: stammer };
  expect(await spoiledReplies([lesson], { ask: async (asked) => asked.map(() => stammer), tokenizer })).toEqual({ share: 0, replies: [] });
});

it("refuses the update above a quarter of them, with what was said", async () => {
  const hint = { parameter: "@name", value: "Madam Ferreira" } as const;
  const parameter = aspectParameter("@name");
  if (parameter === undefined) throw new Error("an aspect expected");
  const stammer = "Madam F F F F F F F F F F F F F F";
  const refused = (count: number) =>
    refuseSpoiled(
      Array.from({ length: 4 }, () => replied("anchor")),
      {
        correction: { tool: SEARCH, parameter, hint },
        ask: async (asked) => asked.map((_, index) => saying(index < count ? stammer : OWN)),
        tokenizer,
      },
    );
  expect(await refused(1)).toBeUndefined();
  expect(await refused(2)).toMatchObject({
    code: "update/notLearned",
    detail: expect.stringContaining(`"Reply to SearchHotel with the name Madam Ferreira.": replies elsewhere`),
  });
});
