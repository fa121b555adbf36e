/** The policy in the Worker itself, as an engine: an answer takes its place in the isolate, and its prompt is encoded here, so that what does not fit is refused. */
import { appliesTo, aspectText, isAspect, topicsOf } from "../../shared/aspects.ts";
import { asksForMore, awaitsAnswer } from "../../shared/asking.ts";
import { heardCorrections } from "../../shared/correction/heard.ts";
import { holdTo } from "../../shared/held-notes.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { VersionFiles } from "../../shared/policy.ts";
import { isSameVersion, versionToBegin } from "../../shared/reach.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { doneCalls } from "../../shared/speech/done-calls.ts";
import { requestOf } from "../../shared/speech/mention.ts";
import { isSmallTalk } from "../../shared/speech/small-talk.ts";
import type { ReadFile } from "../policy/completion.ts";
import { type Place, Turns } from "../policy/turns.ts";
import type { TurnPolicy, TurnSampling } from "../session/port.ts";
import { YieldingAnswer } from "../yielding/yielding-answer.ts";
import type { Asked, YieldingCompletion } from "../yielding/yielding-turn.ts";
import { fitContext } from "./context.ts";
import { NotedPrompts } from "./noted-prompts.ts";
import type { Engine, EngineAnswer, EngineTurn, PreparedAnswer, Prompted } from "./port.ts";
import { fileReader, storedPolicy } from "./stored-policy.ts";

/** @throws {input/invalid} where prompt and answer do not fit the context, {input/unsupported} where the template cannot show them */
export function createEmbeddedEngine(bucket: R2Bucket): Engine {
  const readFile = fileReader(bucket);
  return { prepare: (turn) => prepare(turn, readFile) };
}

/** Of the isolate, as the policy is. */
const turns = new Turns();

/** Takes its place before the prompt is encoded: what is refused because many wait costs little. */
async function prepare(turn: EngineTurn, readFile: ReadFile): Promise<PreparedAnswer> {
  const place = turns.enter(turn.keyId, { bounded: !turn.goesOn });
  try {
    const prepared = await prepareAnswer(turn, readFile);
    return { answer: (signal) => inTurn(place, prepared.answer(signal), signal) };
  } catch (thrown) {
    turns.leave(place);
    throw thrown;
  }
}

function inTurn(place: Place, { steps, prompted }: EngineAnswer, signal: AbortSignal): EngineAnswer {
  return { steps: stepsInTurn(place, steps, signal), prompted };
}

async function* stepsInTurn(place: Place, steps: EngineAnswer["steps"], signal: AbortSignal): EngineAnswer["steps"] {
  await turns.wait(place, signal);
  try {
    for await (const step of steps) {
      turns.touch(place);
      yield step;
    }
  } finally {
    turns.leave(place);
  }
}

async function prepareAnswer(turn: EngineTurn, readFile: ReadFile): Promise<PreparedAnswer> {
  const { tools, sampling, seed, cacheKey } = turn;
  const { line, version, policyDigest, adapter, baseDigest, defaults, answering } = turn.policy;
  const policy = await storedPolicy(baseDigest, readFile);
  const prompts = new NotedPrompts(policy, turn);
  const prompt = prompts.of([...turn.notes, ...carriedAspects(turn)]);
  const { contextTokens } = policy;
  const promptCount = prompt.promptTokens.length;
  const maxTokens = fitContext(turn, { promptCount, answerLimit: sampling.answerLimit, contextTokens });
  if (turn.isShortenable) prompts.checkRoom(prompt);
  const { temperature, topP, stop, topLogprobs: topLogProbs, parallelToolCalls, responseFormat } = sampling;
  const toolChoice = talksOnly(turn) ? "none" : sampling.toolChoice;
  const form = { tools, toolChoice, parallelToolCalls, responseFormat };
  const same = { readFile, maxTokens, temperature, topP, seed, stop, topLogProbs, ...form, cacheKey };
  const standing = { bound: { line, version, policyDigest, adapter }, answering };
  const completion = { ...same, ...versionToBegin(standing, turn), held: [], ...prompt };
  const completionOf = ({ by, notes, agreedTo, hold }: Asked): YieldingCompletion | undefined => {
    const asked = agreedTo === undefined ? prompts.of(notes) : prompts.after(agreedTo, notes);
    if (asked === undefined) return undefined;
    return {
      ...same,
      ...by,
      held: hold?.to ?? [],
      agreedTo,
      ...(hold === undefined ? {} : { ...holdTo(hold.to, form, { before: hold.before, heard: turn }), ...hold.form }),
      ...asked,
      maxTokens: Math.min(maxTokens, contextTokens - asked.promptTokens.length),
    };
  };
  // Of other tools no call is made.
  const relevant = defaults.filter((each) => tools.some((tool) => tool.function.name === each.tool));
  const base = bareVersion(turn.policy);
  const corrected = heardCorrections(turn);
  // Who puts something right, or has to get a call, gets one.
  const isFree = corrected.length === 0 && toolChoice === "auto" && responseFormat.type === "text";
  const done = isFree ? doneCalls(turn.messages) : [];
  const yielding = { policy, completion, completionOf, standing, base, heard: turn, corrected, done, defaults: relevant };
  return { answer: (signal) => toAnswer(new YieldingAnswer(yielding, signal), { ...turn, toolChoice }) };
}

