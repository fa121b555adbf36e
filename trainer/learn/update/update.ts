/**
 * One update: signals become lessons, answers or rewards, those become an adapter, the adapter proves itself or is refused.
 * Corrections of different parameters are learned one after the other, each from the candidate before it, so that what
 * is already known is what the next teacher already does. Same request and seed, same adapter.
 */
import type { z } from "zod";
import { AppError } from "../../../shared/errors.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import type { Reach } from "../../../shared/reach.ts";
import { linearNames } from "../../../shared/lora.ts";
import type { UpdateMetrics } from "../../../shared/policy.ts";
import type { ActsOn } from "../../config.ts";
import { keepApart } from "../../engine/engine.ts";
import { refuseFor } from "../../engine/training-port.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import { ErrandPools } from "../lesson/errand-pool.ts";
import { seedAt } from "../../random.ts";
import { type Task, tasksOf, withoutMisread } from "./tasks.ts";
import { answeredAsOf } from "./unmoved.ts";
import { refuse, type CorrectionResult, type LearnedCorrection, type RefusedCorrection } from "./result.ts";
import type { Learner, Refused, UpdateRequest } from "./learner.ts";

const AGAIN = 1_000; // beyond every other use of an update's seed

export function createLearner(given: Omit<LearnerDependencies, "errandPools">): Learner {
  const errandPools = new ErrandPools(given.engine, given.base);
  // What is judged while an update runs must not show in it: learned again, it is the same to the bit.
  const deps = { ...given, engine: keepApart(given.engine, "update"), errandPools };
  const { capabilities } = given.engine;
  if (!capabilities.distributions || !capabilities.masks || !capabilities.loadAdapter)
    refuseFor(
      capabilities,
      "distributions, masks and adapters to load, which an update's teacher and trust region need",
      "an engine without",
    );
  let updates = 0;
  return {
    prepare: (version) => errandPools.prepare(version),
    async update(asked) {
      updates += 1;
      const started = deps.now();
      const { request, refused: misread } = withoutMisread(deps, asked);
      request.onStep?.({ done: 0, of: deps.settings.maxSteps });
      const { tasks, refused: unfit } = tasksOf(deps, request);
      const outcome = await learnInTurn(deps, { tasks, request, name: String(updates) });
      const { adapter, learned, defaults, reach } = outcome;
      const refused = [...misread, ...unfit, ...outcome.refused];
      if (adapter === null || learned.length === 0) return { status: "refused", refused };
      const seconds = (deps.now() - started) / 1_000;
      return {
        status: "learned",
        adapter,
        defaults,
        reach,
        metrics: summarise(learned, { request, seconds }),
        changes: learned.flatMap(({ changes }) => changes),
        lifts: new Map(learned.flatMap(({ lifts }) => [...lifts])),
        credits: learned.flatMap(({ credits }) => credits),
        refused,
      };
    },
  };
}

/** What came of the tasks of an update, together. */
type Outcome = {
  /** The last candidate, or the parent where nothing was learned. */
  readonly adapter: AdapterTensors | null;
  readonly learned: readonly LearnedCorrection[];
  readonly defaults: readonly LearnedDefault[];
  readonly reach: Reach;
  readonly refused: readonly Refused[];
};

/** One task after the other, each from the candidate before it. */
async function learnInTurn(
  deps: LearnerDependencies,
  { tasks, request, name }: { tasks: readonly Task[]; request: UpdateRequest; name: string },
): Promise<Outcome> {
  const refused: Refused[] = [];
  const learned: LearnedCorrection[] = [];
  const defaults: LearnedDefault[] = [];
  let reach: Reach = [];
  let adapter = request.parent;
  for (const [index, { events, teaches, tools = null, learn, tries = 1 }] of tasks.entries()) {
    const earlier = learned.flatMap(({ held }) => held ?? []);
    const task = { learn, earlier, current: adapter, name: `${name}.${index}` };
    const asOf = { ...request, ...answeredAsOf(request, { current: adapter, reach, learned: defaults }) };
    let result = await learnTask(deps, { ...task, request: asOf });
    for (let tried = 1; tried < tries && fellShort(result); tried += 1)
      result = await learnTask(deps, { ...task, request: { ...asOf, seed: seedAt(request.seed, AGAIN + tried) } });
    if (result.status === "refused") {
      const { code, detail } = result;
      refused.push(...events.map((eventId) => ({ eventId, code, detail })));
      continue;
    }
    adapter = result.adapter;
    learned.push(result);
    if (teaches !== undefined) defaults.push(...(await teaches()));
    reach = reach === null || tools === null ? null : [...new Set([...reach, ...tools])];
  }
  return { adapter, learned, defaults, reach, refused };
}

