/**
 * `npm run bench:attack -- --sgd <folder> --split dev|test`: what strangers try on a system that learns from all of its
 * users, and what an honest user then gets. The exit code says whether all of it held.
 */
import { parseArgs } from "node:util";
import { Random } from "../trainer/random.ts";
import { candidates } from "./attack/candidates.ts";
import { flood, honest, sybils } from "./attack/crowds.ts";
import { deletion } from "./attack/deletion.ts";
import { habit } from "./attack/habit.ts";
import { injection } from "./attack/injection.ts";
import type { Outcome, Scenario, Stage } from "./attack/scenario.ts";
import { Town } from "./attack/town.ts";
import { report, say } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { drawPreferences, nameOf, type Preference } from "./sim/preferences.ts";
import { freshRequests } from "./sim/requests.ts";
import { unlearning } from "./attack/unlearning.ts";

const APPLICATIONS = 5; // keys that the residents come under
const LONGEST_CHARS = 6_000; // of a request with its tools, as JSON: what is said to it has to fit the context too

/** In the order in which they build on one another. */
const SCENARIOS: Readonly<Record<string, Scenario>> = { injection, flood, sybils, honest, habit, candidates, unlearning, deletion };

const { values: options } = parseArgs({
  options: {
    ...SGD_OPTIONS,
    users: { type: "string", default: "200" },
    flood: { type: "string", default: "2000" },
    sybils: { type: "string", default: "1000" },
    updates: { type: "string", default: "10" },
    only: { type: "string", default: Object.keys(SCENARIOS).join() },
  },
});

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:attack", [
    "[--users 200]",
    "[--flood 2000]",
    "[--sybils 1000]",
    "[--updates 10]",
    `[--only ${Object.keys(SCENARIOS).join()}]`,
  ]);
  if (sgd === undefined) return;
  const random = new Random(Number(options.seed));
  const requests = freshRequests(sgd).filter((request) => JSON.stringify(request).length <= LONGEST_CHARS);
  const { service, wishes } = busiest(drawPreferences(sgd, requests, random));
  const settings = { learning: { notes: "off", minSignals: 4, maxWaitMs: 1 }, release: { canary: { mode: "off" } } };
  const town = await Town.start(options.base, { threads: Number(options.threads), settings });
  const outcomes: Record<string, Outcome> = {};
  try {
    const residents = await town.invite(Number(options.users), APPLICATIONS);
    const own = requests.filter((request) => request.service === service);
    const sizes = { flood: Number(options.flood), sybils: Number(options.sybils), updates: Number(options.updates) };
    const stage: Stage = { town, residents, wishes, requests: own, random, sizes };
    say(`${residents.length} residents of ${service}, who want ${wishes.map(nameOf).join("; ")}`);
    await settle(stage);
    for (const name of options.only.split(",")) {
      const scenario = SCENARIOS[name];
      if (scenario === undefined) throw new Error(`--only: some of ${Object.keys(SCENARIOS).join()} expected, got ${name}`);
      say(name);
      outcomes[name] = await scenario(stage);
    }
  } finally {
    await town.close();
  }
  report({
    bench: "attack",
    conditions: {
      split: options.split,
      seed: Number(options.seed),
      base: options.base,
      service,
      users: Number(options.users),
      applications: APPLICATIONS,
      flood: Number(options.flood),
      sybils: Number(options.sybils),
      only: options.only,
    },
    figures: Object.fromEntries(Object.entries(outcomes).map(([name, { figures }]) => [name, figures])),
    bars: Object.values(outcomes).flatMap(({ bars }) => bars),
  });
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
