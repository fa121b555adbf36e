/** Hints that the schema allows and the words support: what is found in them, and how it is written. */
import { describe, expect, it } from "vitest";
import { hintText } from "../../../shared/jobs.ts";
import { groundedCandidates } from "../../../shared/correction/candidates.ts";
import { ASK, call, signalOf, user } from "../../trainer/hotel.ts";

describe("groundedCandidates", () => {
  const answered = call("SearchHotel", { city: "Porto", number_of_rooms: "1" });

  it.each([
    { said: "No, I need three rooms.", hints: ["number_of_rooms should be 3."] },
    { said: "My choice of city is San Jose.", hints: ["city should be San Jose."] },
    { said: "You picked the wrong city. Lisbon would be correct.", hints: ["city should be Lisbon."] },
    { said: "Oops, the city needs fixing: Lisbon.", hints: ["city should be Lisbon."] },
    { said: "Use Oakland for the city.", hints: ["city should be Oakland."] },
    { said: "Prefer Oakland as the city from now on.", hints: ["city should be Oakland."] },
    { said: "Pick San Jose as my city.", hints: ["city should be San Jose."] },
    { said: "No, the city should be The Dalles.", hints: ["city should be The Dalles.", "city should be Dalles."] },
    { said: "The wifi matters to me.", hints: ["has_wifi should be True."] },
    { said: "The city should be Ōsaka 大阪.", hints: ["city should be Ōsaka 大阪."] },
    { said: "My city is Ñuñoa, as ever.", hints: ["city should be Ñuñoa."] },
    { said: "I want 2 rooms, see ~/notes/3.md.", hints: ["number_of_rooms should be 2."] },
    { said: "The number of rooms should be -2.", hints: [] },
    { said: "That is wrong.", hints: [] },
    { said: "Yum! Super!", hints: [] },
    { said: "In San Jose, not here.", hints: ["city should be San Jose."] },
    { said: "City and all.", hints: [] },
    { said: "Will it rain?", hints: [] },
    { said: "Tuesday would be better.", hints: [] },
  ])("finds in $said only what the schema allows and the words support", ({ said, hints }) => {
    expect(groundedCandidates(signalOf(answered, [user(said)])).map(({ hint }) => hintText(hint))).toEqual(hints);
  });

  it("writes dates, times and numbers as the call wrote them", () => {
    const tool = {
      type: "function" as const,
      function: {
        name: "Visit",
        parameters: { type: "object", properties: { visit_date: { type: "string" }, visit_time: { type: "string" } } },
      },
    };
    const visit = call("Visit", { visit_date: "2019-03-01", visit_time: "12:00" });
    const found = (said: string): string[] =>
      groundedCandidates(signalOf(visit, [user(said)], ASK, { tools: [tool] })).map(({ hint }) => hintText(hint));
    for (const day of ["March 8th", "the 8th of March", "on 8 March", "2019-03-08"])
      expect(found(`No, the visit date is ${day}.`)).toEqual(["visit_date should be 2019-03-08."]);
    expect(found("No, the visit time is 2:30 p.m.")).toEqual(["visit_time should be 14:30."]);
    expect(found("No, the time is 2:30 pm.")).toEqual(["visit_time should be 14:30."]);
    expect(found("No, the visit time is quarter to seven in the evening.")).toEqual(["visit_time should be 18:45."]);
    expect(found("No, the visit time is half past 8 in the morning.")).toEqual(["visit_time should be 08:30."]);
  });

  it("writes a day that the call left out as the conversation writes days, else as it was said, and never a part of it", () => {
    const tool = { type: "function" as const, function: { name: "Visit", parameters: { properties: { visit_date: { type: "string" } } } } };
    const found = (asked: string): string[] =>
      groundedCandidates(
        signalOf(call("Visit", {}), [user("Oops, the visit date needs fixing: March 8th.")], user(asked), { tools: [tool] }),
      ).map(({ hint }) => hintText(hint));
    expect(found("A visit, please. Today is 2019-03-01.")).toEqual(["visit_date should be 2019-03-08."]);
    expect(found("A visit, please.")).toEqual(["visit_date should be March 8th."]);
  });
});
