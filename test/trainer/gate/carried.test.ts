/** What a gate takes a version to be held to. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { AppError } from "../../../shared/errors.ts";
import type { LineHead } from "../../../shared/policy.ts";
import type { CarriedDefault } from "../../../shared/yielding.ts";
import { carriedBy, carrying, filled } from "../../../trainer/gate/carried.ts";
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

  it("puts them in as the types of the schema have them, and none that it has no place for", () => {
    const parameters = { type: "object", properties: { rooms: { type: "integer", maximum: 4 }, wifi: { type: "boolean" } } };
    const typed = [{ type: "function" as const, function: { name: "SearchHotel", parameters } }];
    const defaults = [ROOMS, { ...ROOMS, parameter: "wifi", value: "True" }, { ...BOARD }];
    const calls = [{ name: "SearchHotel", arguments: {} }];
    expect(filled({ calls }, defaults, typed).calls).toEqual([{ name: "SearchHotel", arguments: { rooms: 2, wifi: true } }]);
    expect(filled({ calls }, [{ ...ROOMS, value: "5" }], typed).calls).toEqual(calls);
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
  const version = (number: number, name: string) => ({
    line: "shared",
    version: number,
    policyDigest: name.repeat(64),
    adapter: files(name),
  });
  const [own, ground] = [files("a"), files("b")];
  const learned = [{ tool: "SearchHotel", parameter: "rooms", value: "2", corrected: "1" }];
  const reach = ["SearchHotel"];
  const loadAdapter = async (): Promise<null> => null;
  const board = { tool: "SearchHotel", parameter: "board", value: "full", corrected: [], before: version(0, "c") };
  /** Of a personal line, at version 3. */
  const headOf = (more: Partial<LineHead> = {}): LineHead =>
    ({
      ...{ line: "user-u1", parent: 3, baseDigest: "c".repeat(64), parentAdapter: own, onEngine: false },
      ...{ defaults: [], answering: null, parentKept: null, over: null, ...more },
    }) as unknown as LineHead;
  const beforeOf = (more: Partial<LineHead>): unknown =>
    carriedBy(headOf(more), { learned, reach, loadAdapter }).carried.after[0]?.before?.adapter;

  it("has what is learned asked of the parent, and of the ground where that is new", () => {
    const over = { version: 7, adapter: ground, kept: null };
    expect(beforeOf({ over: null })).toEqual(own);
    expect(beforeOf({ over: { ...over, parentOver: 7 } })).toEqual(own);
    expect(beforeOf({ over: { ...over, parentOver: 6 } })).toEqual(ground);
    expect(beforeOf({ over: { ...over, adapter: null, parentOver: null } })).toBeNull();
  });

  it("inherits on new ground what that has learned, and takes the place of what the user had", () => {
    const kept = { defaults: [board], answering: { outside: version(0, "c"), tools: [{ tool: "SearchHotel", by: version(7, "b") }] } };
    const mine = [{ ...board, value: "half", before: version(3, "a") }];
    const at = (parentOver: number | null) =>
      carriedBy(headOf({ defaults: mine, over: { version: 7, adapter: ground, parentOver, kept } }), { learned, reach, loadAdapter });
    const { carried, standing } = at(6);
    expect(carried.before).toEqual(mine);
    expect(carried.after).toMatchObject([
      { parameter: "rooms", before: version(7, "b") },
      { parameter: "board", value: "full" },
    ]);
    expect(standing).toEqual({ bound: { line: "user-u1", version: 3, adapter: own }, answering: null });
    // One who had nothing of their own was answered by the ground.
    expect(at(null).carried.before).toEqual([board]);
    // Other arguments than the learned ones are as without anything learned on the ground.
    expect([at(6).outside, at(null).outside]).toEqual([version(0, "c"), version(0, "c")]);
    expect(at(null).standing).toEqual({ bound: { line: "shared", version: 7, adapter: ground }, answering: kept.answering });
  });

  it("asks the version that answered for the tool so far, and says for which tools the candidate does now", () => {
    const answering = { outside: version(0, "c"), tools: [{ tool: "SearchHotel", by: version(1, "d") }] };
    const head = headOf({ defaults: [board], answering });
    const first = carriedBy(head, { learned, reach, loadAdapter });
    expect(first.carried.after.map(({ before }) => before?.adapter)).toEqual([files("d"), files("c")]);
    expect(first).toMatchObject({ reach, standing: { bound: { version: 3 }, answering } });
    const flat = [{ tool: "SearchFlat", parameter: "rooms", value: "2", corrected: null }];
    const outside = carriedBy(head, { learned: flat, reach: ["SearchFlat"], loadAdapter });
    expect(outside.carried.after[0]?.before?.adapter).toEqual(files("c"));
    // Of the parent, where that is not the stable version.
    const parentKept = { defaults: [], answering: { outside: version(2, "f"), tools: [] } };
    const parent = carriedBy(headOf({ defaults: [board], answering, parentKept }), { learned, reach, loadAdapter });
    expect(parent.carried.after[0]?.before?.adapter).toEqual(files("f"));
    expect(parent.carried.before).toEqual([]);
    expect(carriedBy(head, { learned, reach: null, loadAdapter }).reach).toBeNull();
    // Engines elsewhere have one answer for all.
    const elsewhere = carriedBy({ ...head, onEngine: true }, { learned, reach, loadAdapter });
    expect([elsewhere.reach, elsewhere.standing.answering, elsewhere.outside]).toEqual([null, null, undefined]);
    // The first that learns anything is the last that has not.
    expect(carriedBy(headOf(), { learned, reach, loadAdapter }).outside).toEqual({ line: "user-u1", version: 3, adapter: own });
  });

  it("has no version to ask whose files are gone", async () => {
    const gone = async (): Promise<never> => {
      throw new AppError("input/notFound", "gone", { details: { status: 404 } });
    };
    expect(await carriedBy(headOf(), { learned, reach, loadAdapter: gone }).loadBefore(own)).toBeUndefined();
  });
});
