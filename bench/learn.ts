/**
 * `npm run bench:learn -- --sgd <folder> --split dev|test`: simulated users with a standing preference, corrected in
 * plain words, learnt as versions without notes. Honoured where the user is silent, dropped where the user states another value,
 * and nothing lost elsewhere.
 */
import { z } from "zod";
import { OBJECTIVE_NAMES } from "../shared/agent.ts";
import { readCommandLine } from "../trainer/command-line.ts";
import { Random } from "../trainer/random.ts";
import { atLeast, atMost, ifAny, report, say, secondsFigure, shareFigure, shareOf, tally } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { drawPreferences, nameOf, type Preference } from "./sim/preferences.ts";
import { freshRequests, type FreshRequest } from "./sim/requests.ts";
import { InProcessSystem } from "./sim/in-process.ts";
import type { Answer, LearningSystem } from "./sim/learning.ts";
import { ServedSystem, WEIGHTS_ALONE } from "./sim/served.ts";
import { isExact, keptOf, violated } from "./sim/trial.ts";
import { correct, reaction } from "./sim/user.ts";

const MAX_CORRECTIONS = 3;
const FRESH_AFTER = 5; // more fresh conversations per preference, beside the first
const UNRELATED = 200;

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    preferences: { type: "string", default: "16" },
    served: { type: "string", default: "2" },
    /** Preferences whose name holds this text. */
    only: { type: "string", default: "" },
    objective: { type: "string", default: "distillation" },
    settings: { type: "string", default: "{}" },
  },
});

type Outcome = {
  preference: string;
  path: string;
  corrections: number;
  /** The first answer of the first fresh conversation after a correction, at most three. */
  honoured: boolean;
  /** First answers of further fresh conversations, and whether the bare base calls the tool there. */
  freshHonoured: boolean[];
  /** The same without holding them to the defaults that the version carries; none where that was not asked. */
  freshByWeights: boolean[];
  freshCalledBefore: boolean[];
  /** Stated requests that the bare base won, and whether they still do. */
  statedKept: boolean[];
  /** Unrelated requests: exact before, exact after. */
  unrelated: [boolean, boolean][];
  updateSeconds: number[];
  notes: string[];
};
/** What came of the preferences that were taken from the queue. */
type Tried = { outcomes: Outcome[]; skipped: string[] };

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:learn", ["[--preferences 16]", "[--served 2]"]);
  if (sgd === undefined) return;
  const random = new Random(Number(options.seed));
  const requests = freshRequests(sgd);
  const all = drawPreferences(sgd, requests, random).filter((preference) => nameOf(preference).includes(options.only));
  const wanted = options.full ? all.length : Math.min(all.length, Number(options.preferences));
  const served = Math.min(wanted, Number(options.served));
  const unrelated = random.shuffled(requests);
  const tried: Tried = { outcomes: [], skipped: [] };
  const work = { queue: [...all], unrelated, random, share: Math.ceil(UNRELATED / wanted), tried };
  if (served > 0)
    await tryAll(await ServedSystem.start(options.base, { threads: Number(options.threads), learning: WEIGHTS_ALONE }), {
      ...work,
      count: served,
    });
  await tryAll(await startInProcess(), { ...work, count: wanted });
  summarise(tried, { preferences: all.length, served });
}

function startInProcess(): Promise<LearningSystem> {
  const objective = z.enum(OBJECTIVE_NAMES).parse(options.objective);
  const settings: unknown = JSON.parse(options.settings);
  return InProcessSystem.start(options.base, {
    threads: Number(options.threads),
    settings,
    objective,
    onLook: (look) => say(`    look ${JSON.stringify(look)}`),
    onTaught: (counts) => say(`    taught ${JSON.stringify(counts)}`),
  });
}

type Work = { queue: Preference[]; unrelated: readonly FreshRequest[]; random: Random; share: number; tried: Tried; count: number };