/** The base without an adapter, by the name that its line has it under: an agent that has moved to this base has it as a later version than 0. */
function bareVersion({ baseDigest, answering }: TurnPolicy): VersionFiles {
  const bare = [answering?.outside, ...(answering?.tools ?? []).map(({ by }) => by)].find((each) => each?.adapter === null);
  return bare ?? { line: SHARED_LINE, version: 0, policyDigest: baseDigest, adapter: null };
}

/** Aspects of answers that the version has learned and no note is about: it is held to them as to notes, and reads none. */
function carriedAspects({ policy: { defaults }, notes, tools }: EngineTurn): ServedNote[] {
  const taken = new Set(notes.flatMap(topicsOf));
  return defaults.flatMap(({ tool, parameter, value, held }) => {
    const place = { tool, parameter, value };
    const counts = held !== false && isAspect(parameter) && appliesTo(place, tools) && !topicsOf(place).some((topic) => taken.has(topic));
    return counts ? [{ noteId: JSON.stringify([tool, parameter]), text: aspectText(place), ...place, corrected: null }] : [];
  });
}

/** Whether the user greets, thanks or parts and is free to be answered in words: a small policy calls a tool all the same, and books once more. */
function talksOnly({ messages, sampling: { toolChoice } }: EngineTurn): boolean {
  const [last, before] = messages.toReversed();
  if (toolChoice !== "auto" || last?.role !== "user") return false;
  const earlier = requestOf(messages).slice(0, -1);
  const due = earlier.some((message) => message.role === "user" && !isSmallTalk(message.content, { asked: false }));
  const told = before?.role === "assistant" ? (before.content ?? "") : "";
  return isSmallTalk(last.content, { asked: awaitsAnswer(told) && (due || !asksForMore(told)), due });
}

function toAnswer(
  answer: YieldingAnswer,
  { policy: bound, notes: given, sampling: { toolChoice: asked }, toolChoice }: EngineTurn & Pick<TurnSampling, "toolChoice">,
): EngineAnswer {
  const prompted = (): Prompted => {
    const { notes, held, agreedTo, promptTokens, line, version, toolChoice: made } = answer.completion;
    // What a hold makes of it is told by what is held.
    const choice = held.length === 0 ? made : toolChoice;
    // One that the answer is held to counts as one in its prompt.
    const stood = given.filter((note) => notes.includes(note) || held.includes(note));
    const others = held.filter((each) => !given.some((note) => note === each));
    return {
      notes: stood.map((note) => ({ noteId: note.noteId, text: note.text, ...(held.includes(note) && { held: true as const }) })),
      heldTo: others.map(({ tool, parameter, value }) => ({ tool, parameter, value })),
      agreedTo,
      promptTokens,
      ...(choice !== asked && { toolChoice: choice }),
      yieldedTo: isSameVersion({ line, version }, bound) ? undefined : { line, version },
    };
  };
  return { steps: answer.steps(), prompted };
}
