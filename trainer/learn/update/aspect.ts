/**
 * Learns an aspect of a call from corrections: lessons of the policy held to it, steps until contexts that were held back show it, a last word by
 * the candidate itself. Refuses where the teacher fails, where there is nothing to gain, and where the price is too high.
 */
import { at, invariant, zipStrict } from "../../../shared/assert.ts";
import { correctionText } from "../../../shared/jobs.ts";
import { strangeWords, longWordsOf } from "../../../shared/speech/strange-words.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import { isReplyAspect } from "../../../shared/wording.ts";
import { Random, seedAt } from "../../random.ts";
import { readAnswer } from "../../teacher/answer-text.ts";
import { mustStay, studentRow, type Lesson } from "../../teacher/answers.ts";
import type { Context, ContextCounts, Correction } from "../../teacher/contexts.ts";
import { aspectContexts, isUnasked } from "../lesson/aspect-contexts.ts";
import { type AspectLessons, askAspect, headOf, isRight } from "../lesson/aspect-lessons.ts";
import { askGreedily, type LearnerDependencies, takeCandidate } from "./candidate.ts";
import type { Look } from "./confirm.ts";
import { costToEarlier } from "./earlier.ts";
import { countLessons, keyOf } from "../lesson/lessons.ts";
import { describeChanges, driftBetween } from "./report.ts";
import { type CorrectionResult, type RefusedCorrection, refuse, refuseUnmarked, type Work } from "./result.ts";
import { beside, bothRehearsals } from "../lesson/rehearsal.ts";
import { saysReply } from "../lesson/reworded.ts";
import { trainUntilShown } from "./run.ts";
import { meanKlNats, scoreRows } from "../lesson/scores.ts";
import { stayingLessons, UnseenErrands } from "../lesson/staying.ts";
import { mean, oneOf, percent, share } from "./shares.ts";
import { measureLifts, teach } from "../lesson/teaching.ts";
import { refuseSpoiled } from "./spoiled.ts";
import { heldAlone, isHeldAlone, withoutLift } from "./unmoved.ts";

const HELD_BACK = 7_919; // apart from the contexts that are trained on
const LEAST_LESSONS = 3;
const MOST_CORRECTED = 4;
const MOST_GARBLED = 0.1; // share of answers in which a word is made up
const SHOWN_WORDS = 5;
// A name takes longer to learn than a value, and half of one is worse than none; what comes behind it is the last to be as it was.
const REPLIES = { maxSteps: 60, honouredBar: 0.8, lookFrom: 30 };
// That made-up requests are called at once is soon shown; that real ones are, which are longer, takes as many steps again.
const UNASKED = { maxSteps: 60, honouredBar: 0.9, lookFrom: 30 };

export async function learnAspect(deps: LearnerDependencies, work: Work): Promise<CorrectionResult> {
  const { group, adapters, request } = work;
  const { tokenizer } = deps.base;
  const unmarked = refuseUnmarked(tokenizer);
  if (unmarked !== undefined) return unmarked;
  const correction = correctionOf(group);
  const words = isReplyAspect(correction.parameter.name);
  const { lookFrom, ...settings } = { ...deps.settings, lookFrom: 0, ...(words && REPLIES), ...(isUnasked(correction) && UNASKED) };
  const { training, held } = await askLessons({ ...deps, settings }, work, correction);
  const failure = teacherFailure(training, held, correction);
  if (failure !== undefined) return failure;
  const own = new Set(group.flatMap(({ turns }) => turns.map(({ turnId }) => turnId)));
  const staying = await stayingLessons(deps, { request, own, adapters });
  const taught = [...(await teach(deps, training.lessons, { correction, adapters })), ...staying];
  const lifts = await measureLifts(deps, { group, taught, adapters });
  if (lifts.mean < settings.minLiftNats) return withoutLift(deps, work, { lift: lifts.mean, lifts, lessons: training.lessons });
  if (isHeldAlone(deps, correction)) return heldAlone(deps, work, { lifts, lessons: training.lessons });
  // What held-back requests just show, the conversation that was corrected may not: it is longer, and in words of its own.
  const corrected = training.lessons.filter(({ context: { kind, origin } }) => kind === "silent" && own.has(origin)).slice(-MOST_CORRECTED);
  const look = await openLook(deps, { held: held.lessons, corrected, parent: adapters.parent, seed: request.seed });
  const run = await trainUntilShown(
    { ...deps, settings },
    { taught, look, lookFrom, adapters, version: request.parentVersion, onStep: request.onStep },
  );
  if (run.status === "refused") return run;
  const { adapter, ask } = await takeCandidate(deps, run.adapter, { adapters, seed: request.seed });
  const price = await candidateFailure(deps, work, { correction, training, held, ask });
  if (price !== undefined) return price;
  const { driftNats } = await look(adapters.candidate);
  const rows = held.lessons.filter(({ context }) => mustStay(context)).map(studentRow);
  const klToBaseNats =
    adapters.parent === undefined ? driftNats : await driftBetween(deps, rows, { from: undefined, to: adapters.candidate });
  const { steps, loss, lossBefore } = run;
  return {
    status: "learned",
    adapter,
    metrics: { steps, loss, lossBefore, klToParentNats: driftNats, klToBaseNats, contexts: taught.length },
    changes: await describeChanges(deps, { group, ask }),
    lifts: lifts.byEvent,
    credits: [], // the question is which answer is given, not how its tokens did
  };
}