/** Takes preferences from the queue until `count` have been tried in all. */
async function tryAll(
  system: LearningSystem,
  { queue, unrelated, random, share, tried: { outcomes, skipped }, count }: Work,
): Promise<void> {
  try {
    for (let preference = queue.shift(); preference !== undefined && outcomes.length < count; preference = queue.shift()) {
      say(`${outcomes.length + 1}/${count} ${nameOf(preference)} (${preference.silent.length} silent, ${preference.stated.length} stated)`);
      const others = random.shuffled(unrelated.filter(({ call }) => call.name !== preference?.tool)).slice(0, share);
      const outcome = await tryPreference(system, preference, others, random);
      if (outcome === undefined) {
        say("  skipped: the base honours it already or never calls the tool");
        skipped.push(nameOf(preference));
      } else outcomes.push(outcome);
      await system.forget();
      if (outcomes.length >= count) break;
    }
  } finally {
    await system.close();
  }
}

/** One user, one preference, one agent. Undefined where there is nothing to correct. */
async function tryPreference(
  system: LearningSystem,
  preference: Preference,
  unrelated: readonly FreshRequest[],
  random: Random,
): Promise<Outcome | undefined> {
  const silent = [...preference.silent];
  const outcome: Outcome = {
    preference: nameOf(preference),
    path: system.path,
    corrections: 0,
    honoured: false,
    freshHonoured: [],
    freshByWeights: [],
    freshCalledBefore: [],
    statedKept: [],
    unrelated: [],
    updateSeconds: [],
    notes: [],
  };
  let open = await violated(system, preference, { pool: silent, spare: MAX_CORRECTIONS });
  if (open === undefined) return undefined;
  while (open !== undefined && outcome.corrections < MAX_CORRECTIONS && !outcome.honoured) {
    outcome.corrections += 1;
    const objection = correct(preference, random);
    const heard = await system.object({
      ...open,
      result: open.request.result,
      objection,
      seed: Number(options.seed) + outcome.corrections,
    });
    if (heard.seconds !== undefined) outcome.updateSeconds.push(heard.seconds);
    outcome.notes.push(heard.note);
    say(`  "${objection.content}" → ${heard.hint ?? "no hint"} → ${heard.note} (${heard.seconds?.toFixed(1) ?? "–"} s)`);
    const [fresh] = silent.splice(0, 1);
    const [answer] = fresh === undefined ? [] : await system.answer([fresh]);
    if (fresh === undefined || answer === undefined) break;
    outcome.honoured = reaction(preference, answer.calls) === "honoured";
    say(`  after correction ${outcome.corrections}: ${outcome.honoured ? "honoured" : "not honoured"} ${describe(answer)}`);
    open =
      reaction(preference, answer.calls) === "violated"
        ? { request: fresh, answer }
        : outcome.honoured
          ? undefined
          : await violated(system, preference, { pool: silent, spare: MAX_CORRECTIONS });
  }
  const more = silent.slice(0, FRESH_AFTER);
  const answers = await system.answer(more);
  outcome.freshHonoured = answers.map(({ calls }) => reaction(preference, calls) === "honoured");
  const byWeights = (await system.byWeights?.(more)) ?? [];
  outcome.freshByWeights = byWeights.map(({ calls }) => reaction(preference, calls) === "honoured");
  outcome.freshCalledBefore = (await system.answer(more, { bare: true })).map(({ calls }) => reaction(preference, calls) !== "elsewhere");
  answers.forEach((answer, index) =>
    say(`    fresh: ${describe(answer)}${outcome.freshCalledBefore[index] ? "" : " (no call before either)"}`),
  );
  const won = await keptOf(system, preference);
  outcome.statedKept = won.map(({ kept }) => kept);
  for (const { request, answer } of won.filter(({ kept }) => !kept))
    say(`    stated, and lost: "${request.messages.at(-1)?.content}" ${answer === undefined ? "" : describe(answer)}`);
  outcome.unrelated = await pairExact(system, unrelated);
  say(
    `  fresh ${tally(outcome.freshHonoured)} (weights alone ${tally(outcome.freshByWeights)}), stated kept ${tally(outcome.statedKept)}, unrelated ${tally(outcome.unrelated.map(([before]) => before))} → ${tally(outcome.unrelated.map(([, after]) => after))}`,
  );
  return outcome;
}

