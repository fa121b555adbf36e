/**
 * A correction that the weights follow already, of a version that is held to something else: what was learned once is forgotten, or was never the weights'.
 * The default changes, and the weights stay as they are.
 */
import { ownRow, type Lesson } from "../../teacher/answers.ts";
import { samePlace } from "../../../shared/yielding.ts";
import { takeCandidate, type LearnerDependencies } from "./candidate.ts";
import { describeChanges, driftBetween } from "./report.ts";
import { refuse, type CorrectionResult, type Work } from "./result.ts";
import type { measureLifts } from "../lesson/teaching.ts";

/** Refused where no default stands against it: then there is nothing to learn. @param options.lessons that were to be learned */
export async function withoutLift(
  deps: LearnerDependencies,
  { group, adapters, request }: Work,
  { lift, lifts, lessons }: { lift: number; lifts: Awaited<ReturnType<typeof measureLifts>>; lessons: readonly Lesson[] },
): Promise<CorrectionResult> {
  const { engine, settings } = deps;
  const isHeldOtherwise = group.some(({ correction: { tool, parameter, hint } }) =>
    request.carried?.some((each) => samePlace(each, { tool: tool.function.name, parameter: parameter.name }) && each.value !== hint.value),
  );
  if (!settings.defaultsYield || !isHeldOtherwise)
    return refuse(
      "teacher/noLift",
      `lift of at least ${settings.minLiftNats} nats expected, got ${lift.toFixed(2)}: the policy does this already`,
    );
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
