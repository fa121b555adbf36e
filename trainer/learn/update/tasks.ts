/** What there is to learn in an update, task by task: corrections of each parameter, then the supplied answers, then the rewards. */
import { isAspect, toolsOf } from "../../../shared/aspects.ts";
import { sampledBy } from "../../../shared/events.ts";
import type { LearnedDefault } from "../../../shared/learned-defaults.ts";
import { readOtherwise, statedPrompt } from "../../data/turn-text.ts";
import { lastWords } from "../batch/last-words.ts";
import { releasedBy } from "../batch/released.ts";
import { answerRows } from "../lesson/answer-rows.ts";
import { usableExchanges } from "../lesson/reward-rows.ts";
import { learnAnswers } from "./answers.ts";
import { learnAspect } from "./aspect.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import { learnCorrection } from "./correction.ts";
import type { CorrectedExchange, Refused, UpdateRequest } from "./learner.ts";
import { learnByPaper } from "./paper-recipe.ts";
import type { CorrectionResult } from "./result.ts";
import { learnRewards } from "./rewards.ts";
import { taughtBy, withBase } from "./taught-default.ts";

/** What one set of adapters is loaded for. */
export type Task = {
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
export function tasksOf(deps: LearnerDependencies, request: UpdateRequest): { tasks: Task[]; refused: Refused[] } {
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

/** A request without corrections and replayed turns whose prompts were others where they were answered; supplied answers are looked at as rows (answer-rows.ts). */
export function withoutMisread(
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
