/** When a note yields: the base's own tokenizer, answers with chosen log-probs. */
import { describe, expect, it } from "vitest";
import { readAnswer } from "../../trainer/teacher/answer-text.ts";
import { readCheckpoint } from "../../trainer/model/checkpoint.ts";
import { type WrittenAnswer, yieldingNotes } from "../../shared/yielding.ts";
import { argumentSpan } from "../../shared/argument-span.ts";
import { spacedJson } from "../../shared/spaced-json.ts";

const { tokenizer } = readCheckpoint("base");
const NOTE = { tool: "SearchHotel", parameter: "number_of_rooms", corrected: null };
const SURE = Math.log(0.9);
const UNSURE = Math.log(0.4);

/** A call whose tokens are sure, but for those of `unsure`. */
function calls(name: string, args: object, unsure?: string): WrittenAnswer {
  const id = (token: string): number => tokenizer.specialIds.get(token) ?? -1;
  const body = tokenizer.encode(spacedJson({ name, arguments: args }));
  const tokens = [id("<tool_call>"), ...body, id("</tool_call>"), tokenizer.eosId];
  const span = unsure === undefined ? undefined : argumentSpan(tokenizer, tokens, unsure);
  const logProbs = tokens.map((_, index) => (span !== undefined && index === span.from ? UNSURE : SURE));
  return { tokens, logProbs, call: readAnswer(tokenizer, tokens).calls[0] };
}
const text = (words: string): WrittenAnswer => ({ tokens: tokenizer.encode(words), logProbs: [], call: undefined });

describe("a note", () => {
  const under = calls("SearchHotel", { number_of_rooms: "2", location: "Porto" });

  it("stays where the policy without it leaves the argument open", () => {
    expect(yieldingNotes(tokenizer, [NOTE], { under, without: calls("SearchHotel", { location: "Porto" }) })).toEqual([]);
  });

  it("yields where the policy without it is sure of another value", () => {
    const without = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" });
    expect(yieldingNotes(tokenizer, [NOTE], { under, without })).toEqual([NOTE]);
  });

  it("stays where the policy is not sure that the argument comes at all, or says the same", () => {
    const guess = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" }, "number_of_rooms");
    expect(yieldingNotes(tokenizer, [NOTE], { under, without: guess })).toEqual([]);
    const same = calls("SearchHotel", { location: "Porto", number_of_rooms: "2" });
    expect(yieldingNotes(tokenizer, [NOTE], { under, without: same })).toEqual([]);
  });

  it("yields where it made the policy name a third value, or leave out what it says by itself", () => {
    const without = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" });
    const third = calls("SearchHotel", { number_of_rooms: "4", location: "Porto" });
    expect(yieldingNotes(tokenizer, [NOTE], { under: third, without })).toEqual([NOTE]);
    expect(yieldingNotes(tokenizer, [NOTE], { under: calls("SearchHotel", { location: "Porto" }), without })).toEqual([NOTE]);
  });

  it("stays where the policy says again what the note corrects", () => {
    const without = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" });
    expect(yieldingNotes(tokenizer, [{ ...NOTE, corrected: "1" }], { under, without })).toEqual([]);
    expect(yieldingNotes(tokenizer, [{ ...NOTE, corrected: "3" }], { under, without })).toHaveLength(1);
  });

  it("is about its own tool and its own argument", () => {
    const without = calls("SearchHotel", { location: "Faro", number_of_rooms: "1" });
    const place = { tool: "SearchHotel", parameter: "location", corrected: null };
    const other = { tool: "GetWeather", parameter: "number_of_rooms", corrected: null };
    expect(yieldingNotes(tokenizer, [NOTE, place, other], { under, without })).toEqual([NOTE, place]);
    expect(yieldingNotes(tokenizer, [NOTE], { under, without: text("How many rooms?") })).toEqual([]);
    expect(yieldingNotes(tokenizer, [NOTE], { under: text("How many rooms?"), without })).toEqual([]);
  });
});
