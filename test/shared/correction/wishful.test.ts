/** What a user's words can wish for, and what they only speak of. */
import { describe, expect, it } from "vitest";
import { parameterOf } from "../../../shared/speech/parameters.ts";
import { isWanted } from "../../../shared/speech/wanted.ts";
import { wishfulWords } from "../../../shared/correction/wishful.ts";

describe("wishfulWords", () => {
  it.each([
    "Why Standard?",
    "Is that Standard or Pool?",
    "My boss always takes Pool.",
    "My wife said Pool is nicer.",
    "If I were rich I'd take Luxury.",
    "My brother texted us: no, always Pool.",
    "My neighbour recommends Pool.",
    "Last year I took Luxury and it was dirty.",
    "My wife would set it to 26 if I let her.",
    "He'll take 60 days anyway.",
    "Coach Dean does 90 minutes every day.",
    "The bank wrote to me: no, Pool.",
    "Got an e-mail from Tom: No, the ride should be Pool.",
    "There is an e-mail from Tom: please book Pool.",
    "My wife just shouted make it Pool, ignore her.",
    "The forum says Pool is better.",
    'They have a sign at the door now: "Pool only, no Regular."',
    "Ana said she'd need 45 minutes to get there.",
  ])("leaves out what wishes for nothing: %s", (said) => {
    expect(wishfulWords(said).trim()).toBe("");
  });

  it.each([
    ["DHL just rang, wrong door as usual.", ", wrong door as usual."],
    ["Anna just called, make it 3 people.", ", make it 3 people."],
    ["It was 26 outside only last week, can you believe it?", ", can you believe it?"],
    ["It was 2 last night, tonight we are 4.", ", tonight we are 4."],
  ])("goes on behind what happened: %s", (said, rest) => {
    expect(wishfulWords(said)).toBe(rest);
  });

  it.each([
    'No, the headline should be: "Pool and more"',
    'Put this on the poster: "No Pool" and make it 5 copies.',
    "Pool, please.",
    "Pool, not Standard, the bill killed us last month.",
    "Pool just suits us.",
    "The table was for 4 last week.",
    "Why not Pool?",
    "What about Pool?",
    "The airline says Standard, but I want Pool.",
    "Could you make it Pool?",
    "Didn't I say Pool?",
    "Last week I told you Pool!",
    "My favourite is Pool.",
    "Have it be Pool, ok?",
    "Why do you keep booking Standard when I want Pool?",
    "I'm used to Pool.",
    "My wife would like Pool.",
    "New York, not Newark.",
    "I meant Port S. John.",
    "I said they should bring Pool.",
    'It should be "Pool".',
  ])("keeps what does, to the letter: %s", (said) => {
    expect(wishfulWords(said)).toBe(said);
  });

  it.each([
    "Translate this into Greek: I always take Pool.",
    'Please proofread "I always take Pool".',
    'How do you say "Pool, please" in Thai?',
  ])("keeps nothing of a text to work on: %s", (said) => expect(wishfulWords(said)).not.toContain("Pool"));

  it("keeps one sentence of two, and what others are quoted with in none", () => {
    expect(wishfulWords("Why Standard? I want Pool.").trim()).toBe("I want Pool.");
    expect(wishfulWords('Well, here he said "always Pool" again.')).not.toContain("Pool");
  });
});

