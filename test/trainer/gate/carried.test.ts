/** What a gate takes a version to be held to. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { AppError } from "../../../shared/errors.ts";
import type { CarriedDefault } from "../../../shared/yielding.ts";
import { carriedBy, carrying } from "../../../trainer/gate/carried.ts";
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

describe("carriedBy", () => {
  const files = (name: string) => ({ configDigest: name.repeat(64), weightsDigest: name.repeat(64), rank: 16, alpha: 32 });
  const [own, ground] = [files("a"), files("b")];
  const learned = [{ tool: "SearchHotel", parameter: "rooms", value: "2", corrected: "1" }];
  const loadAdapter = async (): Promise<null> => null;
  const NONE = { onEngine: false, parentOutside: null, outside: null };
  const beforeOf = (over: Parameters<typeof carriedBy>[0]["over"]): unknown => {
    const head = { baseDigest: "c".repeat(64), parentAdapter: own, parentDefaults: null, defaults: [], ...NONE, over };
    return carriedBy(head, { learned, reach: "tools", loadAdapter }).carried.after[0]?.before?.adapter;
  };

  it("has what is learned asked of the parent, and of the ground where that is new", () => {
    expect(beforeOf(null)).toEqual(own);
    expect(beforeOf({ version: 7, adapter: ground, parentOver: 7 })).toEqual(own);
    expect(beforeOf({ version: 7, adapter: ground, parentOver: 6 })).toEqual(ground);
    expect(beforeOf({ version: 7, adapter: null, parentOver: null })).toBeNull();
  });

  it("asks the version that answered for the tool so far, and says for which tools the candidate does now", () => {
    const version = (number: number, name: string) => ({
      line: "shared",
      version: number,
      policyDigest: name.repeat(64),
      adapter: files(name),
    });
    const board = { tool: "SearchHotel", parameter: "board", value: "full", corrected: [] };
    const known = [{ ...board, before: version(0, "c"), by: version(1, "d") }];
    const head = { baseDigest: "c".repeat(64), parentAdapter: own, parentDefaults: null, defaults: known, ...NONE, over: null };
    const first = carriedBy({ ...head, outside: version(0, "c") }, { learned, reach: "tools", loadAdapter });
    expect(first.carried.after.map(({ before }) => before?.adapter)).toEqual([files("d"), files("c")]);
    expect(first.answersFor).toEqual(new Set(["SearchHotel"]));
    const flat = [{ tool: "SearchFlat", parameter: "rooms", value: "2", corrected: null }];
    const outside = carriedBy({ ...head, outside: version(0, "e") }, { learned: flat, reach: "tools", loadAdapter });
    expect(outside.carried.after[0]?.before?.adapter).toEqual(files("e"));
    // Of the parent, where that is not the stable version.
    const parent = carriedBy({ ...head, parentDefaults: [], parentOutside: version(2, "f") }, { learned, reach: "tools", loadAdapter });
    expect(parent.carried.after[0]?.before?.adapter).toEqual(files("f"));
    expect(carriedBy(head, { learned, reach: "everything", loadAdapter }).answersFor).toBeUndefined();
    expect(carriedBy({ ...head, onEngine: true }, { learned, reach: "tools", loadAdapter }).answersFor).toBeUndefined();
  });

  it("has no version to ask whose files are gone", async () => {
    const gone = async (): Promise<never> => {
      throw new AppError("input/notFound", "gone", { details: { status: 404 } });
    };
    const head = { baseDigest: "c".repeat(64), parentAdapter: own, parentDefaults: null, defaults: [], ...NONE, over: null };
    expect(await carriedBy(head, { learned, reach: "tools", loadAdapter: gone }).loadBefore(own)).toBeUndefined();
  });
});
