/**
 * `npm run bench:attack -- --sgd <folder> --split dev|test`: what strangers try on a system that learns from all of its
 * users, and what an honest user then gets. The exit code says whether all of it held.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../trainer/command-line.ts";
import { Random } from "../trainer/random.ts";
import { candidates } from "./attack/candidates.ts";
import { flood, honest, sybils } from "./attack/crowds.ts";
import { deletion } from "./attack/deletion.ts";
import { habit } from "./attack/habit.ts";
import { injection } from "./attack/injection.ts";
import { Progress } from "./attack/progress.ts";
import type { Scenario, Stage } from "./attack/scenario.ts";
import { Town } from "./attack/town.ts";
import { report, say } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { drawPreferences, nameOf, type Preference } from "./sim/preferences.ts";
import { freshRequests } from "./sim/requests.ts";
import { unlearning } from "./attack/unlearning.ts";

const APPLICATIONS = 5; // keys that the residents come under
const NEWCOMERS_A_START = 10_000; // more than ever come in one
const LONGEST_CHARS = 6_000; // of a request with its tools, as JSON: what is said to it has to fit the context too

/** In the order in which they build on one another. */
const SCENARIOS: Readonly<Record<string, Scenario>> = { injection, flood, sybils, honest, habit, candidates, unlearning, deletion };

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    users: { type: "string", default: "200" },
    flood: { type: "string", default: "2000" },
    sybils: { type: "string", default: "1000" },
    updates: { type: "string", default: "10" },
    only: { type: "string", default: Object.keys(SCENARIOS).join() },
    /** Kept, so that a run that was broken off goes on after the last attack that it finished. */
    state: { type: "string" },
  },
});

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:attack", [
    "[--users 200]",
    "[--flood 2000]",
    "[--sybils 1000]",
    "[--updates 10]",
    `[--only ${Object.keys(SCENARIOS).join()}]`,
    "[--state <folder>]",
  ]);
  if (sgd === undefined) return;
  const requests = freshRequests(sgd, { mostChars: LONGEST_CHARS });
  const { service, wishes } = busiest(drawPreferences(sgd, requests, new Random(Number(options.seed))));
  const sizes = { flood: Number(options.flood), sybils: Number(options.sybils), updates: Number(options.updates) };
  const conditions = {
    split: options.split,
    seed: Number(options.seed),
    base: options.base,
    service,
    users: Number(options.users),
    applications: APPLICATIONS,
    ...sizes,
  };
  const folder = options.state ?? mkdtempSync(join(tmpdir(), "nextstate-attack-"));
  mkdirSync(folder, { recursive: true });
  say(`if this is broken off, --state ${folder} goes on with it`);
  const progress = new Progress(folder, conditions);
  const settings = { learning: { notes: "off", minSignals: 4, maxWaitMs: 1 }, release: { canary: { mode: "off" } } };
  const newcomers = NEWCOMERS_A_START * Object.keys(progress.outcomes).length;
  const town = await Town.start(options.base, { folder, threads: Number(options.threads), settings, newcomers });
  try {
    const own = requests.filter((request) => request.service === service);
    const residents = progress.residents.length > 0 ? progress.residents : await town.invite(conditions.users, APPLICATIONS);
    const stage = (name: string): Stage => ({ town, residents, wishes, requests: own, random: randomOf(name), sizes });
    say(`${residents.length} residents of ${service}, who want ${wishes.map(nameOf).join("; ")}`);
    if (progress.residents.length === 0) await settle(stage("settle"));
    progress.settled(residents);
    for (const name of options.only.split(",")) {
      const scenario = SCENARIOS[name];
      if (scenario === undefined) throw new Error(`--only: some of ${Object.keys(SCENARIOS).join()} expected, got ${name}`);
      const known = progress.outcomes[name] !== undefined;
      say(known ? `${name}: done before` : name);
      if (!known) progress.add(name, await scenario(stage(name)));
    }
  } finally {
    await town.close();
  }
  const outcomes = options.only.split(",").flatMap((name) => {
    const outcome = progress.outcomes[name];
    return outcome === undefined ? [] : [{ name, ...outcome }];
  });
  report({
    bench: "attack",
    conditions: { ...conditions, only: options.only },
    figures: Object.fromEntries(outcomes.map(({ name, figures }) => [name, figures])),
    bars: outcomes.flatMap(({ bars }) => bars),
  });
  if (options.state === undefined) rmSync(folder, { recursive: true, force: true });
}

/** Each attack draws for itself, so that what came before it, in this start or an earlier one, changes nothing. */
function randomOf(name: string): Random {
  const place = ["settle", ...Object.keys(SCENARIOS)].indexOf(name);
  return new Random(Number(options.seed) * 100 + place);
}

/** Every resident has been there once and was content, so that the line knows how many there are. */
async function settle({ town, residents, requests, random }: Stage): Promise<void> {
  for (const [index, resident] of residents.entries()) {
    await town.converse(resident, random.pick(requests), { role: "user", content: "Thanks, that is all I need." });
    if ((index + 1) % 20 === 0) say(`  ${index + 1} of ${residents.length} residents have settled`);
  }
  await town.learn();
}

/** The service with the most preferences that differ in argument, and those. */
function busiest(preferences: readonly Preference[]): { service: string; wishes: Preference[] } {
  const services = [...new Set(preferences.map(({ service }) => service))];
  const wishesOf = (service: string): Preference[] => preferences.filter((each) => each.service === service);
  const [service] = services.toSorted((a, b) => wishesOf(b).length - wishesOf(a).length);
  if (service === undefined) throw new Error("a preference expected, got none");
  return { service, wishes: wishesOf(service) };
}

await main();
