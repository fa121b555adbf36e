/** Which corrected turns are learned from, and under which masks a recorded answer was drawn, where that can be told. */
import { describe, expect, it } from "vitest";
import { AnswerGrammars } from "../../../../shared/grammar/answer-grammars.ts";
import { FREE_FORM } from "../../../../shared/grammar/answer-form.ts";
import { at } from "../../../../shared/assert.ts";
import { readParameters } from "../../../../shared/speech/parameters.ts";
import { spacedJson } from "../../../../shared/spaced-json.ts";
import type { TurnFinished } from "../../../../shared/events.ts";
import { correctedRows, masksOf } from "../../../../trainer/learn/lesson/corrected-rows.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import { OBJECTIVES } from "../../../../trainer/learn/update/objective.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const { tokenizer, tokenizerFiles, config } = readCheckpoint("base");
const grammars = new AnswerGrammars(tokenizerFiles, { tokenizer, vocabSize: config.vocabSize });
const [open = -1, close = -1] = ["<tool_call>", "</tool_call>"].map((token) => tokenizer.specialIds.get(token));
const ARGS = { city: "Porto", number_of_rooms: "2" };

function drawn(changes: Partial<TurnFinished> = {}, form: typeof FREE_FORM | null = FREE_FORM): TurnFinished {
  const written = tokenizer.encode(spacedJson({ name: "SearchHotel", arguments: ARGS }));
  const responseTokens = [open, ...written, close, tokenizer.eosId];
  const sampling = { seed: 1, temperature: 1, topP: 1, masked: true, ...(form && { form }) };
  const rollout = { promptTokens: [1, 2], responseTokens, rolloutLogProbs: responseTokens.map(() => -0.1), sampling };
  return { ...turn([user("A hotel in Porto.")], call("SearchHotel", ARGS)).payload, rollout, ...changes };
}

describe("correctedRows", () => {
  const parameter = at(
    readParameters(SEARCH).filter(({ name }) => name === "city"),
    0,
  );

  /** Rows of one corrected turn, over an engine that scores nothing. */
  async function rowsOf(changes: Partial<TurnFinished>) {
    const asked: unknown[] = [];
    const counted: Record<string, number>[] = [];
    const { eventId, turnId } = turn([user("A hotel in Porto.")], call("SearchHotel", ARGS));
    const own = { eventId, turnId, payload: drawn(changes) };
    const correction = { tool: SEARCH, parameter, hint: { parameter: "city", value: "Faro" } };
    const corrected = [{ eventId: "e", correction, turns: [own], reward: -1, share: 1, words: "No, Faro." }] as never;
    const base = { tokenizer, grammars, config, rowTokens: 2048 } as never;
    const engine = { score: (batch: unknown) => asked.push(batch) && Promise.reject(new Error("no score expected")) } as never;
    const rows = await correctedRows(engine, corrected, {
      ...{ base, parent: undefined, objective: OBJECTIVES.hybrid, baseline: 0, hints: { candidates: 1, choice: "overlap" } as never },
      onTaught: (counts) => counted.push(counts),
    });
    return { rows, asked, counted };
  }

  it("takes no turn that was answered after a yes that nobody gave", async () => {
    await expect(rowsOf({})).rejects.toThrow("no score expected");
    expect(await rowsOf({ agreedTo: "A hotel in Porto, is that right?" })).toEqual({ rows: [], asked: [], counted: [] });
  });

  it("takes none whose sampled tokens nobody told, and counts it", async () => {
    const { sampling } = drawn().rollout;
    const unusable = { reason: "it told none", promptTokens: 4, responseTokens: 2 };
    const rollout = { promptTokens: [], responseTokens: [], rolloutLogProbs: [], sampling, unusable };
    expect(await rowsOf({ rollout })).toEqual({ rows: [], asked: [], counted: [{ "corrected untold": 1 }] });
  });
});

describe("masksOf", () => {
  it("makes the masks of the form again, one for each token", () => {
    const answer = drawn();
    expect(masksOf(answer, grammars)).toHaveLength(answer.rollout.responseTokens.length);
  });

  it("does not tell them of an answer without a form, nor of one that was held to a note or to what its version had learned", () => {
    const heldTo = [{ tool: "SearchHotel", parameter: "number_of_rooms", value: "2" }];
    const note = { noteId: "n", text: "number_of_rooms should be 2." };
    expect(masksOf(drawn({}, null), grammars)).toBeUndefined();
    expect(masksOf(drawn({ heldTo }), grammars)).toBeUndefined();
    expect(masksOf(drawn({ notes: [{ ...note, held: true }] }), grammars)).toBeUndefined();
    expect(masksOf(drawn({ notes: [note] }), grammars)).toEqual(masksOf(drawn(), grammars));
  });
});
