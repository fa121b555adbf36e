/** Which notes are in force, in which order, and which a request gets. */
import { describe, expect, it } from "vitest";
import {
  type Ancestry,
  judgeNotes,
  MOST_IN_FORCE,
  notesFor,
  overflowing,
  promptNotes,
  type StoredNote,
} from "../../../edge/agent/notes.ts";
import { SEARCH, WEATHER } from "../../trainer/hotel.ts";

let count = 0;
function stored(changes: Partial<StoredNote> = {}): StoredNote {
  count += 1;
  const [noteId, eventId] = [`n_${count}`, `t${count}/next`];
  return {
    ...{ noteId, line: "shared", user: "u1", scope: "user", tool: "SearchHotel", parameter: "number_of_rooms", value: "2" },
    ...{ text: "number_of_rooms should be 2.", corrected: null, eventId, turnId: `t${count}`, uses: 0, lastUsedAt: null },
    ...{ createdAt: "2026-01-01T00:00:00.000Z", learnedBy: null, absorbedBy: null, dropped: false },
    ...changes,
  };
}
/** A line without a canary, by its stable version's ancestry. */
const serving = (...ancestry: number[]): Ancestry => ({ serving: new Set(ancestry), inFlight: new Set(ancestry), learned: [] });
const statuses = (notes: readonly StoredNote[], ...ancestry: number[]): string[] =>
  judgeNotes(notes, serving(...ancestry))
    .toReversed()
    .map(({ status }) => status);

describe("judgeNotes", () => {
  it("lets the last correction of an argument count, for each user and for everybody apart", () => {
    const notes = [stored(), stored({ value: "3" }), stored({ user: "u2" }), stored({ scope: "agent" }), stored({ parameter: "city" })];
    expect(statuses(notes, 0)).toEqual(["superseded", "inForce", "inForce", "inForce", "inForce"]);
    expect(statuses([stored({ scope: "agent" }), stored({ scope: "agent", user: "u2" })], 0)).toEqual(["superseded", "inForce"]);
  });

  it("lets the last choice between two tools count, whichever way round, and the last wish to be asked or not", () => {
    const choice = (tool: string, value: string) => stored({ parameter: "@tool", tool, value });
    expect(statuses([choice("SearchHotel", "FindRoom"), choice("FindRoom", "SearchHotel")], 0)).toEqual(["superseded", "inForce"]);
    expect(statuses([choice("SearchHotel", "FindRoom"), choice("SearchHotel", "BookRoom")], 0)).toEqual(["superseded", "inForce"]);
    expect(statuses([choice("SearchHotel", "FindRoom"), choice("GetWeather", "BookRoom")], 0)).toEqual(["inForce", "inForce"]);
    const wish = (value: string) => stored({ parameter: "@ask", value });
    expect(statuses([wish("first"), wish("never"), stored()], 0)).toEqual(["superseded", "inForce", "inForce"]);
  });

  it("lets the one before count again where the last was dropped or rolled back", () => {
    expect(statuses([stored(), stored({ dropped: true })], 0)).toEqual(["inForce", "dropped"]);
    expect(statuses([stored({ learnedBy: 1 }), stored({ learnedBy: 2 })], 0, 1)).toEqual(["inForce", "rolledBack"]);
    expect(statuses([stored({ learnedBy: 1 }), stored({ learnedBy: 2 })], 0, 1, 2)).toEqual(["superseded", "inForce"]);
  });

  it("takes a note out of force for the version that absorbed it and its descendants only", () => {
    const note = stored({ learnedBy: 1, absorbedBy: 2 });
    expect([statuses([note], 0, 1), statuses([note], 0, 1, 2), statuses([note], 0, 1, 2, 3), statuses([note], 0)].flat()).toEqual([
      "inForce",
      "absorbed",
      "absorbed",
      "rolledBack",
    ]);
  });
});

it("puts an absorbed note in force again where the version has been taught otherwise since", () => {
  const note = stored({ learnedBy: 1, absorbedBy: 1 });
  const place = { tool: note.tool, parameter: note.parameter };
  const status = (...learned: Ancestry["learned"]) => judgeNotes([note], { ...serving(0, 1, 2), learned }).map((each) => each.status);
  expect(status({ ...place, value: "2" })).toEqual(["absorbed"]);
  expect(status({ ...place, value: "3" })).toEqual(["inForce"]);
  expect(status({ ...place, parameter: "city", value: "3" })).toEqual(["absorbed"]);
});

it("leaves a note in force that only a version on trial has learned, and learns of nothing absorbed there", () => {
  const trial: Ancestry = { serving: new Set([0]), inFlight: new Set([0, 1]), learned: [] };
  const notes = [
    stored({ learnedBy: 1 }),
    stored({ learnedBy: 1, absorbedBy: 1, parameter: "city" }),
    stored({ learnedBy: 2, parameter: "area" }),
  ];
  expect(judgeNotes(notes, trial).map(({ status }) => status)).toEqual(["rolledBack", "inForce", "inForce"]);
});