type LoadedTask = {
  readonly learn: Task["learn"];
  readonly earlier: readonly HeldBack[];
  readonly current: AdapterTensors | null;
  readonly request: UpdateRequest;
  readonly name: string;
};

/**
 * Loads the adapters, learns one task, and leaves the engine as it was. What breaks the arithmetic is refused: tried
 * again it would break again, for ever.
 */
async function learnTask(deps: LearnerDependencies, { learn, earlier, current, request, name }: LoadedTask): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { actsOn = settings.actsOn ?? "answers" } = request;
  const unfit = refuseActingOn(actsOn, { current, invocation: base.tokenizer.invocation });
  if (unfit !== undefined) return unfit;
  const adapters: Adapters = { parent: current === null ? undefined : `parent.${name}`, candidate: `candidate.${name}` };
  const made: string[] = [];
  await engine.forgetPrefixes();
  try {
    if (current !== null && adapters.parent !== undefined)
      for (const each of [adapters.parent, adapters.candidate]) {
        await engine.loadAdapter(each, current);
        made.push(each);
      }
    else {
      await engine.createAdapter(adapters.candidate, {
        rank: settings.rank,
        alpha: settings.alpha,
        targets: linearNames(),
        invocation: actsOn === "answers" ? base.tokenizer.invocation : undefined,
        seed: request.seed,
      });
      made.push(adapters.candidate);
    }
    return await learn(adapters, earlier, request);
  } catch (error) {
    if (!(error instanceof AppError) || !/^(?:train\/|graph\/|input\/invalid$)/.test(error.code)) throw error;
    return refuse("update/failed", `${error.code}: ${error.message}`);
  } finally {
    for (const each of made) await engine.dropAdapter(each);
    await engine.forgetPrefixes();
  }
}

/** Why no adapter of this kind goes on from the parent, or opens at what asks this base for an answer; undefined where one does. */
function refuseActingOn(
  actsOn: ActsOn,
  { current, invocation }: { current: AdapterTensors | null; invocation: readonly number[] },
): RefusedCorrection | undefined {
  if (actsOn === "everything" && current?.invocation !== undefined)
    return refuse(
      "update/failed",
      "a parent that acts on everything expected, got one that acts on answers: roll the line back to its base",
    );
  if (current === null && actsOn === "answers" && invocation.length < 2)
    return refuse(
      "update/failed",
      `a chat template that asks for an answer in two tokens or more expected, got ${invocation.length}: an adapter that acts on answers begins there`,
    );
  return undefined;
}

/** Whether it was taught, and held-back contexts did not show it: with other contexts it may come out otherwise. */
function fellShort(result: CorrectionResult): boolean {
  return result.status === "refused" && (result.code === "update/deaf" || result.code === "update/notLearned");
}

function summarise(
  learned: readonly LearnedCorrection[],
  { request, seconds }: { request: UpdateRequest; seconds: number },
): z.infer<typeof UpdateMetrics> {
  const last = learned.at(-1)?.metrics;
  const [first] = learned;
  const staleness = learned.find(({ metrics }) => metrics.staleness !== undefined)?.metrics.staleness;
  return {
    objective: request.objective,
    steps: learned.reduce((sum, { metrics }) => sum + metrics.steps, 0),
    loss: last?.loss ?? 0,
    lossBefore: first?.metrics.lossBefore ?? 0,
    klToParentNats: Math.max(...learned.map(({ metrics }) => metrics.klToParentNats)),
    klToBaseNats: last?.klToBaseNats ?? 0,
    contexts: learned.reduce((sum, { metrics }) => sum + metrics.contexts, 0),
    seconds,
    ...(staleness === undefined ? {} : { staleness }),
  };
}
