/** What a gate takes a version to be held to. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import type { CarriedDefault } from "../../../shared/yielding.ts";
import { carrying } from "../../../trainer/gate/carried.ts";
import { call, result } from "../hotel.ts";

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
      text: "",
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
    const none = { text: "Which one?", calls: [] };
    expect(carrying(none, { carried: [BOARD], heard })).toEqual(none);
  });

  it("leaves another number than the one that was corrected, and what is held no longer", () => {
    expect(held({ rooms: "6", board: "full" })).toEqual([{ rooms: "6", board: "full" }, {}]);
    expect(held({ board: "none" }, [{ ...BOARD, held: false }])).toEqual([{ board: "none" }, {}]);
  });

  it("words a reply to what was found as the defaults have it that are held", () => {
    const found = [call("SearchHotel", { city: "Faro" }), result('[{"hotel_name": "Vila Gale"}, {"hotel_name": "Casa Azul"}]')];
    const SHORT: CarriedDefault = { tool: "SearchHotel", parameter: "@length", value: "4", corrected: [] };
    const COUNT: CarriedDefault = { ...SHORT, parameter: "@count", value: "told" };
    const said = (text: string, carried: readonly CarriedDefault[], messages: ChatMessage[] = found): string =>
      carrying({ text, calls: [] }, { carried, heard: { messages: [...heard.messages, ...messages], tools } }).text;
    const long = "There are Vila Gale and Casa Azul.";
    expect(said(long, [SHORT])).toBe("I found Vila Gale.");
    expect(said("Casa Azul it is.", [COUNT])).toBe("I found 2. Casa Azul it is.");
    for (const carried of [[{ ...SHORT, held: false as const }], [{ ...SHORT, tool: "SearchFlat" }], []])
      expect(said(long, carried)).toBe(long);
    expect(said(long, [SHORT], [])).toBe(long); // a reply to the user, and to nothing that was found
  });
});
