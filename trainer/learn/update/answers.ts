/**
 * Learns answers that somebody supplied: steps until the policy says them, or prefers them to what it said, held to its parent
 * on replayed turns and on errands. Refuses where it does not get there within the drift that an update may have.
 */
import { zipStrict } from "../../../shared/assert.ts";
import { canonicalJson } from "../../../shared/digest.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import { readAnswer, writtenText } from "../../teacher/answer-text.ts";
import { studentRow } from "../../teacher/answers.ts";
import type { AskPolicy } from "../../teacher/lead.ts";
import { answerLoss, marginsOf, type AnswerRow, type PairedRow } from "../lesson/answer-rows.ts";
import { type Adapters, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import { confirmationFailure, look as lookAtHeld, type HeldBack, type Look } from "./confirm.ts";
import { counterCases } from "../lesson/counter-cases.ts";
import { costToEarlier } from "./earlier.ts";
import type { UpdateRequest } from "./learner.ts";
import { driftBetween, askedWords } from "./report.ts";
import { refuse, type Change, type CorrectionResult, type RefusedCorrection } from "./result.ts";
import { trainUntilShown } from "./run.ts";
import { meanKlNats, scoreRows } from "../lesson/scores.ts";
import { percent } from "./shares.ts";
import { stayingLessons, UnseenErrands } from "../lesson/staying.ts";

type AnswerWork = {
  readonly rows: readonly AnswerRow[];
  readonly adapters: Adapters;
  readonly request: UpdateRequest;
  readonly earlier: readonly HeldBack[];
};

export async function learnAnswers(deps: LearnerDependencies, work: AnswerWork): Promise<CorrectionResult> {
  const { rows, adapters, request, earlier } = work;
  const { signals, seed } = request;
  const paired = await withReferences(deps, rows, { request, name: `${adapters.candidate}.reference` });
  const beside = await readBeside(deps, work);
  const { staying, counters } = beside;
  const look = (adapter: string): Promise<Look> => lookAtAnswers(deps, work, { beside, adapter });
  const run = await trainUntilShown(deps, {
    taught: [...staying, ...counters.taught],
    more: [answerLoss(paired, signals)],
    look,
    adapters,
    version: request.parentVersion,
    onStep: request.onStep,
  });
  if (run.status === "refused") return run;
  const { adapter, ask } = await takeCandidate(deps, run.adapter, { adapters, seed });
  const { driftNats } = await look(adapters.candidate);
  const answers = await ask(rows.map(({ chosen: { prompt }, tools }) => ({ prompt, tools })));
  const failure =
    notLearned(deps, work, answers) ??
    (await deafTo(deps, counters.held, ask)) ??
    (await costToEarlier(deps, earlier, { tools: rows.flatMap(toolsOf), adapter: adapters.candidate, ask }));
  if (failure !== undefined) return failure;
  const { steps, loss, lossBefore } = run;
  const given = rows.map(({ rejected }) => rejected);
  const klToBaseNats = await driftBetween(deps, given, { from: undefined, to: adapters.candidate });
  const contexts = rows.length + staying.length + counters.taught.length;
  return {
    status: "learned",
    adapter,
    metrics: { steps, loss, lossBefore, klToParentNats: driftNats, klToBaseNats, contexts },
    changes: changesOf(deps.base.tokenizer, rows, answers),
    credits: [], // an answer that was supplied says what to say, not how good what was said is
    lifts: new Map(),
  };
}

/** What a policy must keep while it learns the answers. */
type Beside = {
  readonly staying: Awaited<ReturnType<typeof stayingLessons>>;
  readonly counters: Awaited<ReturnType<typeof counterCases>>;
  readonly unseen: UnseenErrands;
};

async function readBeside(deps: LearnerDependencies, { rows, adapters, request }: AnswerWork): Promise<Beside> {
  const own = new Set(rows.map(({ supplied: { turn } }) => turn.turnId));
  const staying = await stayingLessons(deps, { request, own, adapters });
  const counters = await counterCases(deps, rows, { adapters, seed: request.seed });
  return { staying, counters, unseen: new UnseenErrands(deps, { parent: adapters.parent, seed: request.seed }) };
}

async function lookAtAnswers(
  deps: LearnerDependencies,
  { rows, request: { signals } }: AnswerWork,
  { beside: { staying, counters, unseen }, adapter }: { beside: Beside; adapter: string },
): Promise<Look> {
  const { tokenizer, config } = deps.base;
  const said = await saidBy(deps, rows, { adapter, prefers: signals.answers === "preference" });
  const seen = staying.length === 0 ? [] : await scoreStaying(deps, staying, adapter);
  const kept: number[] = [];
  for (const held of counters.held)
    kept.push((await lookAtHeld(deps.engine, held, { adapter, tokenizer, vocabSize: config.vocabSize })).kept);
  return {
    honoured: shareOf(rows, said),
    kept: Math.min(1, ...kept),
    driftNats: Math.max(await unseen.drift(adapter), ...seen.map(({ driftNats }) => driftNats)),
    stays: seen.length === 0 ? 1 : seen.filter(({ stays }) => stays).length / seen.length,
  };
}

async function scoreStaying(
  { engine, base }: LearnerDependencies,
  staying: Beside["staying"],
  adapter: string,
): Promise<{ driftNats: number; stays: boolean }[]> {
  const { vocabSize } = base.config;
  const lessons = staying.map(({ lesson }) => studentRow(lesson));
  const scores = await scoreRows(engine, lessons, { adapter, full: true, vocabSize });
  return zipStrict(staying, scores).map(([{ teacherLogProbs, lesson }, { full, argmax }]) => ({
    driftNats: meanKlNats(teacherLogProbs, full, vocabSize),
    stays: lesson.answer.every((token, index) => argmax[index] === token),
  }));
}

/** Of all that was supplied, the share of the rows of which it holds; [0, 1]. */
function shareOf(rows: readonly AnswerRow[], holds: readonly boolean[]): number {
  return zipStrict(rows, holds).reduce((sum, [{ supplied }, each]) => sum + (each ? supplied.share : 0), 0);
}

/** Why the candidate's own answers are not yet what was supplied; undefined where they are. */
function notLearned(
  { base, settings }: LearnerDependencies,
  { rows, request: { signals } }: AnswerWork,
  answers: readonly (readonly number[])[],
): RefusedCorrection | undefined {
  const prefers = signals.answers === "preference";
  const honoured = shareOf(
    rows,
    zipStrict(rows, answers).map(([row, answer]) => does(base.tokenizer, row, { answer, prefers })),
  );
  if (honoured >= settings.honouredBar) return undefined;
  return refuse(
    "update/notLearned",
    `the policy says so now in ${percent(honoured)} of the requests, ${percent(settings.honouredBar)} expected`,
  );
}

/** Why counter-cases are lost, of the first that is; undefined where none is. */
async function deafTo(
  { base, settings }: LearnerDependencies,
  counters: readonly HeldBack[],
  ask: AskPolicy,
): Promise<RefusedCorrection | undefined> {
  for (const held of counters) {
    const deaf = await confirmationFailure(held, { ask, base, settings });
    if (deaf !== undefined) return deaf;
  }
  return undefined;
}

/** The tools that the supplied answer or the one given calls. */
function toolsOf({ supplied: { answer, turn } }: AnswerRow): string[] {
  return [answer, turn.payload.answer].flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.function.name) : [],
  );
}

