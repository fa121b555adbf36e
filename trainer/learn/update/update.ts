/**
 * One update: signals become lessons, answers or rewards, those become an adapter, the adapter proves itself or is refused.
 * Corrections of different parameters are learned one after the other, each from the candidate before it, so that what
 * is already known is what the next teacher already does. Same request and seed, same adapter.
 */
import { isAspect, toolsOf } from "../../../shared/aspects.ts";
import { learnAspect } from "./aspect.ts";
import type { z } from "zod";
import { AppError } from "../../../shared/errors.ts";
import { sampledBy } from "../../../shared/events.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import type { Reach } from "../../../shared/reach.ts";
import { linearNames } from "../../../shared/lora.ts";
import type { UpdateMetrics } from "../../../shared/policy.ts";
import { readOtherwise, statedPrompt } from "../../data/turn-text.ts";
import { keepApart } from "../../engine/engine.ts";
import { refuseFor } from "../../engine/training-port.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { answerRows } from "../lesson/answer-rows.ts";
import { learnAnswers } from "./answers.ts";
import { learnCorrection } from "./correction.ts";
import { taughtBy, withBase } from "./taught-default.ts";
import { lastWords } from "../batch/last-words.ts";
import { releasedBy } from "../batch/released.ts";
import { learnRewards } from "./rewards.ts";
import { usableExchanges } from "../lesson/reward-rows.ts";
import { learnByPaper } from "./paper-recipe.ts";
import type { HeldBack } from "./confirm.ts";
import { ErrandPools } from "../lesson/errand-pool.ts";
import { seedAt } from "../../random.ts";
import { answeredAsOf } from "./unmoved.ts";
import { refuse, type CorrectionResult, type LearnedCorrection } from "./result.ts";
import type { CorrectedExchange, Learner, Refused, UpdateRequest } from "./learner.ts";

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
      const refused: Refused[] = [...misread];
      const learned: LearnedCorrection[] = [];
      const defaults: LearnedDefault[] = [];
      let reach: Reach = [];
      let current = request.parent;
      const tasks = tasksOf(deps, request);
      refused.push(...tasks.refused);
      for (const [index, { events, teaches, tools = null, learn, tries = 1 }] of tasks.tasks.entries()) {
        const earlier = learned.flatMap(({ held }) => held ?? []);
        const task = { learn, earlier, current, name: `${updates}.${index}` };
        const asOf = { ...request, ...answeredAsOf(request, { current, reach, learned: defaults }) };
        let result = await learnTask(deps, { ...task, request: asOf });
        for (let tried = 1; tried < tries && fellShort(result); tried += 1)
          result = await learnTask(deps, { ...task, request: { ...asOf, seed: seedAt(request.seed, AGAIN + tried) } });
        if (result.status === "refused") refused.push(...events.map((eventId) => ({ eventId, code: result.code, detail: result.detail })));
        else {
          current = result.adapter;
          learned.push(result);
          if (teaches !== undefined) defaults.push(...(await teaches()));
          reach = reach === null || tools === null ? null : [...new Set([...reach, ...tools])];
        }
      }
      if (current === null || learned.length === 0) return { status: "refused", refused };
      const seconds = (deps.now() - started) / 1_000;
      return {
        status: "learned",
        adapter: current,
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

/** A request without corrections and replayed turns whose prompts were others where they were answered; supplied answers are looked at as rows (answer-rows.ts). */
function withoutMisread(
  { base: { tokenizer }, onTaught }: LearnerDependencies,
  request: UpdateRequest,
): { request: UpdateRequest; refused: Refused[] } {
  const refused = request.corrected.flatMap(({ eventId, turns }): Refused[] => {
    const other = turns.map(({ payload }) => readOtherwise(tokenizer, payload, statedPrompt(payload))).find((each) => each !== undefined);
    return other === undefined ? [] : [{ eventId, ...other }];
  });
  const out = new Set(refused.map(({ eventId }) => eventId));
  const replay = request.replay.filter((turn) => readOtherwise(tokenizer, turn, turn.stated) === undefined);
  if (replay.length < request.replay.length) onTaught?.({ "replayed otherwise": request.replay.length - replay.length });
  return { request: { ...request, corrected: request.corrected.filter(({ eventId }) => !out.has(eventId)), replay }, refused };
}

/** What one set of adapters is loaded for. */
type Task = {
  readonly events: readonly string[];
  /** Defaults that hold from then on, or hold no longer; asked for once it is learned. */
  readonly teaches?: () => Promise<readonly LearnedDefault[]>;
  /** That it teaches of and of nothing else. Absent: it may teach of all. */
  readonly tools?: readonly string[] | null;
  readonly learn: (adapters: Adapters, earlier: readonly HeldBack[], request: UpdateRequest) => Promise<CorrectionResult>;
  /** How often it is tried, each time on contexts of its own. Absent: once. */
  readonly tries?: number;
};

/** Corrections of each parameter, then the supplied answers, then the rewards: what is told in the most detail first. */
function tasksOf(deps: LearnerDependencies, request: UpdateRequest): { tasks: Task[]; refused: Refused[] } {
  const gone = request.supplied.filter(({ reference }) => reference === undefined);
  const { rows, refused: unfit } = answerRows(
    request.supplied.filter((each) => !gone.includes(each)),
    deps.base,
  );
  const { groups, superseded } = lastWords(request.corrected, rows);
  const learnGroup = request.objective === "paper" ? learnByPaper : learnCorrection;
  const tasks: Task[] = groups.map((group) => ({
    events: group.map(({ eventId }) => eventId),
    // Where versions carry no defaults, one that an earlier version carries must not stand against what is learned now.
    teaches: async () => [
      deps.settings.defaultsYield ? await withBase(deps, { group, seed: request.seed }) : { ...taughtBy(group), held: false },
    ],
    // With rewards a turn is learned from as it went, whatever its correction is about.
    tools: deps.settings.defaultsYield && request.objective === "distillation" ? toolsOf(taughtBy(group)) : null,
    learn: (adapters, earlier, asked) => (isOfAspect(group) ? learnAspect : learnGroup)(deps, { group, adapters, request: asked, earlier }),
    tries: deps.settings.tries,
  }));
  if (rows.length > 0)
    tasks.push({
      events: rows.map(({ supplied }) => supplied.eventId),
      teaches: async () => releasedBy(rows),
      learn: (adapters, earlier) => learnAnswers(deps, { rows, adapters, request, earlier }),
    });
  const { maxStaleness } = request.signals;
  const {
    usable,
    refused: unusable,
    staleness,
  } = usableExchanges(request.rewarded, { base: deps.base, parentVersion: request.parentVersion, maxStaleness });
  if (usable.length > 0)
    tasks.push({
      events: usable.map(({ exchange }) => exchange.eventId),
      learn: (adapters, earlier) => learnRewards(deps, { usable, staleness, adapters, request, earlier }),
    });
  return { tasks, refused: [...superseded, ...gone.map(withoutReference), ...unfit, ...unusable] };
}

function isOfAspect([first]: readonly CorrectedExchange[]): boolean {
  return first !== undefined && isAspect(first.correction.parameter.name);
}

function withoutReference({ eventId, turn }: UpdateRequest["supplied"][number]): Refused {
  const { version } = sampledBy(turn);
  return {
    eventId,
    code: "answer/reference",
    detail: `the version that answered, ${version}, expected, to measure the preference from; its files are gone`,
  };
}

/**
 * Loads the adapters, learns one task, and leaves the engine as it was. What breaks the arithmetic is refused: tried
 * again it would break again, for ever.
 */
async function learnTask(
  deps: LearnerDependencies,
  {
    learn,
    earlier,
    current,
    request,
    name,
  }: {
    learn: Task["learn"];
    earlier: readonly HeldBack[];
    current: AdapterTensors | null;
    request: UpdateRequest;
    name: string;
  },
): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const { actsOn = settings.actsOn ?? "answers" } = request;
  if (actsOn === "everything" && current?.invocation !== undefined)
    return refuse(
      "update/failed",
      "a parent that acts on everything expected, got one that acts on answers: roll the line back to its base",
    );
  const { invocation } = base.tokenizer;
  if (current === null && actsOn === "answers" && invocation.length < 2)
    return refuse(
      "update/failed",
      `a chat template that asks for an answer in two tokens or more expected, got ${invocation.length}: an adapter that acts on answers begins there`,
    );
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
        invocation: actsOn === "answers" ? invocation : undefined,
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
