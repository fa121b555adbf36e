/** What a user gives an argument: named, counted, meant, left open, turned down. */
import { describe, expect, it } from "vitest";
import { type Parameter, parameterOf, readParameters } from "../../../shared/speech/parameters.ts";
import { isLeftOpen, isTurnedDown, mayBeMeant, wasGiven, wasNamed } from "../../../shared/speech/given.ts";

const parameter = { words: "party size" };
const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });
const given = (value: string, ...said: (string | ReturnType<typeof assistant>)[]): boolean =>
  wasGiven(
    said.map((each) => (typeof each === "string" ? user(each) : each)),
    { parameter, value },
  );

describe("wasGiven", () => {
  it("is true of the only number beside the argument's name", () => {
    expect(given("5", "A table at 7:30, please. I'd prefer 5 as the party size.")).toBe(true);
    expect(given("2", "2 party size, please. At 6:15 pm.")).toBe(true);
    expect(given("1", "The party size is one.")).toBe(true);
    expect(given("3", "Party size: 3")).toBe(true);
    expect(given("3", "Oops, the party size needs fixing: 3")).toBe(true);
  });

  it("is true of what answers a question with that name", () => {
    expect(given("1", "A table.", assistant("What party size do you want?"), "One, please.")).toBe(true);
    expect(given("4", "A table.", assistant("All right. And the party size?"), "It'll be 4 of us.")).toBe(true);
    expect(given("4", "A table.", assistant("At what time?"), "At 4.")).toBe(false);
    expect(given("4", "A table.", assistant("The party size is 2."), "At 4.")).toBe(false);
  });

  it("is false of other numbers, of several, and of what is refused", () => {
    expect(given("7", "A table at 7, party size 4.")).toBe(false);
    expect(given("2", "Party size 2 or 3")).toBe(false);
    expect(given("2", "Not a party size of 2.")).toBe(false);
    expect(given("2", "A table for two on March 2nd.")).toBe(false);
    expect(given("2", "A big party.", assistant("What party size?"), "Not 2.")).toBe(false);
  });

  it("is false of what stands beside the name by chance", () => {
    for (const said of ["Keep the party size and come at 7.", "The party size depends on 7 friends.", "Last time the party size was 7."])
      expect(given("7", said)).toBe(false);
    expect(given("7", "A table.", assistant("Shall I keep the party size of 2?"), "Yes, at 7.")).toBe(false);
    expect(given("2", "A table.", assistant("What party size do you want?"), "Two at 7 pm, please.")).toBe(true);
    expect(given("5", "Please make the party size 5 instead.")).toBe(true);
  });

  it("asks of a name of one word that the number stands beside it", () => {
    const rooms = (content: string, value: string): boolean =>
      wasGiven([user(content)], { parameter: { words: "number of rooms" }, value });
    for (const said of ["A hotel with big rooms for 2 guests.", "Rooms on floor 2.", "Rooms from 2 euros."])
      expect(rooms(said, "2")).toBe(false);
    expect(rooms("I'd pay 2 for the rooms.", "2")).toBe(false);
    for (const said of ["Could you redo this using 2 for rooms?", "Put 2 as the rooms.", "Let's go with 2 for the rooms."])
      expect(rooms(said, "2"), said).toBe(true);
    for (const said of ["2 rooms", "Rooms: 2", "The rooms should be 2.", "I want 2 as the number of rooms."])
      expect(rooms(said, "2")).toBe(true);
  });

  it("goes by the last one", () => {
    expect(given("2", "Party size 2.", "The party size should be 5.")).toBe(false);
    expect(given("5", "Party size 2.", "The party size should be 5.")).toBe(true);
  });
});