function correctionOf(group: Work["group"]): Correction {
  const correction = group.at(-1)?.correction;
  invariant(correction !== undefined, "a group of corrections holds one");
  return correction;
}

/** Lessons to train on, and others to look at. */
async function askLessons(
  { engine, base, settings, onTaught }: LearnerDependencies,
  { group, adapters, request }: Work,
  correction: Correction,
): Promise<{ training: AspectLessons; held: AspectLessons }> {
  const { tokenizer, rowTokens } = base;
  const ask = askGreedily(engine, { adapter: adapters.parent, endIds: tokenizer.endIds, seed: request.seed });
  type Asked = { rehearsals: readonly Context[]; counts: ContextCounts; own: boolean };
  const collect = (seed: number, { rehearsals, counts, own }: Asked): Promise<AspectLessons> => {
    const random = new Random(seed);
    const contexts = aspectContexts(group, { correction, counts: beside(rehearsals, counts), own, random });
    return askAspect([...contexts, ...rehearsals], { correction, tokenizer, rowTokens, ask }, random);
  };
  const rehearsals = bothRehearsals(request.rehearsed, { correction, count: settings.rehearsed, seed: request.seed });
  const training = await collect(request.seed, { rehearsals: rehearsals.training, counts: settings.contexts, own: true });
  const looked = { rehearsals: rehearsals.heldBack, counts: settings.heldBack, own: false };
  const held = without(await collect(seedAt(request.seed, HELD_BACK), looked), training);
  const tooLong = training.tooLong + held.tooLong;
  onTaught?.(countLessons({ training: training.lessons, heldBack: held.lessons, silentFailed: training.failed, tooLong }));
  return { training, held };
}

type Looked = {
  readonly held: readonly Lesson[];
  /** Of the conversation that was corrected. */
  readonly corrected: readonly Lesson[];
  readonly parent: string | undefined;
  readonly seed: number;
};

/** What an adapter shows of the aspect, beside what the parent says. */
async function openLook(deps: LearnerDependencies, { held, corrected, parent, seed }: Looked): Promise<(adapter: string) => Promise<Look>> {
  const { engine, base } = deps;
  const { tokenizer, config } = base;
  const { vocabSize } = config;
  const unseen = new UnseenErrands(deps, { parent, seed });
  const before = await scoreRows(engine, held.map(studentRow), { adapter: parent, full: true, vocabSize });
  return async (adapter) => {
    const scores = await scoreRows(engine, held.map(studentRow), { adapter, full: true, vocabSize });
    const seen = zipStrict(held, scores).map(([lesson, score], index) => ({
      kind: lesson.context.kind,
      agrees: agrees(tokenizer, lesson, score.argmax),
      driftNats: mustStay(lesson.context) ? meanKlNats(at(before, index).full, score.full, vocabSize) : undefined,
    }));
    const agreed = (kinds: readonly string[]): number => share(seen.filter(({ kind }) => kinds.includes(kind)).map((each) => each.agrees));
    const shown = await scoreRows(engine, corrected.map(studentRow), { adapter, vocabSize });
    const mended = share(zipStrict(corrected, shown).map(([lesson, score]) => agrees(tokenizer, lesson, score.argmax)));
    const drifts = seen.flatMap((each) => each.driftNats ?? []);
    return {
      honoured: Math.min(mended, agreed(["silent"])),
      kept: agreed(["stated"]),
      driftNats: Math.max(mean(drifts), await unseen.drift(adapter)),
      stays: agreed(["other", "anchor"]),
    };
  };
}

type Candidate = {
  readonly correction: Correction;
  readonly training: AspectLessons;
  readonly held: AspectLessons;
  readonly ask: ReturnType<typeof askGreedily>;
};

/** What the candidate's own answers fall short of, or what they cost, if anything. */
async function candidateFailure(
  deps: LearnerDependencies,
  { adapters, earlier }: Work,
  { correction, training, held, ask }: Candidate,
): Promise<RefusedCorrection | undefined> {
  const { tokenizer } = deps.base;
  const known = knownWords(tokenizer, [...training.lessons, ...held.lessons]);
  const shortfall = await aspectFailure(held.lessons, { ask, correction, tokenizer, settings: deps.settings, known });
  if (shortfall !== undefined) return shortfall;
  const words = isReplyAspect(correction.parameter.name);
  // Of the other aspects no lesson has a reply to another tool's result.
  const spoiled = words ? await refuseSpoiled(held.lessons, { ask, correction, tokenizer }) : undefined;
  if (spoiled !== undefined) return spoiled;
  const tool = correction.tool.function.name;
  // Of this tool what was learned first was learned of calls that are made at once; how a reply is worded changes no call.
  const others = earlier.filter((each) => words || each.correction.tool.function.name !== tool);
  return costToEarlier(deps, others, { tools: [tool, correction.hint.value], adapter: adapters.candidate, ask });
}

