/** Which corrections tell a default: who corrects a correction does, and who speaks of this once, of some cases, or of what the request had said does not. */
import { expect, it } from "vitest";
import { groundHint } from "../../../shared/correction/ground.ts";
import type { Signal } from "../../../trainer/data/exchange.ts";
import { standingHint } from "../../../trainer/judge/hints.ts";
import { ASK, call, result, signalOf, user } from "../hotel.ts";

const callWith = (rooms: string | undefined) =>
  call("SearchHotel", { city: "Porto", ...(rooms !== undefined && { number_of_rooms: rooms }) });

/** What is made of "number_of_rooms should be 3." */
function threeRooms(signal: Signal): string | undefined {
  const { hint, refused } = standingHint(groundHint({ parameter: "number_of_rooms", value: "3" }, signal), signal);
  return hint?.text ?? refused?.code;
}

it("hears who corrects a correction, whatever the calls before held", () => {
  type Turn = readonly [said: string, rooms: string | undefined];
  const corrected = (...turns: readonly Turn[]): string | undefined => {
    const told = (rooms: string | undefined) => [callWith(rooms), result('[{"hotel_name": "Vila Gale"}]')];
    const asked = turns.flatMap(([said, rooms], at) => [user(said), ...(at < turns.length - 1 ? told(rooms) : [])]);
    return threeRooms(signalOf(callWith(turns.at(-1)?.[1]), [user("No, the number of rooms should be 3.")], asked));
  };
  const two: Turn = ["No, the number of rooms should be 2.", "2"];
  expect(corrected(["A hotel in Porto.", undefined], two)).toBe("number_of_rooms should be 3.");
  expect(corrected(["A hotel in Porto.", undefined], ["No, I need 1 room.", "1"], two)).toBe("number_of_rooms should be 3.");
  // What the request itself said is another mind still.
  expect(corrected(["A hotel in Porto with 1 room.", "1"], two)).toBe("hint/spokenBefore");
  expect(corrected(["A hotel in Porto with 3 rooms.", "1"], two)).toBe("hint/spokenBefore");
});

it.each([
  ["No, 3 rooms, but only in Porto.", "hint/conditional"],
  ["No, just this once 3 rooms.", "hint/once"],
  ["No, 3 rooms.", "number_of_rooms should be 3."],
])("takes for a default what is meant for good: %s", (said, heard) => {
  expect(threeRooms(signalOf(callWith("2"), [user(said)], ASK))).toBe(heard);
});

it("takes what is to be from now on for a default, though the request said otherwise", () => {
  const said = (words: string) => threeRooms(signalOf(callWith("2"), [user(words)], user("A hotel in Porto with 2 rooms.")));
  expect(said("From now on always 3 rooms!")).toBe("number_of_rooms should be 3.");
  expect(said("No, 3 rooms!")).toBe("hint/spokenBefore");
});

it("takes a changed amount for another mind, in a currency or without", () => {
  const amount = { type: "number", description: "How much money to send" };
  const tool = {
    type: "function" as const,
    function: { name: "SendMoney", parameters: { type: "object", properties: { amount, days: { type: "integer" } } } },
  };
  const corrected = (asked: string): string | undefined => {
    const signal = signalOf(call("SendMoney", { amount: "250" }), [user("No, it was 350, not 250.")], user(asked), { tools: [tool] });
    const { hint, refused } = standingHint(groundHint({ parameter: "amount", value: "350" }, signal), signal);
    return hint?.text ?? refused?.code;
  };
  expect(corrected("Send 250 dollars to Anna.")).toBe("hint/spokenBefore");
  expect(corrected("Send 250 to Anna.")).toBe("hint/spokenBefore");
  expect(corrected("Send money to Anna.")).toBe("amount should be 350.");
});

it("takes what opens with the tool's verb for the next request, unless it speaks of the last one", () => {
  const said = (words: string) => threeRooms(signalOf(callWith("2"), [user(words)], ASK));
  expect(said("Search a hotel in Lisbon with 3 rooms.")).toBe("hint/ungrounded");
  expect(said("Now search the large one, with 3 rooms.")).toBe("number_of_rooms should be 3.");
  expect(said("Search again, with 3 rooms.")).toBe("number_of_rooms should be 3.");
  expect(said("Search it with 3 rooms.")).toBe("number_of_rooms should be 3.");
});

it("knows what the request counted with words of the argument's description", () => {
  const days = { type: "string", description: "Number of days of the stay" };
  const tool = {
    type: "function" as const,
    function: { name: "Reserve", parameters: { type: "object", properties: { stay_length: days } } },
  };
  const four = (asked: string): string | undefined => {
    const signal = signalOf(call("Reserve", { stay_length: "3" }), [user("No, the stay length should be 4.")], user(asked), {
      tools: [tool],
    });
    const { hint, refused } = standingHint(groundHint({ parameter: "stay_length", value: "4" }, signal), signal);
    return hint?.text ?? refused?.code;
  };
  expect(four("Book the Grand Hotel for three days.")).toBe("hint/spokenBefore");
  expect(four("Book the Grand Hotel for three people.")).toBe("stay_length should be 4.");
  expect(four("Book the Grand Hotel.")).toBe("stay_length should be 4.");
});