describe("promptNotes", () => {
  it("gives a request what is about its tools, of a choice both", () => {
    const notes = judgeNotes(
      [stored({ parameter: "@tool", value: "GetWeather" }), stored({ parameter: "@ask", value: "first" })],
      serving(0),
    );
    const [search, weather] = [SEARCH, { ...WEATHER, function: { ...WEATHER.function, name: "GetWeather" } }];
    expect(promptNotes(notes, [search, weather]).map(({ parameter }) => parameter)).toEqual(["@ask", "@tool"]);
    expect(promptNotes(notes, [search]).map(({ parameter }) => parameter)).toEqual(["@ask"]);
    expect(promptNotes(notes, [weather])).toEqual([]);
  });
});

describe("notesFor", () => {
  const given = (notes: readonly StoredNote[], user: string, setting: "user" | "agent"): string[] =>
    notesFor(judgeNotes(notes, serving(0)), user, { notes: setting }).map(({ noteId }) => noteId);

  it("gives a user's own, newest first, and everybody's where the agent's setting says so", () => {
    const notes = [
      stored({ noteId: "own" }),
      stored({ noteId: "city", parameter: "city", uses: 3 }),
      stored({ noteId: "all", parameter: "has_wifi", scope: "agent", user: "u2" }),
      stored({ noteId: "other", user: "u2" }),
    ];
    expect(given(notes, "u1", "user")).toEqual(["city", "own"]);
    expect(given(notes, "u1", "agent")).toEqual(["all", "city", "own"]);
    expect(given(notes, "u2", "user")).toEqual(["other", "all"]);
  });

  it("lets the newest that the user gave win, for whomever it was given, and then everybody's", () => {
    const own = stored({ noteId: "own" });
    const all = stored({ noteId: "all", scope: "agent", user: "u2" });
    expect([given([own, all], "u1", "agent"), given([all, own], "u1", "agent"), given([own, all], "u3", "agent")]).toEqual([
      ["own"],
      ["own"],
      ["all"],
    ]);
    const later = stored({ noteId: "later", scope: "agent" });
    expect([given([own, later], "u1", "agent"), given([own, later], "u1", "user"), given([later, own], "u1", "user")]).toEqual([
      ["later"],
      ["later"],
      ["own"],
    ]);
    // What the weights do by themselves is not overruled by somebody else's older wish.
    expect(given([all, stored({ absorbedBy: 0 })], "u1", "agent")).toEqual([]);
  });
});

describe("overflowing", () => {
  it("names the least used beyond the cap, of equals the oldest, and never the newest", () => {
    const many = Array.from({ length: MOST_IN_FORCE + 1 }, (_, index) =>
      stored({ noteId: `m${index}`, parameter: `p${index}`, uses: index === 4 ? 0 : index === MOST_IN_FORCE ? 0 : 2 }),
    );
    const judged = judgeNotes(many, serving(0));
    expect(overflowing(judged, { user: "u1", scope: "user" }).map(({ noteId }) => noteId)).toEqual(["m4"]);
    expect(overflowing(judged.slice(1), { user: "u1", scope: "user" })).toEqual([]);
    expect(overflowing(judged, { user: "u1", scope: "agent" })).toEqual([]);
  });
});

describe("promptNotes", () => {
  const judged = (...notes: StoredNote[]) => notesFor(judgeNotes(notes, serving(0)), "u1", { notes: "user" });

  it("takes those about the tools at hand and their parameters", () => {
    const notes = judged(stored(), stored({ tool: "GetWeather", parameter: "place" }), stored({ parameter: "stars" }));
    expect(promptNotes(notes, [SEARCH])).toEqual([
      {
        noteId: notes[2]?.noteId,
        text: "number_of_rooms should be 2.",
        tool: "SearchHotel",
        parameter: "number_of_rooms",
        value: "2",
        corrected: null,
      },
    ]);
    expect(promptNotes(notes, [SEARCH, WEATHER])).toHaveLength(2);
    expect(promptNotes(notes, [])).toEqual([]);
  });

  it("takes four: the two newest, whatever else is used, then the most used", () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    const wide = { type: "function" as const, function: { name: "Wide", parameters: { properties } } };
    const notes = judged(
      ...names.map((name, index) => stored({ noteId: name, tool: "Wide", parameter: name, uses: index < 4 ? index + 1 : 0 })),
    );
    expect(promptNotes(notes, [wide]).map(({ noteId }) => noteId)).toEqual(["f", "e", "d", "c"]);
  });
});
