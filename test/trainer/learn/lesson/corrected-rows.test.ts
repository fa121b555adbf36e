/** Under which masks a recorded answer was drawn, and of which that cannot be told. */
import { describe, expect, it } from "vitest";
import { AnswerGrammars } from "../../../../shared/grammar/answer-grammars.ts";
import { FREE_FORM } from "../../../../shared/grammar/answer-form.ts";
import { spacedJson } from "../../../../shared/spaced-json.ts";
import type { TurnFinished } from "../../../../shared/events.ts";
import { masksOf } from "../../../../trainer/learn/lesson/corrected-rows.ts";
import { readCheckpoint } from "../../../../trainer/model/checkpoint.ts";
import { call, turn, user } from "../../hotel.ts";

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