describe("isWanted", () => {
  const ride = parameterOf("ride_type");
  const rides = ["Standard", "Pool", "Premium Pool"];
  const pool = (said: string): boolean => isWanted(said, { parameter: ride, value: "Pool" }, rides);

  it.each([
    "I never take Standard, Pool it is.",
    "Couldn't you take Pool?",
    "Don't forget: Pool!",
    "Not Standard but Pool",
    "it's not Standard it's Pool",
    "Pool is not negotiable",
    "Pool because Standard is a waste of time",
    "Pool and Standard don't suit the same people, Pool it is",
    "I'm tired, so Pool please",
    "Nobody asked for Standard, Pool!",
    "I've never said Standard but Pool",
  ])("takes what is asked for: %s", (said) => expect(pool(said)).toBe(true));
  it.each([
    "Not Pool.",
    "I'd rather walk than Pool",
    "Too Pool for me",
    "I hate Pool",
    "Anything but Pool!",
    "Stop booking Pool.",
    "Pool is not for me",
    "Pool means nothing to me",
    "Pool rides don't interest me",
    "Pool rides are a waste of time",
    "Pool cars really stink",
    "A Pool ride is just a pain",
    "I've had enough of Pool rides",
    "I'm sick of Pool",
    "We are fed up with Pool",
    "Nobody said the ride should be Pool",
    "I never told you it should be Pool",
    "Pool bores me",
    "Pool is overrated",
    "A Premium Pool, please",
  ])("takes nothing that is refused, or a part of something else: %s", (said) => expect(pool(said)).toBe(false));

  it("takes no number that is given up for another one", () => {
    const rooms = (said: string): string[] =>
      ["1", "2"].filter((value) => isWanted(said, { parameter: { ...ride, words: "number of rooms", kind: "number" }, value }, []));
    expect(rooms("Two rooms instead of 1, please.")).toEqual(["2"]);
    expect(rooms("2 rather than one")).toEqual(["2"]);
    expect(rooms("Make it one in place of two.")).toEqual(["1"]);
    expect(rooms("Not 1 but 2")).toEqual(["2"]);
    expect(rooms("It isn't 1, it's 2.")).toEqual(["2"]);
  });

  it.each([
    ["It should not be 2.", ""],
    ["It shouldn't be 2.", ""],
    ["It is not for 2.", ""],
    ["Anything but 2.", ""],
    ["Number of rooms: not 2.", ""],
    ["It should be less than 2.", ""],
    ["It should be more than 2.", ""],
    ["It must be over 1.", ""],
    ["1 or 2.", ""],
    ["2 is too many.", ""],
    ["No 2 please", "2"],
    ["1 isn't enough, I need 2", "2"],
    ["That won't work for 2 of us.", "2"],
    ["You didn't put 2.", "2"],
    ["Couldn't it be 2?", "2"],
    ["At least 2.", "2"],
  ])("takes no number that is refused, a bound or one of several: %s", (said, wanted) => {
    const rooms = { ...parameterOf("number_of_rooms"), kind: "number" as const };
    expect(["1", "2"].filter((value) => isWanted(said, { parameter: rooms, value })).join()).toBe(wanted);
  });

  it("tells truths apart by what is said of their topic", () => {
    const wifi = { ...parameterOf("has_wifi"), kind: "boolean" as const };
    const truths = (said: string): string[] => ["True", "False"].filter((value) => isWanted(said, { parameter: wifi, value }));
    expect(truths("It must have wifi.")).toEqual(["True"]);
    expect(truths("No wifi, please.")).toEqual(["False"]);
    expect(truths("Without wifi!")).toEqual(["False"]);
    expect(truths("A room without wifi is useless to me.")).toEqual(["True"]);
    // Who needs none need not mind, and who misses some wants it.
    expect(truths("I don't need wifi.")).toEqual([]);
    expect(truths("There was no wifi.")).toEqual([]);
    expect(truths("You never include wifi!")).toEqual([]);
    // Twice denied is wanted.
    expect(truths("I can't work without wifi.")).toEqual(["True"]);
    expect(truths("Leave the wifi out.")).toEqual(["False"]);
    expect(truths("The wifi is wrong: no.")).toEqual(["False"]);
    expect(truths("No, wifi should be yes.")).toEqual(["True"]);
    expect([truths("Breakfast: no, and wifi please."), truths("wifi should never be on")]).toEqual([["True"], []]);
    expect([truths("The wifi was wrong, it should be False."), truths("True, please."), truths("Not true.")]).toEqual([
      ["False"],
      ["True"],
      [],
    ]);
  });

  it("leaves both truths open where the name itself denies", () => {
    const tolls = { ...parameterOf("avoid_tolls"), kind: "boolean" as const };
    expect(["True", "False"].map((value) => isWanted("No tolls, please.", { parameter: tolls, value }))).toEqual([true, true]);
  });

  it("reads a text as long as a request may be before the test's time is over", () => {
    expect(isWanted("premium pool ".repeat(20_000), { parameter: ride, value: "Pool" }, rides)).toBe(false);
  });

  it("takes a pronoun for no number", () => {
    const rooms = { ...parameterOf("number_of_rooms"), kind: "number" as const };
    const one = (said: string): boolean => isWanted(said, { parameter: rooms, value: "1" });
    expect([one("Just one, please."), one("One room is enough.")]).toEqual([true, true]);
    expect([one("Ask me before the next one."), one("Show me that one.")]).toEqual([false, false]);
  });
});