describe("mayBeMeant", () => {
  const meant = (value: string, content: string, others: Record<string, string> = {}): boolean =>
    mayBeMeant([user(content)], { parameter: { name: "own" }, value, args: { own: value, ...others } });

  it("is true of numbers in other words, and not where another argument has the number", () => {
    for (const said of ["A table for one.", "A table just for me.", "I'm flying alone.", "One ticket, please."])
      expect(meant("1", said)).toBe(true);
    for (const said of ["For my wife and me.", "A table for a couple.", "Both of us."]) expect(meant("2", said)).toBe(true);
    for (const said of ["The first one, please.", "A table.", "One of these days."]) expect(meant("1", said)).toBe(false);
    expect(meant("2", "A couple of days in Faro.")).toBe(false);
    expect(meant("1", "A table for one.", { seats: "1" })).toBe(false);
  });

  it("is true of times and days that are said in part", () => {
    for (const said of ["At eight.", "At 8.", "at 8:00", "8 o'clock", "8.00 pm"]) expect(meant("20:00", said)).toBe(true);
    for (const said of ["At 8 am.", "At 8:30.", "At 18.", "8 people"]) expect(meant("20:00", said)).toBe(false);
    expect([meant("19:30", "at 7:30"), meant("18:30", "half past six"), meant("17:45", "a quarter to six")]).toEqual([true, true, true]);
    expect([meant("2019-03-08", "next Friday"), meant("2019-03-08", "next Monday")]).toEqual([true, false]);
  });
});

describe("isLeftOpen", () => {
  const open = (...said: (string | ReturnType<typeof assistant>)[]): boolean =>
    isLeftOpen(
      said.map((each) => (typeof each === "string" ? user(each) : each)),
      { words: "seat class" },
    );

  it("is true where the user has no preference, by the argument's name or when asked for it", () => {
    expect(open("A flight to Oslo, any class is fine.")).toBe(true);
    expect(open("A flight to Oslo. I have no preference for the class.")).toBe(true);
    expect(open("A flight to Oslo.", assistant("Which seat class?"), "It doesn't matter.")).toBe(true);
  });

  it.each([
    "The class can be anything.",
    "A flight to Oslo, class whatever.",
    "Any one of the classes.",
    "Seat class: any",
    "The seat class can be whichever is cheapest.",
    "The class may be whatever you like.",
  ])("is true of the argument's name on either side: %s", (said) => expect(open(said)).toBe(true));

  it.each(["Any food in business class?", "A seat class on any flight.", "In this class, anything but KLM."])(
    "is false of what something else is open of: %s",
    (said) => expect(open(said)).toBe(false),
  );

  it.each([
    "I want first class more than anything!",
    "The class should not be anything.",
    "I don't want the class to be any.",
    "Does the class have any?",
    "Business class, and a meal if the class has any.",
  ])("is false of what leaves nothing open: %s", (said) => expect(open(said)).toBe(false));

  it("is false of other arguments, and of silence", () => {
    expect(open("A flight to Oslo with any airline.")).toBe(false);
    expect(open("A flight to Oslo.", assistant("Which airline?"), "Any.")).toBe(false);
    expect(open("A flight to Oslo in business class.")).toBe(false);
  });
});

