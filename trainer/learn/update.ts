/**
 * One update: corrections become lessons, lessons become an adapter, the adapter proves itself or is refused.
 * Corrections of different parameters are learnt one after the other, each from the candidate before it, so that what
 * is already known is what the next teacher already does. Same request and seed, same adapter.
 */
import type { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { linearNames } from "../../shared/lora.ts";
import type { UpdateMetrics } from "../../shared/policy.ts";
import { keepApart } from "../engine/engine.ts";
import type { AdapterTensors } from "../policy/adapter.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import { learnCorrection } from "./correction.ts";
import { learnAsPublished } from "./published.ts";
import type { HeldBack } from "./confirm.ts";
import { refuse, type CorrectionResult, type LearntCorrection } from "./result.ts";
import type { CorrectedExchange, Learner, UpdateOutcome, UpdateRequest } from "./learner.ts";

type Refused = Extract<UpdateOutcome, { status: "refused" }>["refused"][number];

export function createLearner(given: LearnerDependencies): Learner {
  // What is judged while an update runs must not show in it: learnt again, it is the same to the bit.
  const deps = { ...given, engine: keepApart(given.engine, "update") };
  let updates = 0;
  return {
    async update(request) {
      updates += 1;
      const started = deps.now();
      request.onStep?.({ done: 0, of: deps.settings.maxSteps });
      const refused: Refused[] = [];
      const learnt: LearntCorrection[] = [];
      let current = request.parent;
      const { groups, superseded } = groupCorrections(request.corrected);
      refused.push(...superseded);
      for (const [index, group] of groups.entries()) {
        const earlier = learnt.flatMap(({ held }) => held ?? []);
        const result = await learnGroup(deps, { group, earlier, current, request, name: `${updates}.${index}` });
        if (result.status === "refused")
          refused.push(...group.map(({ eventId }) => ({ eventId, code: result.code, detail: result.detail })));
        else {
          current = result.adapter;
          learnt.push(result);
        }
      }
      if (current === null || learnt.length === 0) return { status: "refused", refused };
      const seconds = (deps.now() - started) / 1_000;
      return {
        status: "learned",
        adapter: current,
        metrics: summarise(learnt, { request, seconds }),
        changes: learnt.flatMap(({ changes }) => changes),
        lifts: new Map(learnt.flatMap(({ lifts }) => [...lifts])),
        credits: learnt.flatMap(({ credits }) => credits),
        refused,
      };
    },
  };
}

/**
 * Loads the adapters, learns one correction, and leaves the engine as it was. What breaks the arithmetic is refused: tried
 * again it would break again, for ever.
 */
async function learnGroup(
  deps: LearnerDependencies,
  {
    group,
    earlier,
    current,
    request,
    name,
  }: {
    group: readonly CorrectedExchange[];
    earlier: readonly HeldBack[];
    current: AdapterTensors | null;
    request: UpdateRequest;
    name: string;
  },
): Promise<CorrectionResult> {
  const { engine, base, settings } = deps;
  const adapters: Adapters = { parent: current === null ? undefined : `parent.${name}`, candidate: `candidate.${name}` };
  await engine.forgetPrefixes();
  try {
    if (current !== null && adapters.parent !== undefined) {
      await engine.loadAdapter(adapters.parent, current);
      await engine.loadAdapter(adapters.candidate, current);
    } else
      await engine.createAdapter(adapters.candidate, {
        rank: settings.rank,
        alpha: settings.alpha,
        targets: linearNames(),
        invocation: base.tokenizer.invocation,
        seed: request.seed,
      });
    const learn = request.objective === "paper" ? learnAsPublished : learnCorrection;
    return await learn(deps, { group, adapters, request, earlier });
  } catch (error) {
    if (!(error instanceof AppError) || !/^(train|graph)\//.test(error.code)) throw error;
    return refuse("update/failed", `${error.code}: ${error.message}`);
  } finally {
    if (adapters.parent !== undefined) await engine.dropAdapter(adapters.parent);
    await engine.dropAdapter(adapters.candidate);
    await engine.forgetPrefixes();
  }
}

/** One group per tool and parameter. Where corrections of one parameter disagree, the latest counts. */
function groupCorrections(corrected: readonly CorrectedExchange[]): { groups: CorrectedExchange[][]; superseded: Refused[] } {
  const byParameter = new Map<string, CorrectedExchange[]>();
  for (const exchange of corrected) {
    const key = `${exchange.correction.tool.function.name}.${exchange.correction.parameter.name}`;
    byParameter.set(key, [...(byParameter.get(key) ?? []), exchange]);
  }
  const groups: CorrectedExchange[][] = [];
  const superseded: Refused[] = [];
  for (const [key, exchanges] of byParameter) {
    const value = exchanges.at(-1)?.correction.hint.value;
    groups.push(exchanges.filter(({ correction }) => correction.hint.value === value));
    for (const { eventId, correction } of exchanges.filter((each) => each.correction.hint.value !== value))
      superseded.push({
        eventId,
        code: "hint/superseded",
        detail: `${key} = ${correction.hint.value} was corrected to ${value} later in the batch`,
      });
  }
  return { groups, superseded };
}

function summarise(
  learnt: readonly LearntCorrection[],
  { request, seconds }: { request: UpdateRequest; seconds: number },
): z.infer<typeof UpdateMetrics> {
  const last = learnt.at(-1)?.metrics;
  const [first] = learnt;
  return {
    objective: request.objective,
    steps: learnt.reduce((sum, { metrics }) => sum + metrics.steps, 0),
    loss: last?.loss ?? 0,
    lossBefore: first?.metrics.lossBefore ?? 0,
    klToParentNats: Math.max(...learnt.map(({ metrics }) => metrics.klToParentNats)),
    klToBaseNats: last?.klToBaseNats ?? 0,
    contexts: learnt.reduce((sum, { metrics }) => sum + metrics.contexts, 0),
    seconds,
  };
}
