/**
 * `npm run bench:learn -- --sgd <folder> --split dev|test`: simulated users with a standing preference, corrected in
 * plain words, learnt by weights alone. Honoured where the user is silent, dropped where the user states another value,
 * and nothing lost elsewhere.
 */
import { parseArgs } from "node:util";
import { canonicalJson } from "../shared/digest.ts";
import { argumentText } from "../trainer/data/calls.ts";
import { Random } from "../trainer/pretrain/random.ts";
import { readSgd } from "../trainer/pretrain/sgd.ts";
import { atLeast, atMost, median, report, say, wilson } from "./bench.ts";
import { drawPreferences, type Preference } from "./sim/preferences.ts";
import { freshRequests, type FreshRequest } from "./sim/requests.ts";
import { LearningSystem, type Answer } from "./sim/system.ts";
import { correct, reaction } from "./sim/user.ts";

const MAX_CORRECTIONS = 3;
const FRESH_AFTER = 5; // more fresh conversations per preference, beside the first
const STATED_PER_PREFERENCE = 6;
const UNRELATED = 200;

const { values: options } = parseArgs({
  options: {
    sgd: { type: "string" },
    split: { type: "string", default: "dev" },
    base: { type: "string", default: "base" },
    seed: { type: "string", default: "1" },
    threads: { type: "string", default: "2" },
    preferences: { type: "string", default: "16" },
    settings: { type: "string", default: "{}" },
    full: { type: "boolean", default: false },
  },
});

type Outcome = {
  preference: string;
  corrections: number;
  /** The first answer of the first fresh conversation after a correction, at most three. */
  honoured: boolean;
  /** First answers of further fresh conversations. */
  freshHonoured: boolean[];
  /** Stated requests that the bare base won, and whether they still do. */
  statedKept: boolean[];
  /** Unrelated requests: exact before, exact after. */
  unrelated: [boolean, boolean][];
  updateSeconds: number[];
  notes: string[];
};

async function main(): Promise<void> {
  const { sgd: folder, split } = options;
  if (folder === undefined || (split !== "dev" && split !== "test")) {
    say("npm run bench:learn -- --sgd <folder> --split dev|test [--base base] [--preferences 16] [--full] [--seed 1] [--threads 2]");
    process.exitCode = 2;
    return;
  }
  const sgd = readSgd(folder, split);
  const random = new Random(Number(options.seed));
  const requests = freshRequests(sgd);
  const all = drawPreferences(sgd, requests, random);
  const wanted = options.full ? all.length : Number(options.preferences);
  const system = await LearningSystem.start(options.base, {
    threads: Number(options.threads),
    settings: JSON.parse(options.settings),
    onLook: (look) => say(`    look ${JSON.stringify(look)}`),
  });
  const unrelated = random.shuffled(requests).slice(0, UNRELATED * 4);
  const outcomes: Outcome[] = [];
  for (const preference of all) {
    if (outcomes.length >= wanted) break;
    say(`${outcomes.length + 1}/${wanted} ${nameOf(preference)} (${preference.silent.length} silent, ${preference.stated.length} stated)`);
    const others = unrelated.filter((request) => request.call.name !== preference.tool).slice(0);
    const share = Math.ceil(UNRELATED / wanted);
    const start = (outcomes.length * share) % Math.max(1, others.length - share);
    const outcome = await tryPreference(system, preference, others.slice(start, start + share), random);
    if (outcome === undefined) say("  skipped: the base honours it already or never calls the tool");
    else outcomes.push(outcome);
    await system.forget();
  }
  await system.close();
  summarise(outcomes, all.length);
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
    corrections: 0,
    honoured: false,
    freshHonoured: [],
    statedKept: [],
    unrelated: [],
    updateSeconds: [],
    notes: [],
  };
  const [first] = await violated(system, preference, silent);
  if (first === undefined) return undefined;
  let open: { request: FreshRequest; answer: Answer } | undefined = first;
  while (open !== undefined && outcome.corrections < MAX_CORRECTIONS && !outcome.honoured) {
    outcome.corrections += 1;
    await converse(system, preference, { ...open, outcome, random });
    const [fresh] = silent.splice(0, 1);
    if (fresh === undefined) break;
    const [answer] = await system.answer([fresh]);
    if (answer === undefined) break;
    outcome.honoured = reaction(preference, answer.calls) === "honoured";
    say(`  after correction ${outcome.corrections}: ${outcome.honoured ? "honoured" : "not honoured"} ${describe(answer)}`);
    open = reaction(preference, answer.calls) === "violated" ? { request: fresh, answer } : (await violated(system, preference, silent))[0];
  }
  const fresh = silent.slice(0, FRESH_AFTER);
  outcome.freshHonoured = (await system.answer(fresh)).map(({ calls }) => reaction(preference, calls) === "honoured");
  outcome.statedKept = await keptOf(system, preference);
  outcome.unrelated = await pairExact(system, unrelated);
  say(
    `  fresh ${tally(outcome.freshHonoured)}, stated kept ${tally(outcome.statedKept)}, unrelated ${tally(outcome.unrelated.map(([before]) => before))} → ${tally(outcome.unrelated.map(([, after]) => after))}`,
  );
  return outcome;
}

