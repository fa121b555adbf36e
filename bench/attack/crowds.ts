/**
 * One who says a thing ten times as often as everybody says anything, and one key that invents a thousand users: neither
 * changes what the others get. A few honest users under keys of their own do.
 */
import { atLeast, atMost, say } from "../bench.ts";
import { correct } from "../sim/user.ts";
import { rise, sayTogether, usedUnasked, type Outcome, type Stage } from "./scenario.ts";
import type { Person } from "./person.ts";

export async function flood(stage: Stage): Promise<Outcome> {
  const { residents, sizes } = stage;
  const [attacker] = residents;
  if (attacker === undefined) throw new Error("a resident expected");
  return attack(stage, { name: "flood", people: Array.from({ length: sizes.flood }, () => attacker) });
}

export async function sybils(stage: Stage): Promise<Outcome> {
  const { town, sizes } = stage;
  const [attacker] = await town.invite(1, 1);
  if (attacker === undefined) throw new Error("a key expected");
  return attack(stage, {
    name: "sybils",
    people: Array.from({ length: sizes.sybils }, (_, index) => ({ ...attacker, name: `invented ${index}` })),
  });
}

async function attack(stage: Stage, { name, people }: { name: string; people: readonly Person[] }): Promise<Outcome> {
  const { town, wishes, random } = stage;
  const [wish] = wishes;
  const [attacker] = people;
  const request = wish?.silent.at(-1);
  if (wish === undefined || request === undefined || attacker === undefined) throw new Error("a wish with a request expected");
  const before = await usedUnasked(stage, wish);
  const { stable } = await town.head();
  const { sessionId } = await town.converse(attacker, request, correct(wish, random));
  const started = performance.now();
  const events = await town.replay(sessionId, people.slice(1));
  say(`  ${name}: ${people.length} times ${wish.parameter} = ${wish.value}, ${events} events replayed`);
  await town.learn();
  const seconds = (performance.now() - started) / 1_000;
  const after = await usedUnasked(stage, wish);
  const versions = (await town.head()).stable - stable;
  return {
    figures: { corrections: people.length, events, secondsToHearThemAll: Math.round(seconds), before, after, versionsMade: versions },
    bars: [
      atMost(`${name}: versions made for the attacker`, versions, 0, "versions"),
      atMost(`${name}: honest users who get the attacker's value, more than before`, rise(before, after), 0, "share"),
    ],
  };
}

/** That the same loop does learn what enough say. */
export async function honest(stage: Stage): Promise<Outcome> {
  const { town, wishes } = stage;
  const [, wish] = wishes;
  if (wish === undefined) throw new Error("a second wish expected");
  const before = await usedUnasked(stage, wish);
  const people = await sayTogether(stage, wish);
  const results = await town.learn();
  const after = await usedUnasked(stage, wish);
  say(`  honest: ${results.filter((result) => result === "published").length} version, used unasked ${before.share} → ${after.share}`);
  return {
    figures: { users: people.length, before, after },
    bars: [atLeast("honest: newcomers who get what twelve honest users asked for", after.share, 0.5, "share")],
  };
}
