/**
 * `npm run bench:retain -- --sgd <folder> --split dev|test|tuning`: users who teach one tool one default after the other, without notes.
 * What was learned first must still be honoured after what was learned later, and calls of tools that nobody taught are made as before. With `--corrections <n>` one policy is corrected so often: all
 * defaults of all tools in turn, then each but the first contradicted by another value, round after round.
 */
import { at } from "../shared/assert.ts";
import { readCommandLine } from "../trainer/command-line.ts";
import { Random } from "../trainer/random.ts";
import { atLeast, atMost, ifAny, report, say, secondsFigure, shareFigure, shareOf, tally } from "./bench.ts";
import { openSgd, SGD_OPTIONS } from "./sgd-options.ts";
import { InProcessSystem } from "./sim/in-process.ts";
import type { Answer } from "./sim/learning.ts";
import { drawPreferences, nameOf, type Preference } from "./sim/preferences.ts";
import { freshRequests, type FreshRequest } from "./sim/requests.ts";
import { isExact, keptOf, violated } from "./sim/trial.ts";
import { correct, reaction } from "./sim/user.ts";

const MOST_LESSONS = 4; // defaults of one tool, one after the other
const MAX_CORRECTIONS = 2; // of one default
const ASKED = 8; // requests in which nothing is said of a default
const ELSEWHERE = 100; // requests for tools that nothing was taught of, and as many for those that something was
const LONGEST_CHARS = 4_500; // of a request with its tools, as JSON: longer ones may be beyond the context
const MINIMA = { minSilent: 6, minStated: 1 };

const { values: options } = readCommandLine({
  options: {
    ...SGD_OPTIONS,
    tools: { type: "string", default: "6" },
    /** So many corrections of one policy, of all tools in turn, in place of one policy for each tool. */
    corrections: { type: "string" },
    /** Nothing more is taught after so long; what was is asked for. */
    minutes: { type: "string", default: "600" },
    only: { type: "string", default: "" },
    /** Says every answer that leaves a default out. */
    answers: { type: "boolean", default: false },
    settings: { type: "string", default: "{}" },
  },
});

/** A default that was learned, with requests that nobody has been corrected in. */
type Lesson = { readonly preference: Preference; readonly asked: readonly FreshRequest[]; readonly honoured: readonly boolean[] };
type Exact = { readonly before: boolean; readonly after: boolean };
/** What one policy is taught, in this order. */
type Course = { readonly name: string; readonly wishes: Iterable<Preference> };
type Outcome = {
  readonly name: string;
  /** Defaults that hold at the end, each in its last value. */
  readonly taught: readonly string[];
  readonly notTaught: readonly string[];
  readonly corrections: number;
  /** Values that took the place of others. */
  readonly contradicted: number;
  /** Of the first default alone. */
  readonly first: readonly boolean[];
  /** Requests that honoured a default when it was learned, and whether they do after the last. */
  readonly stillHonoured: readonly boolean[];
  /** The same without holding answers to the defaults that the version carries. */
  readonly byWeights: readonly boolean[];
  readonly kept: readonly boolean[];
  /** Of requests for tools that nothing was taught of, whether the call is the data's: by the base, and at the end. */
  readonly elsewhere: readonly Exact[];
  /** The same of tools that something was taught of, but for the arguments that it is about. */
  readonly beside: readonly Exact[];
};

const seconds: number[] = [];

async function main(): Promise<void> {
  const sgd = openSgd(options, "bench:retain", ["[--tools 6]", "[--corrections <n>]", "[--minutes <n>]", "[--only <text>]"]);
  if (sgd === undefined) return;
  const random = new Random(Number(options.seed));
  const requests = freshRequests(sgd, { mostChars: LONGEST_CHARS });
  const draw = (): Preference[] => drawPreferences(sgd, requests, random, MINIMA).filter((each) => nameOf(each).includes(options.only));
  const courses: Course[] = options.corrections === undefined ? byTool(draw()) : [{ name: "all tools", wishes: rounds(draw) }];
  const wanted = options.full || options.corrections !== undefined ? courses : courses.slice(0, Number(options.tools));
  const system = await InProcessSystem.start(options.base, {
    threads: Number(options.threads),
    settings: JSON.parse(options.settings) as unknown,
    objective: "distillation",
    onLook: () => undefined,
    onTaught: () => undefined,
  });
  const outcomes: Outcome[] = [];
  try {
    for (const { name, wishes } of wanted) {
      say(`${outcomes.length + 1}/${wanted.length} ${name}`);
      outcomes.push(await takeCourse(system, name, { wishes, requests, random }));
      await system.forget();
    }
  } finally {
    await system.close();
  }
  summarise(outcomes, courses.length);
}

