/** Which defaults of its parent an imported version is no longer held to. */
import { describe, expect, it } from "vitest";
import { inheritDefaults } from "../../../shared/learned-defaults.ts";
import { releasedByCases } from "../../../trainer/import/released.ts";
import { SEARCH, TOOLS, user } from "../hotel.ts";

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
    expect(inheritDefaults(PARENT, released, 1)).toEqual([{ ...PARENT[0], held: false }]);
  });

  it("keeps what a case has as it is, and what the user said otherwise", () => {
    for (const each of [expecting("A hotel in Porto.", { number_of_rooms: "2" }), expecting("3 rooms in Porto.", { number_of_rooms: "3" })])
      expect(inheritDefaults(PARENT, releasedByCases([each]), 1)).toEqual(PARENT);
  });

  it("releases aspects of calls and replies", () => {
    const about = { tool, parameter: "@ask", value: "never" };
    const asks = [{ tool, parameter: "@ask", value: "first", corrected: [], before: 0 }];
    const released = releasedByCases([{ ...expecting("A hotel.", {}), expect: { tool, arguments: {}, about } }]);
    expect(inheritDefaults(asks, released, 1)).toMatchObject([{ value: "first", held: false }]);
  });
});
