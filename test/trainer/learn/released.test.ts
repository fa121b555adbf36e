/** Which defaults supplied answers release, and that their number costs none that was learned its place. */
import { expect, it } from "vitest";
import type { AssistantMessage } from "../../../shared/chat.ts";
import { MOST_DEFAULTS } from "../../../shared/learned-defaults.ts";
import type { AnswerRow } from "../../../trainer/learn/answer-rows.ts";
import { releasedBy } from "../../../trainer/learn/counter-cases.ts";
import { fittingDefaults } from "../../../trainer/learn/manifest.ts";
import { call, SEARCH, turn, user } from "../hotel.ts";

const supplied = (said: string): AnswerRow => {
  const answer = call("SearchHotel", { city: "Porto", number_of_rooms: "3" }) as AssistantMessage;
  const made = turn([user(said)], call("SearchHotel", { city: "Porto", number_of_rooms: "2" }));
  return { supplied: { turn: made, answer }, tools: [SEARCH] } as unknown as AnswerRow;
};

it("a supplied answer releases what it has otherwise, and not what the user had said", () => {
  const rooms = { tool: "SearchHotel", parameter: "number_of_rooms", value: "3", corrected: null, held: false };
  expect(releasedBy([supplied("A hotel in Porto.")])).toEqual([rooms]);
  expect(releasedBy([supplied("3 rooms in Porto.")])).toEqual([]);
});

it("what was learned keeps its place beside many that hold no longer", () => {
  const learned = { tool: "SearchHotel", parameter: "stars", value: "4", corrected: null };
  const released = Array.from({ length: 200 }, (_, at) => ({ ...learned, parameter: `p${at}`, held: false as const }));
  const fitting = fittingDefaults([learned, ...released]);
  expect([fitting.length, fitting[0]]).toEqual([MOST_DEFAULTS, learned]);
});
