/** Which notes are in force, in which order, and which a request gets. */
import { describe, expect, it } from "vitest";
import { judgeNotes, MOST_IN_FORCE, notesFor, overflowing, promptNotes, type StoredNote } from "../../../edge/agent/notes.ts";
import { SEARCH, WEATHER } from "../../trainer/hotel.ts";

let count = 0;
function stored(changes: Partial<StoredNote> = {}): StoredNote {
  count += 1;
  const [noteId, eventId] = [`n_${count}`, `t${count}/next`];
  return {
    ...{ noteId, line: "shared", user: "u1", tool: "SearchHotel", parameter: "number_of_rooms", value: "2" },
    ...{ text: "number_of_rooms should be 2.", eventId, turnId: `t${count}`, uses: 0, lastUsedAt: null },
    ...{ createdAt: "2026-01-01T00:00:00.000Z", learnedBy: null, absorbedBy: null, dropped: false },
    ...changes,
  };
}
const statuses = (notes: readonly StoredNote[], ...ancestry: number[]): string[] =>
  judgeNotes(notes, new Set(ancestry))
    .toReversed()
    .map(({ status }) => status);

describe("judgeNotes", () => {
  it("lets the last correction of an argument count, for each user and for everybody apart", () => {
    const notes = [stored(), stored({ value: "3" }), stored({ user: "u2" }), stored({ user: null }), stored({ parameter: "city" })];
    expect(statuses(notes, 0)).toEqual(["superseded", "inForce", "inForce", "inForce", "inForce"]);
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

describe("notesFor", () => {
  it("gives a user's own and everybody's, the most used first, of equals the newest", () => {
    const notes = [
      stored({ noteId: "old", parameter: "city" }),
      stored({ noteId: "new", parameter: "has_wifi" }),
      stored({ noteId: "used", uses: 3 }),
      stored({ noteId: "all", user: null, uses: 1 }),
      stored({ noteId: "other", user: "u2", uses: 9 }),
    ];
    expect(notesFor(judgeNotes(notes, new Set([0])), "u1").map(({ noteId }) => noteId)).toEqual(["used", "all", "new", "old"]);
  });
});

describe("overflowing", () => {
  it("names the least used beyond the cap, of equals the oldest, and never the newest", () => {
    const many = Array.from({ length: MOST_IN_FORCE + 1 }, (_, index) =>
      stored({ noteId: `m${index}`, parameter: `p${index}`, uses: index === 4 ? 0 : index === MOST_IN_FORCE ? 0 : 2 }),
    );
    const judged = judgeNotes(many, new Set([0]));
    expect(overflowing(judged, "u1").map(({ noteId }) => noteId)).toEqual(["m4"]);
    expect(overflowing(judged.slice(1), "u1")).toEqual([]);
    expect(overflowing(judged, null)).toEqual([]);
  });
});

describe("promptNotes", () => {
  const judged = (...notes: StoredNote[]) => notesFor(judgeNotes(notes, new Set([0])), "u1");

  it("takes those about the tools at hand and their parameters, four at most", () => {
    const notes = judged(stored(), stored({ tool: "GetWeather", parameter: "place" }), stored({ parameter: "stars" }));
    expect(promptNotes(notes, [SEARCH])).toEqual([{ noteId: notes[2]?.noteId, text: "number_of_rooms should be 2." }]);
    expect(promptNotes(notes, [SEARCH, WEATHER])).toHaveLength(2);
    expect(promptNotes(notes, [])).toEqual([]);
    const wide = {
      type: "function" as const,
      function: { name: "Wide", parameters: { properties: Object.fromEntries("abcdef".split("").map((name) => [name, {}])) } },
    };
    expect(promptNotes(judged(...["a", "b", "c", "d", "e"].map((parameter) => stored({ tool: "Wide", parameter }))), [wide])).toHaveLength(
      4,
    );
  });

  it("takes the user's own before everybody's of the same argument", () => {
    const notes = judged(stored({ user: null, value: "3", uses: 5 }), stored({ noteId: "own" }));
    expect(promptNotes(notes, [SEARCH]).map(({ noteId }) => noteId)).toEqual(["own"]);
  });
});