/** Of each tool that several are about, at most `MOST_LESSONS`. */
function byTool(preferences: readonly Preference[]): Course[] {
  const groups = new Map<string, Preference[]>();
  for (const each of preferences) {
    const tool = `${each.service}.${each.tool}`;
    groups.set(tool, [...(groups.get(tool) ?? []), each]);
  }
  return [...groups].filter(([, wishes]) => wishes.length > 1).map(([name, wishes]) => ({ name, wishes: wishes.slice(0, MOST_LESSONS) }));
}

/** All that can be taught, round after round with other values. */
function* rounds(draw: () => readonly Preference[]): Iterable<Preference> {
  for (let drawn = draw(); drawn.length > 0; drawn = draw()) yield* drawn;
}

function placeOf({ service, tool, parameter }: Preference): string {
  return `${service}.${tool}.${parameter}`;
}

async function takeCourse(
  system: InProcessSystem,
  name: string,
  { wishes, requests, random }: { wishes: Iterable<Preference>; requests: readonly FreshRequest[]; random: Random },
): Promise<Outcome> {
  const started = performance.now();
  const most = Number(options.corrections ?? Infinity);
  const last = new Map<string, Lesson>();
  const notTaught: string[] = [];
  let [corrections, contradicted] = [0, 0];
  for (const preference of wishes) {
    if (corrections >= most || performance.now() - started > Number(options.minutes) * 60_000) break;
    const [first] = last.keys();
    if (placeOf(preference) === first) continue;
    const { lesson, made } = await teach(system, preference, random);
    corrections += made;
    if (lesson === undefined) {
      if (made > 0) notTaught.push(nameOf(preference));
      continue;
    }
    if (last.delete(placeOf(preference))) contradicted += 1;
    last.set(placeOf(preference), lesson);
    say(`  ${corrections} corrections, ${last.size} defaults, ${contradicted} of them contradicted`);
  }
  const lessons = [...last.values()];
  const stillHonoured: boolean[] = [];
  const byWeights: boolean[] = [];
  const kept: boolean[] = [];
  let first: readonly boolean[] | undefined;
  for (const lesson of lessons.slice(0, -1)) {
    const asked = lesson.asked.filter((_, index) => lesson.honoured[index] === true);
    const now = honouredIn(lesson.preference, { asked, answers: await system.answer(asked) });
    const weights = honouredIn(lesson.preference, { asked, answers: await system.byWeights(asked) });
    const more = lessons.length - 1 - lessons.indexOf(lesson);
    say(`    ${nameOf(lesson.preference)}, after ${more} more: ${tally(now)} (weights alone ${tally(weights)})`);
    stillHonoured.push(...now);
    byWeights.push(...weights);
    first ??= now;
  }
  for (const { preference } of lessons) kept.push(...(await keptOf(system, preference)).map((each) => each.kept));
  const untaught = await askUntaught(system, { lessons, requests, random });
  say(
    `  ${lessons.length} taught, ${notTaught.length} not, still honoured ${tally(stillHonoured)} (weights alone ${tally(byWeights)}), stated kept ${tally(kept)}`,
  );
  say(`  exact elsewhere ${told(untaught.elsewhere)}, in other arguments of what was taught ${told(untaught.beside)}`);
  return {
    name,
    taught: lessons.map(({ preference }) => nameOf(preference)),
    notTaught,
    corrections,
    contradicted,
    first: first ?? [],
    stillHonoured,
    byWeights,
    kept,
    ...untaught,
  };
}

function told(exact: readonly Exact[]): string {
  return `${tally(exact.map(({ before }) => before))} before and ${tally(exact.map(({ after }) => after))} now`;
}

/** What nobody taught: calls of other tools, and other arguments of the same. */
async function askUntaught(
  system: InProcessSystem,
  { lessons, requests, random }: { lessons: readonly Lesson[]; requests: readonly FreshRequest[]; random: Random },
): Promise<Pick<Outcome, "elsewhere" | "beside">> {
  const taught = new Map<string, Set<string>>();
  for (const { preference } of lessons)
    taught.set(preference.tool, new Set([...(taught.get(preference.tool) ?? []), preference.parameter]));
  const ask = async (isAsked: (request: FreshRequest) => boolean): Promise<Exact[]> => {
    const some = random.shuffled(requests.filter(isAsked)).slice(0, ELSEWHERE);
    const [before, after] = [await system.answer(some, { bare: true }), await system.answer(some)];
    return some.map((request, index) => {
      const isOpen = (parameter: string): boolean => taught.get(request.call.name)?.has(parameter) === true;
      return { before: isExact(request, before[index], isOpen), after: isExact(request, after[index], isOpen) };
    });
  };
  return { elsewhere: await ask(({ call }) => !taught.has(call.name)), beside: await ask(({ call }) => taught.has(call.name)) };
}

