/**
 * Corrections that a version carries and its weights are not taught: such as they follow already, where it is held to something else (what was learned
 * once is forgotten, or was never the weights') or another version answers, and such as it is best held to. The default changes, and the weights stay as they are.
 */
import { toolsOf } from "../../../shared/aspects.ts";
import { asksFirst } from "../../../shared/held-notes.ts";
import { ownRow, type Lesson } from "../../teacher/answers.ts";
import { writtenText } from "../../teacher/answer-text.ts";
import type { Correction } from "../../teacher/contexts.ts";
import { zipStrict } from "../../../shared/assert.ts";
import { isOwn } from "../../../shared/own-arguments.ts";
import { type Place, samePlace } from "../../../shared/yielding.ts";
import { takeCandidate, type LearnerDependencies } from "./candidate.ts";
import { changedTurns, describeChanges, driftBetween } from "./report.ts";
import { refuse, type CorrectionResult, type LearnedCorrection, type Work } from "./result.ts";
import { taughtBy } from "./taught-default.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import type { Reach } from "../../../shared/reach.ts";
import type { UpdateRequest } from "./learner.ts";
import type { measureLifts } from "../lesson/teaching.ts";

type Taught = { readonly lifts: Awaited<ReturnType<typeof measureLifts>>; readonly lessons: readonly Lesson[] };

/** Refused where no default and no other version stands against it: then there is nothing to learn. @param options.lessons that were to be learned */
export async function withoutLift(
  deps: LearnerDependencies,
  work: Work,
  { lift, ...taught }: Taught & { lift: number },
): Promise<CorrectionResult> {
  const { settings } = deps;
  const isHeldOtherwise = work.group.some(({ correction: { tool, parameter, hint } }) =>
    work.request.carried?.some(
      (each) => samePlace(each, { tool: tool.function.name, parameter: parameter.name }) && each.value !== hint.value,
    ),
  );
  const learned = taughtBy(work.group);
  const isOfAnother = toolsOf(learned).some((tool) => work.request.othersAnswer?.({ ...learned, tool }) === true);
  if (!settings.defaultsYield || !(isHeldOtherwise || isOfAnother))
    return refuse(
      "teacher/noLift",
      `lift of at least ${settings.minLiftNats} nats expected, got ${lift.toFixed(2)}: the policy does this already`,
    );
  return asTheyAre(deps, work, taught);
}

/** Who answers once what was learned so far is served: the candidate for the arguments that it has learned about, and others for all others. */
export function answeredAsOf(
  { parent, othersAnswer, carried = [] }: Pick<UpdateRequest, "parent" | "othersAnswer" | "carried">,
  { current, reach, learned }: { current: AdapterTensors | null; reach: Reach; learned: readonly Place[] },
): Pick<UpdateRequest, "othersAnswer"> {
  if (othersAnswer === undefined || current === parent) return {};
  return { othersAnswer: (place) => reach !== null && (!reach.includes(place.tool) || isOwn(place, [...learned, ...carried])) };
}

/**
 * Whether a version is held to it and no more. A question before a call spells out all that the call has: held, it is the policy's own call in
 * words, to the letter. Weights of a few million parameters that are taught to write it have values wrong that they call with rightly.
 */
export function isHeldAlone({ settings }: Pick<LearnerDependencies, "settings">, { parameter, hint }: Correction): boolean {
  return settings.defaultsYield && asksFirst({ parameter: parameter.name, value: hint.value });
}

/** What a version that is held to the correction says of the corrected turns, its weights being its parent's. @param taught.lessons as it is held */
export async function heldAlone(deps: LearnerDependencies, work: Work, taught: Taught): Promise<CorrectionResult> {
  const { tokenizer } = deps.base;
  const result = await asTheyAre(deps, work, taught);
  const held = new Map(taught.lessons.map(({ context, answer }) => [context.origin, writtenText(tokenizer, answer)]));
  const turns = changedTurns(work.group);
  return {
    ...result,
    changes: zipStrict(turns, result.changes).map(([{ turnId }, change]) => ({ ...change, after: held.get(turnId) ?? change.after })),
  };
}

async function asTheyAre(
  deps: LearnerDependencies,
  { group, adapters, request }: Work,
  { lifts, lessons }: Taught,
): Promise<LearnedCorrection> {
  const { engine } = deps;
  const rows = lessons.map(ownRow);
  const { adapter, ask } = await takeCandidate(deps, await engine.readAdapter(adapters.candidate), { adapters, seed: request.seed });
  return {
    status: "learned",
    adapter,
    metrics: {
      ...{ steps: 0, loss: 0, lossBefore: 0, klToParentNats: 0, contexts: lessons.length },
      klToBaseNats: adapters.parent === undefined ? 0 : await driftBetween(deps, rows, { from: undefined, to: adapters.candidate }),
    },
    changes: await describeChanges(deps, { group, ask }),
    lifts: lifts.byEvent,
    credits: [],
  };
}
