/**
 * `npm run bench:latency -- --sgd <folder> --split dev|test`: from a correction to the note in force, and to a version that
 * honours it, gated, in the first answer of a stranger's conversation; over HTTP, through edge and trainer, with the settings
 * that everything else uses.
 */
import { readCommandLine } from "../trainer/command-line.ts";
import { Random } from "../trainer/random.ts";
import { atMost, ifAny, median, report, say, secondsFigure } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { drawPreferences, nameOf } from "./sim/preferences.ts";
import { freshRequests } from "./sim/requests.ts";
import { ServedSystem, type Timeline } from "./sim/served.ts";
import { violated } from "./sim/trial.ts";
import { correct } from "./sim/user.ts";

const LEARNING = { notes: "user" };

const { values: options } = readCommandLine({ options: { ...SGD_OPTIONS, preferences: { type: "string", default: "6" } } });

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:latency", ["[--preferences 6]"]);
  if (sgd === undefined) return;
  const random = new Random(Number(options.seed));
  const wanted = Number(options.preferences);
  const system = await ServedSystem.start(options.base, { threads: Number(options.threads), learning: LEARNING });
  const timelines: Timeline[] = [];
  try {
    for (const preference of drawPreferences(sgd, freshRequests(sgd), random)) {
      if (timelines.length >= wanted) break;
      const open = await violated(system, preference, { pool: [...preference.silent], spare: 1 });
      if (open === undefined) continue;
      const timeline = await system.follow({ ...open, result: open.request.result, objection: correct(preference, random), seed: 1 });
      timelines.push(timeline);
      say(`${timelines.length}/${wanted} ${nameOf(preference)}: ${JSON.stringify(timeline)}`);
      await system.forget();
    }
  } finally {
    await system.close();
  }
  const stage = (name: keyof Timeline): number[] => timelines.flatMap((each) => each[name] ?? []);
  const stages = ["judged", "note", "taught", "learned", "published", "served"] as const;
  report({
    bench: "latency",
    conditions: {
      split: options.split,
      seed: Number(options.seed),
      base: options.base,
      threads: Number(options.threads),
      corrections: timelines.length,
    },
    // Each since the correction was sent; the first update after a start also compiles its graphs.
    figures: { ...Object.fromEntries(stages.map((name) => [name, ifAny(stage(name), secondsFigure)])), timelines },
    bars: [
      atMost("note in force, median", ifAny(stage("note"), median), 3, "seconds"),
      atMost("gated version served, median", ifAny(stage("served"), median), 30, "seconds"),
    ],
  });
}

await main();