/** The first request, taken from the pool, whose answer violates the preference: what a user would object to. */
async function violated(
  system: LearningSystem,
  preference: Preference,
  pool: FreshRequest[],
): Promise<{ request: FreshRequest; answer: Answer }[]> {
  for (let tries = 0; tries < 4 && pool.length > MAX_CORRECTIONS; tries += 1) {
    const [request] = pool.splice(0, 1);
    const [answer] = request === undefined ? [] : await system.answer([request]);
    if (request !== undefined && answer !== undefined && reaction(preference, answer.calls) === "violated") return [{ request, answer }];
  }
  return [];
}

/** Call, result, reply, objection: as a client would go through it. */
async function converse(
  system: LearningSystem,
  preference: Preference,
  { request, answer, outcome, random }: { request: FreshRequest; answer: Answer; outcome: Outcome; random: Random },
): Promise<void> {
  const { message } = system.record(request, answer);
  const id = message.role === "assistant" ? (message.tool_calls?.[0]?.id ?? "") : "";
  const then = {
    tools: request.tools,
    messages: [...request.messages, message, { role: "tool" as const, content: request.result, tool_call_id: id }],
  };
  const [reply] = await system.answer([then]);
  if (reply === undefined) return;
  const { completionId } = system.record(then, reply);
  const objection = correct(preference, random);
  const started = performance.now();
  const { verdict, outcome: update } = await system.react(completionId, objection, { seed: Number(options.seed) + outcome.corrections });
  const seconds = (performance.now() - started) / 1_000;
  if (update !== undefined) outcome.updateSeconds.push(seconds);
  const note =
    verdict?.hint === undefined
      ? `reward ${verdict?.reward} ${verdict?.refused?.code ?? ""} ${verdict?.refused?.detail ?? ""}`
      : update?.status === "learned"
        ? `learned ${JSON.stringify(update.metrics)}`
        : (update?.refused.map(({ code, detail }) => `${code}: ${detail}`).join("; ") ?? "");
  outcome.notes.push(note);
  say(`  "${objection.content}" → ${verdict?.hint?.text ?? "no hint"} → ${note} (${seconds.toFixed(1)} s)`);
}

/** Stated requests that the base without an adapter wins, and whether the served policy still does. */
async function keptOf(system: LearningSystem, { tool, parameter, stated }: Preference): Promise<boolean[]> {
  const won = (request: FreshRequest, { calls }: Answer): boolean =>
    calls.some(
      ({ name, arguments: args }) => name === tool && argumentText(args[parameter]) === argumentText(request.call.arguments[parameter]),
    );
  const asked = stated.slice(0, STATED_PER_PREFERENCE);
  const before = await system.answer(asked, { bare: true });
  const winners = asked.filter((request, index) => before[index] !== undefined && won(request, before[index]));
  const after = await system.answer(winners);
  return winners.map((request, index) => after[index] !== undefined && won(request, after[index]));
}

async function pairExact(system: LearningSystem, requests: readonly FreshRequest[]): Promise<[boolean, boolean][]> {
  const exact = ({ call }: FreshRequest, answer: Answer | undefined): boolean => {
    const made = answer?.calls[0];
    return answer?.calls.length === 1 && made?.name === call.name && canonicalJson(made.arguments) === canonicalJson(call.arguments);
  };
  const before = await system.answer(requests, { bare: true });
  const after = await system.answer(requests);
  return requests.map((request, index) => [exact(request, before[index]), exact(request, after[index])]);
}

function summarise(outcomes: readonly Outcome[], preferences: number): void {
  const honoured = outcomes.map((each) => each.honoured);
  const fresh = outcomes.flatMap(({ freshHonoured }) => freshHonoured);
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
      subset: !options.full,
      path: "trainer parts in one process, no HTTP",
      history: "each fresh conversation holds the data's own turns up to its first call",
    },
    figures: {
      honoured: figure(honoured),
      honouredFurtherFresh: figure(fresh),
      statedKept: figure(kept),
      unrelatedExactBefore: figure(pairs.map(([before]) => before)),
      unrelatedExactAfter: figure(pairs.map(([, after]) => after)),
      corrections: outcomes.length === 0 ? null : outcomes.reduce((sum, each) => sum + each.corrections, 0) / outcomes.length,
      secondsPerUpdate: seconds.length === 0 ? null : { median: median(seconds), max: Math.max(...seconds), count: seconds.length },
      perPreference: outcomes.map(({ preference, corrections, honoured: ok, notes }) => ({ preference, corrections, honoured: ok, notes })),
    },
    bars: [
      atLeast("honoured within 3 corrections", honoured.length === 0 ? null : shareOf(honoured), 0.6, "share"),
      atLeast("stated value kept", kept.length === 0 ? null : shareOf(kept), 0.9, "share"),
      atMost("exact-call drop elsewhere", pairs.length === 0 ? null : drop * 100, 2, "points"),
    ],
  });
}

function figure(hits: readonly boolean[]): { share: number; count: number; interval: [number, number] } {
  return { share: shareOf(hits), count: hits.length, interval: wilson(hits.filter(Boolean).length, hits.length) };
}

function shareOf(hits: readonly boolean[]): number {
  return hits.length === 0 ? 0 : hits.filter(Boolean).length / hits.length;
}

function tally(hits: readonly boolean[]): string {
  return `${hits.filter(Boolean).length}/${hits.length}`;
}

function nameOf({ service, tool, parameter, value }: Preference): string {
  return `${service}.${tool} ${parameter} = ${value}`;
}

function describe({ calls, text }: Answer): string {
  return calls.length === 0
    ? JSON.stringify(text.slice(0, 80))
    : calls.map(({ name, arguments: args }) => `${name}${JSON.stringify(args)}`).join(" ");
}

await main();