describe("isTurnedDown", () => {
  const airline = { name: "airline", words: "airline", description: "", kind: "text", allowed: ["KLM", "Delta", "Premium Air"] } as const;
  const breakfast = {
    name: "breakfast",
    words: "breakfast",
    ownWords: ["breakfast"],
    description: "",
    kind: "boolean",
    allowed: [],
  } as const;
  const down = (parameter: object, value: string, ...said: string[]): boolean =>
    isTurnedDown(said.map(user), { parameter: parameter as Parameter, value });

  it.each(["Not KLM this time.", "Anything but KLM, please.", "A flight without KLM", "I don't want KLM."])("is true of %s", (said) => {
    expect(down(airline, "KLM", said)).toBe(true);
  });

  it.each(["A flight to Rome.", "KLM, please.", "Not Delta, KLM.", "Not Delta."])("is false of %s", (said) => {
    expect(down(airline, "KLM", said)).toBe(false);
  });

  it.each(["Nothing but KLM, please.", "Why not KLM?", "KLM is not bad.", "I don't mind KLM.", "I always fly KLM, never mind the price."])(
    "is false of what is for it: %s",
    (said) => expect(down(airline, "KLM", said)).toBe(false),
  );

  it("counts people where somebody comes alone", () => {
    const people = { name: "party_size", words: "party size", description: "", kind: "number", allowed: [] } as const;
    const rooms = { name: "rooms", words: "rooms", description: "", kind: "number", allowed: [] } as const;
    expect(["Just me.", "I travel alone", "For two."].map((said) => down(people, "2", said))).toEqual([true, true, false]);
    const price = { name: "price_per_person", words: "price per person", description: "", kind: "number", allowed: [] } as const;
    expect([down(people, "1", "Just me."), down(rooms, "2", "Just me."), down(price, "50", "Just me.")]).toEqual([false, false, false]);
  });

  it("asks of a truth what is said of its topic", () => {
    for (const said of ["A room without breakfast.", "No breakfast needed.", "We skip breakfast.", "I don't need breakfast."])
      expect([said, down(breakfast, "true", said)]).toEqual([said, true]);
    for (const said of ["A room with breakfast.", "Is breakfast included?", "A room."])
      expect([said, down(breakfast, "true", said)]).toEqual([said, false]);
    expect(down(breakfast, "false", "A room with breakfast.")).toBe(true);
  });

  it("goes by what a truth is about, not by what many truths are called", () => {
    const kids = { ...breakfast, name: "good_for_kids", words: "good for kids", ownWords: ["good", "for", "kids"] };
    expect(down(kids, "false", "A good hotel.")).toBe(false);
    expect(down(kids, "false", "I need something for the kids.")).toBe(true);
  });
});

describe("wasNamed", () => {
  it.each([
    { text: "I'd like one in Porto.", name: "number_of_rooms", value: "1", named: false },
    { text: "Somewhere near One Day Street.", name: "city", value: "One Day Street", named: true },
  ])("takes the one of $text for a pronoun where it is no part of $value", ({ text, name, value, named }) => {
    expect(wasNamed([{ role: "user", content: text }], { parameter: parameterOf(name), value, args: {} })).toBe(named);
  });
});

describe("a value that two arguments hold", () => {
  it.each([
    ["A room at a 1 star hotel in Faro.", "star_rating", "1", "number_of_rooms", true],
    ["A room at a one-star hotel in Faro.", "star_rating", "1", "number_of_rooms", true],
    ["Two rooms at a three-star hotel.", "star_rating", "3", "number_of_nights", true],
    ["A room at a 1 star hotel in Faro.", "number_of_rooms", "1", "star_rating", false],
    ["A song of the album Blue.", "album", "Blue", "artist", true],
    ["A song of the album Blue.", "artist", "Blue", "album", false],
    ["Something by Blue.", "album", "Blue", "artist", false],
    ["1 starting at noon.", "star_rating", "1", "number_of_rooms", false],
  ])("is of the one beside whose name it stands: %s, %s = %s beside %s: %s", (said, name, value, other, named) => {
    const args = { [name]: value, [other]: value };
    expect(wasNamed([{ role: "user", content: said }], { parameter: parameterOf(name), value, args })).toBe(named);
  });
});

describe("a truth", () => {
  const properties = { has_wifi: { type: "boolean" }, breakfast: { type: "boolean" } };
  const tool = { type: "function" as const, function: { name: "FindHotel", parameters: { type: "object", properties } } };
  const named = (said: string, value: string): boolean => {
    const [wifi] = readParameters(tool);
    if (wifi === undefined) throw new Error("a parameter expected");
    return wasNamed([user(said)], { parameter: wifi, value, args: {} });
  };

  it("is named by the words that tell it, and by no others", () => {
    for (const said of ["I need wifi.", "A hotel with wifi too, please.", "Could you find one that has wifi, if possible?"])
      expect([said, named(said, "True"), named(said, "False")]).toEqual([said, true, false]);
    expect([named("No wifi, please.", "True"), named("No wifi, please.", "False")]).toEqual([false, true]);
  });

  it("may be either where its topic is only spoken of", () => {
    for (const said of ["Is there wifi?", "Breakfast instead of wifi.", "Find one, whether it has wifi or not."])
      expect([said, named(said, "True"), named(said, "False")]).toEqual([said, true, true]);
    expect(named("A hotel in Faro.", "True")).toBe(false);
  });
});