async function pairExact(system: LearningSystem, requests: readonly FreshRequest[]): Promise<[boolean, boolean][]> {
  const before = await system.answer(requests, { bare: true });
  const after = await system.answer(requests);
  return requests.map((request, index) => [isExact(request, before[index]), isExact(request, after[index])]);
}

function summarise({ outcomes, skipped }: Tried, { preferences, served }: { preferences: number; served: number }): void {
  const honoured = outcomes.map((each) => each.honoured);
  const fresh = outcomes.flatMap(({ freshHonoured }) => freshHonoured);
  const byWeights = outcomes.flatMap(({ freshByWeights }) => freshByWeights);
  const calledBefore = outcomes.flatMap(({ freshCalledBefore }) => freshCalledBefore);
  const kept = outcomes.flatMap(({ statedKept }) => statedKept);
  const pairs = outcomes.flatMap(({ unrelated }) => unrelated);
  const seconds = outcomes.flatMap(({ updateSeconds }) => updateSeconds);
  const drop = shareOf(pairs.map(([before]) => before)) - shareOf(pairs.map(([, after]) => after));
  report({
    bench: "learn",
    conditions: {
      split: options.split,
      seed: Number(options.seed),
      base: options.base,
      threads: Number(options.threads),
      preferences: outcomes.length,
      preferencesInSplit: preferences,
      // Those that the base honours already, or whose tool it never calls in four requests: there is nothing to correct.
      skipped: skipped.join("; "),
      subset: !options.full,
      objective: options.objective,
      only: options.only,
      path: `${served} preferences over HTTP through edge and trainer, the others through the trainer's parts in one process`,
      history: "each fresh conversation holds the data's own turns up to its first call",
    },
    figures: {
      honoured: shareFigure(honoured),
      honouredFurtherFresh: shareFigure(fresh),
      honouredFurtherFreshByWeights: ifAny(byWeights, shareFigure),
      honouredFurtherFreshWhereCalledBefore: shareFigure(fresh.filter((_, index) => calledBefore[index] === true)),
      statedKept: shareFigure(kept),
      unrelatedExactBefore: shareFigure(pairs.map(([before]) => before)),
      unrelatedExactAfter: shareFigure(pairs.map(([, after]) => after)),
      corrections: outcomes.length === 0 ? null : outcomes.reduce((sum, each) => sum + each.corrections, 0) / outcomes.length,
      secondsPerUpdate: ifAny(seconds, secondsFigure),
      perPreference: outcomes.map(({ preference, path, corrections, honoured: ok, notes }) => ({
        preference,
        path,
        corrections,
        honoured: ok,
        notes,
      })),
    },
    bars: [
      atLeast("honoured within 3 corrections", ifAny(honoured, shareOf), 0.6, "share"),
      atLeast("stated value kept", ifAny(kept, shareOf), 0.9, "share"),
      atMost(
        "exact-call drop elsewhere",
        ifAny(pairs, () => points(drop)),
        2,
        "points",
      ),
    ],
  });
}

/** A share in percentage points; a difference of two shares carries dust that would decide at the bar. */
function points(share: number): number {
  return Math.round(share * 1e8) / 1e6;
}

function describe({ calls, text }: Answer): string {
  return calls.length === 0
    ? JSON.stringify(text.slice(0, 80))
    : calls.map(({ name, arguments: args }) => `${name}${JSON.stringify(args)}`).join(" ");
}

await main();
