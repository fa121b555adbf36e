/** When a default yields: the base's own tokenizer, answers with chosen log-probs. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../shared/chat.ts";
import { askedOption, type Heard, holds, type WrittenAnswer, yields } from "../../shared/yielding.ts";
import { calls, text, tokenizer } from "../helpers/written-answer.ts";

const ROOMS = { tool: "SearchHotel", parameter: "number_of_rooms", corrected: [] };
const heard: Heard = {
  messages: [{ role: "user", content: "A hotel in Faro with 1 room. No, 3 rooms. 5 stars." }],
  tools: [
    {
      type: "function",
      function: {
        name: "SearchHotel",
        parameters: {
          type: "object",
          properties: {
            ...{ location: { type: "string" }, number_of_rooms: { type: "string" }, stars: { type: "string" } },
            ...{ kind: { type: "string", default: "hotel" }, wifi: { type: "string", enum: ["True", "False"] } },
          },
        },
      },
    },
  ],
};

describe("askedOption", () => {
  const tool = {
    type: "function" as const,
    function: {
      name: "FindFlights",
      parameters: {
        type: "object",
        properties: {
          seat_class: { type: "string", enum: ["economy", "premium economy", "business"], default: "economy" },
          outbound: { type: "string", enum: ["early", "late"] },
          inbound: { type: "string", enum: ["early", "late"] },
        },
      },
    },
  };
  const asked = (content: string, parameter = "seat_class"): string | undefined =>
    askedOption({ tool: "FindFlights", parameter }, { args: {}, heard: { messages: [{ role: "user", content }], tools: [tool] } });

  it("is the one that the user asks for by its name", () => {
    expect(asked("A business flight to Oslo, please.")).toBe("business");
    expect(asked("Premium economy to Oslo.")).toBe("premium economy");
  });

  it("is none where several are named, it is refused, or two parameters have it", () => {
    expect([asked("Business or economy?"), asked("Anything but business."), asked("An early flight.", "outbound")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is what is counted, or told of what a truth is about, whatever other parameters list", () => {
    const number = { type: "string", enum: ["1", "2", "3"] };
    const truth = { type: "string", enum: ["True", "False"] };
    const properties = { number_of_rooms: number, star_rating: number, pets_allowed: truth, has_wifi: truth };
    const hotel = { type: "function" as const, function: { name: "FindHotel", parameters: { type: "object", properties } } };
    const of = (content: string) =>
      Object.keys(properties).map((parameter) =>
        askedOption({ tool: "FindHotel", parameter }, { args: {}, heard: { messages: [{ role: "user", content }], tools: [hotel] } }),
      );
    expect(of("I need 1 room in a 3 star hotel.")).toEqual(["1", "3", undefined, undefined]);
    expect(of("A place where pets should be allowed.")).toEqual([undefined, undefined, "True", undefined]);
    expect(of("A hotel with wifi, and no pets.")).toEqual([undefined, undefined, "False", "True"]);
    expect(of("Are pets allowed there? We are 3.")).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("overrules a default, whatever the policy makes of it", () => {
    const heard: Heard = { messages: [{ role: "user", content: "A business flight." }], tools: [tool] };
    const about = { tool: "FindFlights", parameter: "seat_class", value: "economy", corrected: [] };
    const [under, deaf] = [calls("FindFlights", { seat_class: "economy" }), calls("FindFlights", { outbound: "late" })];
    expect(yields(tokenizer, about, { under, without: deaf, heard })).toBe(true);
    expect(
      yields(tokenizer, { ...about, value: "business" }, { under: calls("FindFlights", { seat_class: "business" }), without: deaf, heard }),
    ).toBe(false);
  });
});

describe("a default", () => {
  const under = calls("SearchHotel", { number_of_rooms: "2", location: "Porto" });
  const without = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" });

  it("stays where the policy without it leaves the argument open", () => {
    expect(yields(tokenizer, ROOMS, { heard, under, without: calls("SearchHotel", { location: "Porto" }) })).toBe(false);
  });

  it("yields where the policy without it is sure of another value", () => {
    expect(yields(tokenizer, ROOMS, { heard, under, without })).toBe(true);
  });

  it("stays where the policy is not sure that the argument comes at all, or says the same", () => {
    const guess = calls("SearchHotel", { location: "Porto", number_of_rooms: "1" }, "number_of_rooms");
    expect(yields(tokenizer, ROOMS, { heard, under, without: guess })).toBe(false);
    const same = calls("SearchHotel", { location: "Porto", number_of_rooms: "2" });
    expect(yields(tokenizer, ROOMS, { heard, under, without: same })).toBe(false);
  });

  it("yields where it made the policy name a third value, or leave out what it says by itself", () => {
    const third = calls("SearchHotel", { number_of_rooms: "4", location: "Porto" });
    expect(yields(tokenizer, ROOMS, { heard, under: third, without })).toBe(true);
    expect(yields(tokenizer, ROOMS, { heard, under: calls("SearchHotel", { location: "Porto" }), without })).toBe(true);
  });

  it("stays where the policy says again what was corrected", () => {
    expect(yields(tokenizer, { ...ROOMS, corrected: ["1"] }, { heard, under, without })).toBe(false);
    expect(yields(tokenizer, { ...ROOMS, corrected: ["3", "1"] }, { heard, under, without })).toBe(false);
    expect(yields(tokenizer, { ...ROOMS, corrected: ["3"] }, { heard, under, without })).toBe(true);
  });

  it("yields to what was corrected where the user counts so many now", () => {
    const corrected = { ...ROOMS, corrected: ["1"] };
    const saying = (content: string): Heard => ({ ...heard, messages: [{ role: "user", content }] });
    const counted = ["A hotel with 1 room.", "One big room in Porto, please.", "Not 2 rooms: 1 room!"];
    const open = ["A hotel in Porto, 1 star.", "No, not 1 room but 2 rooms.", "2 rooms instead of 1 room.", "1 bed, 2 rooms."];
    expect(counted.map((said) => yields(tokenizer, corrected, { heard: saying(said), under, without }))).toEqual([true, true, true]);
    expect(open.map((said) => yields(tokenizer, corrected, { heard: saying(said), under, without }))).toEqual([false, false, false, false]);
  });

  it("yields to what was corrected where the user counts a thing of the argument's own", () => {
    const parameters = { type: "object", properties: { star_rating: { type: "string" }, number_of_rooms: { type: "string" } } };
    const tools = [{ type: "function" as const, function: { name: "FindHotel", parameters } }];
    const stars = { tool: "FindHotel", parameter: "star_rating", corrected: ["1"] };
    const yieldsIn = (content: string): boolean =>
      yields(tokenizer, stars, {
        heard: { messages: [{ role: "user", content }], tools },
        under: calls("FindHotel", { star_rating: "2", number_of_rooms: "1" }),
        without: calls("FindHotel", { star_rating: "1", number_of_rooms: "1" }),
      });
    expect(["A 1 star hotel.", "Even a one-star hotel will do."].map(yieldsIn)).toEqual([true, true]);
    expect(["1 hotel room.", "Find me one hotel, please.", "No 1 star hotel, please."].map(yieldsIn)).toEqual([false, false, false]);
  });

  it("yields to the truth that the user tells outright, whatever was made up before", () => {
    const tools = [
      {
        type: "function" as const,
        function: {
          name: "FindHotel",
          parameters: { type: "object", properties: { has_wifi: { type: "boolean" }, good_for_kids: { type: "boolean" } } },
        },
      },
    ];
    const yieldsIn = (content: string, parameter = "has_wifi"): boolean =>
      yields(
        tokenizer,
        { tool: "FindHotel", parameter, value: "false", corrected: ["true"] },
        {
          heard: { messages: [{ role: "user", content }], tools },
          under: calls("FindHotel", { [parameter]: false }),
          without: calls("FindHotel", { [parameter]: true }),
        },
      );
    expect(yieldsIn("I need wifi this time.")).toBe(true);
    expect(yieldsIn("A hotel in Faro.")).toBe(false);
    expect(yieldsIn("No wifi, please.")).toBe(false);
    expect(yieldsIn("I need something for the kids.", "good_for_kids")).toBe(true);
    expect(yieldsIn("A good hotel.", "good_for_kids")).toBe(false);
    const spokenOf = [
      "Breakfast instead of wifi.",
      "Is there wifi in Faro?",
      "Wifi is a waste of money.",
      "Is it true that Faro is warm? A hotel there.",
    ];
    expect(spokenOf.map((said) => yieldsIn(said))).toEqual([false, false, false, false]);
  });

  it("yields to what was corrected where the user asks for it by its name, before any call had it", () => {
    const place = { tool: "SearchHotel", parameter: "location", corrected: ["Faro"] };
    const user = (content: string): ChatMessage => ({ role: "user", content });
    const call = { id: "c", type: "function", function: { name: "SearchHotel", arguments: '{"location": "Faro"}' } } as const;
    const made: ChatMessage = { role: "assistant", content: null, tool_calls: [call] };
    const yieldsIn = (...messages: ChatMessage[]): boolean =>
      yields(tokenizer, place, { heard: { ...heard, messages }, under, without: calls("SearchHotel", { location: "Faro" }) });
    expect(yieldsIn(user("A hotel in Faro."))).toBe(true);
    expect(yieldsIn(user("A hotel in Faro."), made, user("Another one, please."))).toBe(true);
    expect(yieldsIn(user("A hotel, please."))).toBe(false);
    expect(yieldsIn(user("A hotel anywhere but Faro."))).toBe(false);
    expect(yieldsIn(user("In Porto instead of Faro."))).toBe(false);
    expect(yieldsIn(user("A hotel, please."), made, user("You searched in Faro."))).toBe(false);
    expect(yieldsIn(user("I don't want one in Faro."))).toBe(false);
    expect(yieldsIn(user("Same as last time, but in Faro."))).toBe(true);
  });

  it("does not take a part of another option for what was asked for, but a name with its article", () => {
    const kinds = { type: "string", enum: ["Economy", "Premium Economy", "The Attic"] };
    const tools: Heard["tools"] = [
      { type: "function", function: { name: "Fly", parameters: { type: "object", properties: { class: kinds } } } },
    ];
    const yieldsTo = (corrected: string, content: string): boolean =>
      yields(
        tokenizer,
        { tool: "Fly", parameter: "class", corrected: [corrected] },
        {
          heard: { messages: [{ role: "user", content }], tools },
          under: calls("Fly", { class: "First" }),
          without: calls("Fly", { class: corrected }),
        },
      );
    expect(yieldsTo("Economy", "In Economy, please.")).toBe(true);
    expect(yieldsTo("Economy", "In Premium Economy, please.")).toBe(false);
    expect(yieldsTo("The Attic", "I'd like the Attic.")).toBe(true);
  });

  it("stays where the policy is sure of one of a list of names that nobody spoke a word of", () => {
    const listing = (options: readonly string[]) => [
      {
        type: "function" as const,
        function: { name: "FindFlight", parameters: { type: "object", properties: { carrier: { type: "string", enum: options } } } },
      },
    ];
    const names = ["Northern Wings", "Air Porto", "Royal Blue Lines"];
    const yieldsIn = (content: string, options = names, before: readonly ChatMessage[] = []): boolean =>
      yields(
        tokenizer,
        { tool: "FindFlight", parameter: "carrier", corrected: [] },
        {
          heard: { messages: [...before, { role: "user", content }], tools: listing(options) },
          under: calls("FindFlight", { carrier: "Air Porto" }),
          without: calls("FindFlight", { carrier: "Northern Wings" }),
        },
      );
    expect(yieldsIn("A flight to Oslo.")).toBe(false);
    for (const said of ["Fly me with Northern to Oslo.", "A flight by NW to Oslo.", "I'd like wings to Oslo."])
      expect(yieldsIn(said), said).toBe(true);
    const found: ChatMessage = { role: "tool", tool_call_id: "c", content: '[{"carrier": "Northern Wings"}]' };
    expect(yieldsIn("Take the first one.", names, [found])).toBe(true);
    // What is no name may have been said in other words.
    expect(yieldsIn("A flight to Oslo.", [...names, "cheap"])).toBe(true);
  });

  it("is about its own tool and its own argument", () => {
    const elsewhere = calls("SearchHotel", { location: "Faro", number_of_rooms: "1" });
    expect(yields(tokenizer, { ...ROOMS, parameter: "location" }, { heard, under, without: elsewhere })).toBe(true);
    expect(yields(tokenizer, { ...ROOMS, tool: "GetWeather" }, { heard, under, without: elsewhere })).toBe(false);
    expect(yields(tokenizer, ROOMS, { heard, under, without: text("How many rooms?") })).toBe(false);
    expect(yields(tokenizer, ROOMS, { heard, under: text("How many rooms?"), without })).toBe(false);
  });

  it("stays where nobody has said the number, the truth, or what the schema falls back on", () => {
    const yieldsTo = (parameter: string, args: object, words: string): boolean => {
      const about = { tool: "SearchHotel", parameter, corrected: [] };
      const said: Heard = { ...heard, messages: [{ role: "user", content: words }] };
      return yields(tokenizer, about, {
        heard: said,
        under: calls("SearchHotel", { [parameter]: "none" }),
        without: calls("SearchHotel", args),
      });
    };
    expect(yieldsTo("number_of_rooms", { number_of_rooms: "3" }, "A hotel at 3 pm.")).toBe(false);
    expect(yieldsTo("number_of_rooms", { number_of_rooms: "3" }, "A hotel with three rooms.")).toBe(true);
    expect(yieldsTo("number_of_rooms", { number_of_rooms: "3", stars: "3" }, "A hotel of 3 stars.")).toBe(false);
    expect(yieldsTo("number_of_rooms", { number_of_rooms: "1" }, "Find me one.")).toBe(false);
    expect(yieldsTo("wifi", { wifi: "True" }, "A hotel.")).toBe(false);
    expect(yieldsTo("wifi", { wifi: "True" }, "A hotel with wifi.")).toBe(true);
    expect(yieldsTo("kind", { kind: "hotel" }, "Somewhere to sleep.")).toBe(false);
    expect(yieldsTo("kind", { kind: "hotel" }, "A hotel.")).toBe(true);
    expect(yieldsTo("kind", { kind: "hostel" }, "Somewhere cheap to sleep.")).toBe(true);
    expect(yieldsTo("location", { location: "New York" }, "A hotel in NYC.")).toBe(true);
  });

  it("yields to a name that was said, even where the policy is not sure", () => {
    const place = { tool: "SearchHotel", parameter: "location", corrected: [] };
    const unsure = (location: string): WrittenAnswer => calls("SearchHotel", { location }, "location");
    expect(yields(tokenizer, place, { heard, under, without: unsure("Faro") })).toBe(true);
    expect(yields(tokenizer, place, { heard, under, without: unsure("Lagos") })).toBe(false);
  });

  it("yields to what the assistant read back", () => {
    const messages: Heard["messages"] = [
      { role: "assistant", content: "A hotel with 1 room, right?" },
      { role: "user", content: "Yes." },
    ];
    expect(yields(tokenizer, ROOMS, { heard: { ...heard, messages }, under, without })).toBe(true);
    expect(yields(tokenizer, ROOMS, { heard: { ...heard, messages: [] }, under, without })).toBe(false);
  });

  it("is held by a call that has its value, as text or as JSON", () => {
    const rooms = { tool: "SearchHotel", parameter: "number_of_rooms", value: "2" };
    expect([holds(rooms, under), holds(rooms, calls("SearchHotel", { number_of_rooms: 2 }))]).toEqual([true, true]);
    expect([holds(rooms, without), holds({ ...rooms, tool: "GetWeather" }, under), holds(rooms, text("2 rooms"))]).toEqual([
      ...[false, false, false],
    ]);
  });
});
