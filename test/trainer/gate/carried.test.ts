/** What a gate takes a version to be held to. */
import { describe, expect, it } from "vitest";
import type { CarriedDefault } from "../../../shared/yielding.ts";
import { carrying } from "../../../trainer/gate/carried.ts";

const string = { type: "string" };
const tools = [
  {
    type: "function" as const,
    function: {
      name: "SearchHotel",
      parameters: { type: "object", properties: { rooms: string, board: { type: "string", enum: ["none", "full"] } } },
    },
  },
];
const heard = { messages: [{ role: "user" as const, content: "A hotel in Faro, please." }], tools };
const BOARD: CarriedDefault = { tool: "SearchHotel", parameter: "board", value: "full", corrected: ["none"] };
const ROOMS: CarriedDefault = { tool: "SearchHotel", parameter: "rooms", value: "2", corrected: ["1"] };
const held = (args: object, carried: readonly CarriedDefault[] = [BOARD, ROOMS], name = "SearchHotel"): unknown =>
  carrying(
    {
      calls: [
        { name, arguments: { ...args } },
        { name, arguments: {} },
      ],
    },
    { carried, heard },
  ).calls.map((call) => call.arguments);

describe("carrying", () => {
  it("puts the defaults into the first call that passes over them, and into no other", () => {
    expect(held({ rooms: "1", board: "none" })).toEqual([{ rooms: "2", board: "full" }, {}]);
    expect(held({ city: "Faro" })).toEqual([{ city: "Faro", rooms: "2", board: "full" }, {}]);
    expect(held({ rooms: "1" }, [ROOMS], "SearchFlat")).toEqual([{ rooms: "1" }, {}]);
    expect(carrying({ calls: [] }, { carried: [BOARD], heard })).toEqual({ calls: [] });
  });

  it("leaves another number than the one that was corrected, and what is held no longer", () => {
    expect(held({ rooms: "6", board: "full" })).toEqual([{ rooms: "6", board: "full" }, {}]);
    expect(held({ board: "none" }, [{ ...BOARD, held: false }])).toEqual([{ board: "none" }, {}]);
  });
});
