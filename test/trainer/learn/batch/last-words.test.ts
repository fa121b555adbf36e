/** Of a batch that says several things about one argument the latest counts. */
import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../../../../shared/chat.ts";
import { findParameter } from "../../../../shared/speech/parameters.ts";
import type { AnswerRow } from "../../../../trainer/learn/lesson/answer-rows.ts";
import { lastWords } from "../../../../trainer/learn/batch/last-words.ts";
import type { CorrectedExchange } from "../../../../trainer/learn/update/learner.ts";
import { call, SEARCH, turn, user } from "../../hotel.ts";

const made = turn([user("A hotel in Porto.")], call("SearchHotel", { city: "Porto", number_of_rooms: "1" }));

function corrected(parameter: "number_of_rooms" | "has_wifi", value: string, seq: number): CorrectedExchange {
  const declared = findParameter(SEARCH, parameter);
  if (declared === undefined) throw new Error(`the hotel tool has ${parameter}`);
  const correction = { tool: SEARCH, parameter: declared, hint: { parameter, value } };
  return { eventId: `e${seq}`, seq, correction, turns: [made], reward: -1, held: "1", words: "", share: 1 };
}

function supplied(rooms: string, seq: number): AnswerRow {
  const answer = call("SearchHotel", { city: "Porto", number_of_rooms: rooms }) as AssistantMessage;
  return { supplied: { eventId: `e${seq}`, seq, turn: made, answer }, tools: [SEARCH] } as unknown as AnswerRow;
}

const said = ({ groups, superseded }: ReturnType<typeof lastWords>): unknown => ({
  groups: groups.map((group) => group.map(({ eventId }) => eventId)),
  superseded: superseded.map(({ eventId, detail }) => `${eventId}: ${detail}`),
});

describe("lastWords", () => {
  it("takes the latest of two corrections that disagree, and those that say the same together", () => {
    const wifi = corrected("has_wifi", "True", 3);
    const all = [corrected("number_of_rooms", "2", 1), corrected("number_of_rooms", "3", 2), wifi, corrected("number_of_rooms", "3", 4)];
    expect(said(lastWords(all, []))).toEqual({
      groups: [["e2", "e4"], ["e3"]],
      superseded: ["e1: SearchHotel.number_of_rooms = 2 was corrected to 3 later in the batch"],
    });
  });

  it("takes an answer that was supplied later before a correction of an argument that it has otherwise", () => {
    const all = [corrected("number_of_rooms", "2", 1), corrected("has_wifi", "True", 2)];
    expect(said(lastWords(all, [supplied("3", 3)]))).toEqual({
      groups: [["e2"]],
      superseded: ["e1: SearchHotel.number_of_rooms = 2 was corrected to 3 later in the batch"],
    });
  });

  it("takes a correction before an answer that was supplied earlier, or says the same", () => {
    const rooms = [corrected("number_of_rooms", "2", 5)];
    for (const row of [supplied("3", 3), supplied("2", 6)])
      expect(said(lastWords(rooms, [row]))).toEqual({ groups: [["e5"]], superseded: [] });
  });
});