function changesOf(tokenizer: Tokenizer, rows: readonly AnswerRow[], answers: readonly (readonly number[])[]): Change[] {
  return zipStrict(rows, answers).map(([{ supplied, rejected }, after]) => ({
    prompt: askedWords(supplied.turn.payload.messages),
    before: writtenText(tokenizer, rejected.answer),
    after: writtenText(tokenizer, after),
  }));
}

/**
 * Whether the policy's own answer is the one supplied; where it was to prefer that alone, a whole one that it did not give
 * before: what is pushed down goes anywhere, and may go to pieces.
 */
function does(
  tokenizer: Tokenizer,
  { chosen, rejected }: AnswerRow,
  { answer, prefers }: { answer: readonly number[]; prefers: boolean },
): boolean {
  const [said, wanted, given] = [answer, chosen.answer, rejected.answer].map((tokens) => readAnswer(tokenizer, tokens));
  const same = (left: typeof said, right: typeof said): boolean =>
    canonicalJson([left?.text.trim(), left?.calls]) === canonicalJson([right?.text.trim(), right?.calls]);
  return prefers ? said?.finished === true && said.valid && !same(said, given) : same(said, wanted);
}

/** Of each row, whether its answer is what the adapter would say, token by token, or what it prefers to the one given. */
async function saidBy(
  { engine, base }: LearnerDependencies,
  rows: readonly AnswerRow[],
  { adapter, prefers }: { adapter: string; prefers: boolean },
): Promise<boolean[]> {
  const { vocabSize } = base.config;
  if (prefers) return (await marginsOf(engine, rows, { adapter, vocabSize })).map((margin) => margin > 0);
  const scores = await scoreRows(
    engine,
    rows.map(({ chosen }) => chosen),
    { adapter, vocabSize },
  );
  return zipStrict(rows, scores).map(([{ chosen }, { argmax }]) => chosen.answer.every((token, index) => argmax[index] === token));
}

/** Each row with its margin under what its preference is measured from; versions are loaded once each. */
async function withReferences(
  { engine, base }: LearnerDependencies,
  rows: readonly AnswerRow[],
  { request: { signals }, name }: { request: UpdateRequest; name: string },
): Promise<PairedRow[]> {
  if (signals.answers === "demonstration") return rows.map((row) => ({ ...row, referenceMargin: 0 }));
  const { vocabSize } = base.config;
  const margins = new Map<AnswerRow, number>();
  const bare = signals.preference.reference === "base";
  const references = new Set(rows.map(({ supplied }) => (bare ? null : (supplied.reference ?? null))));
  for (const reference of references) {
    const own = rows.filter(({ supplied }) => bare || (supplied.reference ?? null) === reference);
    const adapter = reference === null ? undefined : name;
    if (reference !== null) await engine.loadAdapter(name, reference satisfies AdapterTensors);
    try {
      zipStrict(own, await marginsOf(engine, own, { adapter, vocabSize })).forEach(([row, margin]) => margins.set(row, margin));
    } finally {
      if (adapter !== undefined) await engine.dropAdapter(adapter);
    }
  }
  return rows.map((row) => ({ ...row, referenceMargin: margins.get(row) ?? 0 }));
}
