/** Which defaults supplied answers and the cases of imports release, and that their number costs none that was learned its place. */
import { describe, expect, it } from "vitest";
import type { AssistantMessage } from "../../../../shared/chat.ts";
import { inheritDefaults, MOST_DEFAULTS } from "../../../../shared/learned-defaults.ts";
import type { AnswerRow } from "../../../../trainer/learn/lesson/answer-rows.ts";
import { fittingDefaults, reachOf } from "../../../../trainer/learn/batch/manifest.ts";
import { releasedBy, releasedByCases } from "../../../../trainer/learn/batch/released.ts";
import { call, SEARCH, TOOLS, turn, user } from "../../hotel.ts";

const supplied = (said: string): AnswerRow => {
  const answer = call("SearchHotel", { city: "Porto", number_of_rooms: "3" }) as AssistantMessage;
  const made = turn([user(said)], call("SearchHotel", { city: "Porto", number_of_rooms: "2" }));
  return { supplied: { eventId: "e1", turn: made, answer }, tools: [SEARCH] } as unknown as AnswerRow;
};

it("a supplied answer releases what it has otherwise, and not what the user had said", () => {
  const rooms = { tool: "SearchHotel", parameter: "number_of_rooms", value: "3", corrected: null, held: false, eventId: "e1" };
  expect(releasedBy([supplied("A hotel in Porto.")])).toEqual([rooms]);
  expect(releasedBy([supplied("3 rooms in Porto.")])).toEqual([]);
});

it("what was learned keeps its place beside many that hold no longer", () => {
  const learned = { tool: "SearchHotel", parameter: "stars", value: "4", corrected: null };
  const released = Array.from({ length: 200 }, (_, at) => ({ ...learned, parameter: `p${at}`, held: false as const }));
  const fitting = fittingDefaults([learned, ...released]);
  expect([fitting.length, fitting[0]]).toEqual([MOST_DEFAULTS, learned]);
});

it("a version that has learned more than can be told answers for everything", () => {
  const learned = { tool: "SearchHotel", parameter: "stars", value: "4", corrected: null };
  const reach = ["SearchHotel"];
  expect(reachOf({ defaults: [learned, { ...learned, value: "4".repeat(201), held: false }], reach })).toEqual(reach);
  expect(reachOf({ defaults: [learned, { ...learned, parameter: "name", value: "4".repeat(201) }], reach })).toBeNull();
  expect(reachOf({ defaults: [learned], reach: Array.from({ length: 129 }, (_, at) => `tool${at}`) })).toBeNull();
});

const tool = SEARCH.function.name;
const expecting = (said: string, args: Record<string, string>) => ({
  messages: [user(said)],
  tools: [...TOOLS],
  expect: { tool, arguments: args },
});
const PARENT = [{ tool, parameter: "number_of_rooms", value: "2", corrected: ["1"], before: 0 }];

describe("releasedByCases", () => {
  it("releases what a case has otherwise though nobody had named it", () => {
    const released = releasedByCases([expecting("A hotel in Porto.", { number_of_rooms: "3", has_wifi: "True" })]);
    expect(inheritDefaults(PARENT, released, () => 1)).toEqual([{ ...PARENT[0], held: false }]);
  });

  it("keeps what a case has as it is, and what the user said otherwise", () => {
    for (const each of [expecting("A hotel in Porto.", { number_of_rooms: "2" }), expecting("3 rooms in Porto.", { number_of_rooms: "3" })])
      expect(inheritDefaults(PARENT, releasedByCases([each]), () => 1)).toEqual(PARENT);
  });

  it("releases aspects of calls and replies", () => {
    const about = { tool, parameter: "@ask", value: "never" };
    const asks = [{ tool, parameter: "@ask", value: "first", corrected: [], before: 0 }];
    const released = releasedByCases([{ ...expecting("A hotel.", {}), expect: { tool, arguments: {}, about } }]);
    expect(inheritDefaults(asks, released, () => 1)).toMatchObject([{ value: "first", held: false }]);
  });
});
