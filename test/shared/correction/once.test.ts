/** What is meant for this time, or for some cases, alone, and what for good. */
import { describe, expect, it } from "vitest";
import { conditionOf, isForGood, isOnce } from "../../../shared/correction/once.ts";
import { parameterOf } from "../../../shared/speech/parameters.ts";

describe("isOnce", () => {
  it.each([
    "This time make it Pool.",
    "Just this once, Pool.",
    "Pool for tonight only.",
    "Only today I need Pool.",
    "For this trip Pool, please.",
    "For this stay I need Pool.",
    "Make it Pool this time.",
    "Make it Pool this time, please!",
    "I normally take Standard, but this time I need Pool.",
    // What always is goes before, and the exception is from it.
    "Usually Standard is enough for me, but just this once make it Pool.",
    "I always take Standard but just this once make it Pool.",
    "Pool for this one.",
    "This one's urgent, make it Pool.",
    "Just this once Pool, never mind the price.",
  ])("hears: %s", (said) => expect(isOnce(said)).toBe(true));
  it.each([
    "Pool, please.",
    "From now on Pool.",
    "This time too you took Standard, I want Pool.",
    "Why did you take Standard this time?",
    "Not just this time, Pool.",
    "This is the third time this week, Pool!",
    "Pool for now and every other time.",
    "Just this once? No, always Pool.",
    "For this reason I want Pool.",
    "Nobody is at home at this time.",
    "This one's name is Pool.",
  ])("hears no exception in: %s", (said) => expect(isOnce(said)).toBe(false));
});

it("hears no exception where something else is said of this time", () => {
  const hours = { parameter: { ...parameterOf("hours"), kind: "number" as const }, value: "4" };
  expect(isOnce("2 hours isn't enough for this flat, book 4.", hours)).toBe(false);
  expect(isOnce("For this flat 4 hours, please.", hours)).toBe(true);
  expect(isOnce("For this flat, please, 4 hours.", hours)).toBe(true);
});

describe("isForGood", () => {
  it("hears standing orders", () => {
    expect(["From now on always 3.", "3 next time too.", "I meant 3."].map(isForGood)).toEqual([true, true, false]);
  });

  it.each(["Okay, never mind then.", "Nevermind, 3.", "You always get that wrong. 3.", "You never listen, 3!"])(
    "hears none in what is given up, or what the other always does: %s",
    (said) => expect(isForGood(said)).toBe(false),
  );
});

describe("conditionOf", () => {
  const rooms = { ...parameterOf("number_of_rooms"), kind: "number" as const };
  const condition = (said: string): string | undefined => conditionOf(said, { parameter: rooms, value: "2" });
  it.each([
    "If my kids come along, the number of rooms should be 2.",
    "No, 2 rooms, but only in Portland.",
    "On business trips I need 2 rooms.",
    "Whenever my parents join, 2 rooms.",
    "2 rooms unless the price is over 200.",
    "2 rooms in case my brother comes.",
    "If it is a long stay, 2 rooms.",
    "No, if it's summer 2 rooms.",
    "If you book for my parents, 2 rooms.",
    "If this is a family hotel, 2 rooms.",
  ])("hears: %s", (said) => expect(condition(said)).toBe(said));
  it.each([
    "2 rooms, please.",
    "2 rooms if possible.",
    "If I don't say anything, 2 rooms.",
    "2 rooms unless I say otherwise.",
    "When I book a hotel, it should be 2 rooms.",
    "It looks as if you took 1 room, I want 2.",
    "If my kids come along I'll say so. The number of rooms should be 2.",
    "Only 2 rooms.",
    "It's only for 2 of us.",
    "We need 2 rooms, the suite is only for guests.",
    "If they don't have it, 2 rooms.",
    "2 rooms if it's ok.",
    "2 rooms, if you don't mind.",
    "If you could, 2 rooms.",
    "If it isn't too late, 2 rooms.",
  ])("hears no condition in: %s", (said) => expect(condition(said)).toBeUndefined());

  it("takes the value itself for no case", () => {
    const unit = parameterOf("unit");
    expect(conditionOf("Temperatures only in Celsius, please.", { parameter: unit, value: "Celsius" })).toBeUndefined();
  });
});