/** `made`: corrections. No lesson where there was nothing to object to, or nothing was learned. */
async function teach(
  system: InProcessSystem,
  preference: Preference,
  random: Random,
): Promise<{ readonly lesson?: Lesson; readonly made: number }> {
  const pool = [...preference.silent];
  let learned = false;
  let made = 0;
  for (let correction = 1; correction <= MAX_CORRECTIONS && !learned; correction += 1) {
    const open = await violated(system, preference, { pool, spare: ASKED / 2 });
    if (open === undefined) break;
    const objection = correct(preference, random);
    made += 1;
    const heard = await system.object({ ...open, result: open.request.result, objection, seed: Number(options.seed) + correction });
    if (heard.seconds !== undefined) seconds.push(heard.seconds);
    say(`  "${objection.content}" → ${heard.hint ?? "no hint"} → ${heard.note.slice(0, 200)} (${heard.seconds?.toFixed(1) ?? "–"} s)`);
    learned = heard.learned;
  }
  if (!learned) return { made };
  const asked = pool.slice(0, ASKED);
  const honoured = honouredIn(preference, { asked, answers: await system.answer(asked) });
  say(`    ${nameOf(preference)}: ${tally(honoured)}`);
  return { lesson: { preference, asked, honoured }, made };
}

function honouredIn(preference: Preference, { asked, answers }: { asked: readonly FreshRequest[]; answers: readonly Answer[] }): boolean[] {
  return answers.map(({ calls, text }, index) => {
    const reacted = reaction(preference, calls);
    if (reacted !== "honoured" && options.answers)
      say(
        `      ${reacted}: ${calls.length > 0 ? JSON.stringify(calls) : text.slice(0, 80)} (${at(asked, index).messages.at(-1)?.content})`,
      );
    return reacted === "honoured";
  });
}

function exactFigure(exact: readonly Exact[]) {
  const shareIn = (when: keyof Exact) =>
    ifAny(
      exact.map((each) => each[when]),
      shareFigure,
    );
  return { before: shareIn("before"), after: shareIn("after") };
}

function dropOf(exact: readonly Exact[]): number | null {
  return ifAny(exact, (some) => shareOf(some.map(({ before }) => before)) - shareOf(some.map(({ after }) => after)));
}

function summarise(outcomes: readonly Outcome[], coursesInSplit: number): void {
  const still = outcomes.flatMap(({ stillHonoured }) => stillHonoured);
  const byWeights = outcomes.flatMap((each) => each.byWeights);
  const kept = outcomes.flatMap((each) => each.kept);
  const first = outcomes.flatMap((each) => each.first);
  const elsewhere = outcomes.flatMap((each) => each.elsewhere);
  const beside = outcomes.flatMap((each) => each.beside);
  const taught = outcomes.flatMap((each) => [...each.taught.map(() => true), ...each.notTaught.map(() => false)]);
  report({
    bench: "retain",
    conditions: {
      split: options.split,
      seed: Number(options.seed),
      base: options.base,
      threads: Number(options.threads),
      courses: outcomes.length,
      coursesInSplit,
      corrections: options.corrections ?? null,
      subset: !options.full,
      only: options.only,
      path: "trainer parts in one process, no HTTP; no notes, defaults yield and are held",
    },
    figures: {
      taught: shareFigure(taught),
      corrections: outcomes.reduce((sum, { corrections }) => sum + corrections, 0),
      contradicted: outcomes.reduce((sum, { contradicted }) => sum + contradicted, 0),
      firstHonoured: ifAny(first, shareFigure),
      stillHonoured: ifAny(still, shareFigure),
      stillHonouredByWeights: ifAny(byWeights, shareFigure),
      statedKept: ifAny(kept, shareFigure),
      exactElsewhere: exactFigure(elsewhere),
      exactBeside: exactFigure(beside),
      secondsPerUpdate: ifAny(seconds, secondsFigure),
      perCourse: outcomes.map(({ name, taught: made, notTaught, stillHonoured }) => ({
        name,
        taught: made,
        notTaught,
        stillHonoured: tally(stillHonoured),
      })),
    },
    bars: [
      ...(options.corrections === undefined
        ? []
        : [
            atLeast("the first default is honoured after all corrections", ifAny(first, shareOf), 0.9, "share"),
            atLeast("stated values kept", ifAny(kept, shareOf), 0.97, "share"),
          ]),
      atMost("exact-call drop elsewhere", dropOf(elsewhere), 0.01, "share"),
      atMost("exact-call drop in other arguments of what was taught", dropOf(beside), 0.01, "share"),
      atLeast("what was learned first is honoured after what was learned later", ifAny(still, shareOf), 0.9, "share"),
    ],
  });
}

await main();