/** Those of the lessons that are none of the others': what is known by heart shows nothing. Where a tool leaves nothing else to ask, that is better than nothing. */
function without(held: AspectLessons, { lessons }: AspectLessons): AspectLessons {
  const known = new Set(lessons.map(({ context }) => keyOf(context)));
  const unseen = held.lessons.filter(({ context }) => !known.has(keyOf(context)));
  return unseen.some(({ context }) => context.kind === "silent") ? { ...held, lessons: unseen } : held;
}

/** Whether the policy begins as the lesson does: with a call of the same tool, or with words; the words themselves, where they are others than its own. */
function agrees(tokenizer: Tokenizer, { answer, own }: Lesson, argmax: ArrayLike<number>): boolean {
  const open = tokenizer.specialIds.get("<tool_call>");
  if (answer[0] === open) return headOf(tokenizer, answer).every((token, index) => argmax[index] === token);
  const isReworded = own[0] !== open && answer.some((token, index) => token !== own[index]);
  return isReworded ? saysReply(argmax, { own, reply: answer }) : argmax[0] !== open;
}

/** What the candidate's own answers to held-back contexts fall short of, if anything. */
export async function aspectFailure(
  lessons: readonly Lesson[],
  {
    ask,
    correction,
    tokenizer,
    settings,
    known,
  }: {
    ask: ReturnType<typeof askGreedily>;
    correction: Correction;
    tokenizer: Tokenizer;
    settings: LearnerDependencies["settings"];
    known: ReadonlySet<string>;
  },
): Promise<RefusedCorrection | undefined> {
  const [silent, stated] = ["silent", "stated"].map((kind) => lessons.filter(({ context }) => context.kind === kind)) as [
    Lesson[],
    Lesson[],
  ];
  const answers = await ask([...silent, ...stated].map(({ studentPrompt: prompt, context: { tools } }) => ({ prompt, tools })));
  const right = zipStrict([...silent, ...stated], answers).map(([lesson, answer]) =>
    lesson.context.kind === "silent" ? isRight(lesson, answer, { correction, tokenizer }) : sameTool(tokenizer, lesson.answer, answer),
  );
  const [honoured, kept] = [share(right.slice(0, silent.length)), share(right.slice(silent.length))];
  const text = correctionText(correction.hint, correction.tool.function.name);
  const garbled = answers
    .map((answer) => readAnswer(tokenizer, answer))
    .flatMap(({ calls, text: reply }) => (calls.length > 0 ? [] : [strangeWords(reply, known)]))
    .filter((words) => words.length > 0);
  if (garbled.length > MOST_GARBLED * answers.length)
    return refuse(
      "update/notLearned",
      `"${text}": replies in words that there are expected, got ${[...new Set(garbled.flat())].slice(0, SHOWN_WORDS).join(", ")}`,
    );
  if (honoured < settings.honouredBar)
    return refuse(
      "update/notLearned",
      `"${text}" holds in ${percent(honoured)} of held-back contexts, ${percent(settings.honouredBar)} expected`,
    );
  return kept < Math.min(settings.statedBar, 1 - oneOf(stated.length))
    ? refuse(
        "update/deaf",
        `in ${percent(kept)} of held-back contexts ${isUnasked(correction) ? "that lack something it is asked for, and what is due is called" : "the call that is due is made"}, ${percent(settings.statedBar)} expected`,
      )
    : undefined;
}

/** All that is said in the lessons. */
function knownWords(tokenizer: Tokenizer, lessons: readonly Lesson[]): ReadonlySet<string> {
  const texts = lessons.flatMap(({ context: { messages }, own, answer }) => [
    ...messages.map(({ content }) => content ?? ""),
    tokenizer.decode([...own]),
    tokenizer.decode([...answer]),
  ]);
  return new Set(texts.flatMap(longWordsOf));
}

function sameTool(tokenizer: Tokenizer, wanted: readonly number[], answer: readonly number[]): boolean {
  const [left, right] = [wanted, answer].map((tokens) => readAnswer(tokenizer, tokens).calls[0]?.name);
  return left === right;
}

function teacherFailure(training: AspectLessons, held: AspectLessons, { hint, tool }: Correction): RefusedCorrection | undefined {
  const silent = ({ lessons }: AspectLessons): number => lessons.filter(({ context }) => context.kind === "silent").length;
  if (silent(training) >= LEAST_LESSONS && silent(held) > 0) return undefined;
  const [asked, failed] = [training.asked + held.asked, training.failed + held.failed];
  return refuse(
    "teacher/fails",
    `"${correctionText(hint, tool.function.name)}": of ${asked} contexts in which the policy does otherwise, held to it, it does so in ${asked - failed}; ${LEAST_LESSONS} lessons and one to look at expected, got ${silent(training)} and ${silent(held)}`,
  );
}
