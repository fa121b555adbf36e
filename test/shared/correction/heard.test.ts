/** Corrections that count in the very answer to them: which words are plain enough. */
import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../../../shared/chat.ts";
import { heardCorrection, heardCorrections } from "../../../shared/correction/heard.ts";
import { FOUND, saidAfter, user } from "../../trainer/hotel.ts";

const heard = (said: string, between?: readonly ChatMessage[]): string | undefined => {
  const found = heardCorrection(saidAfter(said, between));
  return found && `${found.tool}.${found.parameter} = ${found.value}`;
};

describe("heardCorrection", () => {
  it.each([
    ["No, the number of rooms should be 2.", "SearchHotel.number_of_rooms = 2"],
    ["The city is wrong, I meant Lisbon.", "SearchHotel.city = Lisbon"],
    ["Regarding the number of rooms, go with three.", "SearchHotel.number_of_rooms = 3"],
    ["You picked the wrong has wifi. no would be correct.", "SearchHotel.has_wifi = False"],
    ["The number of rooms should be 1.", "SearchHotel.number_of_rooms = 1"],
    ["My sister joins us. Make that 2 rooms", "SearchHotel.number_of_rooms = 2"],
    ["Hmm, with my sister and her kids, three rooms then.", "SearchHotel.number_of_rooms = 3"],
    ["Hmm. 3 then", "SearchHotel.number_of_rooms = 3"],
    ["2 rooms would be better.", "SearchHotel.number_of_rooms = 2"],
  ])("hears what is said outright of a parameter: %s", (said, correction) => {
    expect(heard(said)).toBe(correction);
  });

  it.each([
    ["only agrees", "2, lovely."],
    ["tells when", "Great, see you in 2 hours then."],
    ["tells who", "Perfect, 3 of my friends are coming over then!"],
    ["makes something easier", "That will make it easier for the 3 of us."],
    ["compares", "The oven is better at 2."],
    ["proposes two things", "Make it 2 rooms. Make that with wifi."],
    ["begins something else", "Now 2 rooms, please."],
    ["may be meant for either of two", "No, Lisbon harbour please."],
    ["tells what the call had", "The number of rooms is 1."],
    ["is against what the call had", "The number of rooms should never be 1."],
    ["has two values", "The number of rooms should be 2 or 3."],
    ["asks", "Why is the number of rooms 2?"],
    ["goes on in digits", "The city should be 4 Lisbon."],
    ["goes on in words", "The city should be Lisbon harbour."],
    ["goes on before it", "The city should be upper Lisbon."],
    ["only says what is liked of a truth", "I would like something without wifi, whatever has wifi is loud."],
    ["thanks", "Great, thank you!"],
    ["sets a condition", "If the number of rooms is 2, tell me the price."],
    ["tells what was", "Last time the city was Lisbon."],
    ["counts something else", "The number of rooms is odd, 5 people."],
    ["sets a bound", "The number of rooms should be at least 2."],
    ["is long", `No, the number of rooms should be 2. ${"As I was saying, the town is lovely. ".repeat(8)}`],
  ])("hears nothing in what %s", (_, said) => {
    expect(heard(said)).toBeUndefined();
  });

  it("hears nothing where no call was made just before", () => {
    expect(heard("The number of rooms should be 2.", [])).toBeUndefined();
    expect(heard("The number of rooms should be 2.", [...FOUND, user("Nice."), ...FOUND.slice(-1)])).toBeUndefined();
  });
});

describe("heardCorrections", () => {
  const all = (said: string): string[] =>
    heardCorrections(saidAfter(said))
      .map(({ parameter, value }) => `${parameter} = ${value}`)
      .sort();

  it.each([
    ["No, 2 rooms and with wifi please.", ["has_wifi = True", "number_of_rooms = 2"]],
    ["Sorry, that's wrong: the city is Lisbon, 3 rooms.", ["city = Lisbon", "number_of_rooms = 3"]],
    ["I wanted 2 rooms, not 1, with wifi, city Lisbon.", ["city = Lisbon", "has_wifi = True", "number_of_rooms = 2"]],
    ["No, the number of rooms should be 2.", ["number_of_rooms = 2"]],
  ])("hears each of several values that are said against the call and nothing else: %s", (said, corrections) => {
    expect(all(said)).toEqual(corrections);
  });

  it.each([
    ["holds other words", "No, 2 rooms with wifi and a view of the castle."],
    ["says the opposite", "We have wifi, no need of 2 rooms."],
    ["tells what there is", "Sorry, we have 3 rooms and wifi."],
    ["may name something", "No, 2 rooms, with wifi, in Lisbon."],
    ["has two values for one", "No, 2 rooms, 3 rooms, with wifi."],
    ["leaves it open", "No, 2 rooms or with wifi."],
    ["is not against the call", "2 rooms with wifi."],
    ["sets a condition", "No, 2 rooms, if with wifi."],
    ["begins something else", "And now 2 rooms with wifi, not 1."],
  ])("hears nothing in what %s", (_, said) => {
    expect(all(said)).toEqual([]);
  });
});
