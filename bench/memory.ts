/**
 * `npm run bench:memory -- --sgd <folder> --split dev|test`: simulated users with a standing preference object once, over
 * HTTP through edge and trainer, and no update ever runs: what the note alone does on the same user's next conversations.
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { Random } from "../trainer/random.ts";
import { atLeast, atMost, ifAny, median, report, say, secondsFigure, shareFigure, shareOf, tally } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { drawPreferences, nameOf, type Preference } from "./sim/preferences.ts";
import { freshRequests } from "./sim/requests.ts";
import { NOTES_ALONE, ServedSystem } from "./sim/served.ts";
import { keptOf, violated } from "./sim/trial.ts";
import { correct, reaction } from "./sim/user.ts";

const FRESH = 6; // conversations after the objection

const { values: options } = readCommandLine({ options: { ...SGD_OPTIONS, preferences: { type: "string", default: "20" } } });

type Outcome = {
  preference: string;
  /** The note that came of the objection. */
  note: string | undefined;
  seconds: number | undefined;
  /** Conversations of the same user afterwards, the next one first; and whether the policy without the note calls the tool there. */
  honoured: boolean[];
  calledBefore: boolean[];
  statedKept: boolean[];
};

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:memory", ["[--preferences 20]"]);
  if (sgd === undefined) return;
  const random = new Random(Number(options.seed));
  const all = drawPreferences(sgd, freshRequests(sgd), random);
  const wanted = options.full ? all.length : Math.min(all.length, Number(options.preferences));
  const system = await ServedSystem.start(options.base, { threads: Number(options.threads), learning: NOTES_ALONE });
  const outcomes: Outcome[] = [];
  const skipped: string[] = [];
  try {
    for (const preference of all) {
      if (outcomes.length >= wanted) break;
      const outcome = await tryPreference(system, preference, random);
      if (outcome === undefined) skipped.push(nameOf(preference));
      else outcomes.push(outcome);
      say(`${outcomes.length}/${wanted} ${nameOf(preference)}: ${outcome === undefined ? "skipped" : describe(outcome)}`);
      await system.forget();
    }
  } finally {
    await system.close();
  }
  summarise(outcomes, { preferences: all.length, skipped });
}

/** One user, one objection. Undefined where the base honours the preference already, or never calls the tool. */
async function tryPreference(system: ServedSystem, preference: Preference, random: Random): Promise<Outcome | undefined> {
  const silent = [...preference.silent];
  const open = await violated(system, preference, { pool: silent, spare: 1 });
  if (open === undefined) return undefined;
  const { text, seconds } = await system.remember({
    ...open,
    result: open.request.result,
    objection: correct(preference, random),
    seed: Number(options.seed),
  });
  const fresh = silent.slice(0, FRESH);
  const answers = await system.answer(fresh);
  const before = await system.answer(fresh, { bare: true });
  return {
    preference: nameOf(preference),
    note: text,
    seconds,
    honoured: answers.map(({ calls }) => reaction(preference, calls) === "honoured"),
    calledBefore: before.map(({ calls }) => reaction(preference, calls) !== "elsewhere"),
    statedKept: (await keptOf(system, preference)).map(({ kept }) => kept),
  };
}

function summarise(outcomes: readonly Outcome[], { preferences, skipped }: { preferences: number; skipped: readonly string[] }): void {
  const next = outcomes.map(({ honoured }) => honoured[0] === true);
  const fresh = outcomes.flatMap(({ honoured }) => honoured);
  const under = outcomes.filter(({ note }) => note !== undefined);
  const callable = under.flatMap(({ honoured, calledBefore }) => honoured.filter((_, index) => calledBefore[index] === true));
  const kept = under.flatMap(({ statedKept }) => statedKept);
  const seconds = outcomes.flatMap((outcome) => outcome.seconds ?? []);
  report({
    bench: "memory",
    conditions: {
      ...{ split: options.split, seed: Number(options.seed), base: options.base, threads: Number(options.threads) },
      ...{ preferences: outcomes.length, preferencesInSplit: preferences, subset: !options.full },
      // Those that the base honours already, or whose tool it never calls in four requests: there is nothing to correct.
      skipped: skipped.join("; "),
      path: "over HTTP through edge and trainer; no update runs, and each user objects once",
    },
    figures: {
      noteGiven: shareFigure(outcomes.map(({ note }) => note !== undefined)),
      honouredNext: shareFigure(next),
      honouredFresh: shareFigure(fresh),
      honouredUnderNoteWhereCalledBefore: shareFigure(callable),
      statedKeptUnderNote: shareFigure(kept),
      secondsToNote: ifAny(seconds, secondsFigure),
      perPreference: outcomes,
    },
    bars: [
      atMost("from the correction to the note in force, median", ifAny(seconds, median), 3, "s"),
      atLeast("next conversation honours the correction", ifAny(next, shareOf), 0.9, "share"),
      atLeast("stated value kept under the note", ifAny(kept, shareOf), 0.97, "share"),
    ],
  });
}

function describe({ note, seconds, honoured, statedKept }: Outcome): string {
  return `${note ?? "no note"} (${seconds?.toFixed(1) ?? "–"} s), honoured ${tally(honoured)}, stated kept ${tally(statedKept)}`;
}

await main();
