/** The policy in the Worker itself, as an engine: prompts are rendered and encoded here, and refused where they do not fit its context. */
import { appliesTo, aspectText, isAspect, topicsOf } from "../../shared/aspects.ts";
import { type ChatMessage, type ToolDefinition, withGuidance } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import { heardCorrections } from "../../shared/correction/heard.ts";
import { holdTo } from "../../shared/held-notes.ts";
import { agreementTo, asksForMore, awaitsAnswer } from "../../shared/asking.ts";
import type { ServedNote } from "../../shared/note.ts";
import type { VersionFiles } from "../../shared/policy.ts";
import { isSameVersion, versionToBegin } from "../../shared/reach.ts";
import { SHARED_LINE } from "../../shared/shared-line.ts";
import { requestOf } from "../../shared/speech/mention.ts";
import { isSmallTalk } from "../../shared/speech/small-talk.ts";
import type { Prompt, RenderedPrompt } from "../../shared/tokenizer.ts";
import { getArtifact } from "../artifacts.ts";
import type { Env } from "../env.ts";
import kernelModule from "../kernel/kernel.wasm";
import { invalid } from "../openai/refuse.ts";
import type { ReadFile } from "../policy/completion.ts";
import type { Policy } from "../policy/policy.ts";
import { residentPolicy } from "../policy/resident.ts";
import { type Place, Turns } from "../policy/turns.ts";
import type { TurnPolicy, TurnSampling } from "../session/port.ts";
import { YieldingAnswer } from "../session/yielding-answer.ts";
import { type Asked, isRead, type YieldingCompletion } from "../session/yielding-turn.ts";
import { fitContext, overflow } from "./context.ts";
import type { Engine, EngineAnswer, EngineTurn, PreparedAnswer, Prompted } from "./port.ts";

const SHORT_PROMPT = 500; // characters of instructions and tools, which leave room in any context that somebody would serve
const ANSWER_ROOM = 128; // that notes leave where the client sets no limit: a call, or a few sentences

/** @throws {input/invalid} where prompt and answer do not fit the context, {input/unsupported} where the template cannot show them */
export function createEmbeddedEngine(bucket: R2Bucket): Engine {
  const readFile = fileReader(bucket);
  return { prepare: (turn) => prepare(turn, readFile) };
}

/** Of the isolate, as the policy is. */
const turns = new Turns();

type Bound = Pick<Env, "ARTIFACTS" | "BASE_DIGEST">;

/**
 * @param least what the answer has to hold
 * @throws {input/invalid} where the prompt leaves no room for an answer, naming what to shorten, or none for what is expected of it
 */
export async function checkRoom(
  env: Bound,
  { messages, tools, least }: Pick<EngineTurn, "messages" | "tools"> & { least: string },
): Promise<void> {
  const policy = await policyOf(env);
  const promptCount = encodeAll(policy, { messages, tools, addGenerationPrompt: true }).length;
  const left = fitContext({ messages, tools }, { promptCount, answerLimit: undefined, contextTokens: policy.contextTokens });
  const { length: expected } = policy.tokenizer.encode(least);
  if (expected > left)
    throw invalid(
      "expect",
      `at most ${left} tokens expected, which a prompt of ${promptCount} leaves of ${policy.contextTokens} tokens of context, got ${expected}`,
    );
}

/**
 * Whether a user's first word could still be answered under an agent's instructions, with its own tools in the prompt.
 * @throws {input/invalid} where it could not, naming the longer of the two
 */
export async function checkInstructions(
  env: Bound,
  { instructions, tools }: { instructions: string; tools: readonly ToolDefinition[] },
): Promise<void> {
  const toolCharacters = JSON.stringify(tools).length;
  if (instructions.length + toolCharacters <= SHORT_PROMPT) return;
  const messages: ChatMessage[] = [
    { role: "system", content: instructions },
    { role: "user", content: "Hello" },
  ];
  const policy = await policyOf(env);
  const { contextTokens } = policy;
  const { tokens, atLeast } = encodeWithin(policy, { messages, tools, addGenerationPrompt: true }, contextTokens);
  const promptCount = tokens?.length ?? atLeast;
  if (promptCount < contextTokens) return;
  const got = `${tokens === undefined ? "at least " : ""}${promptCount} with a first word of a user's${tools.length > 0 ? " and the agent's tools" : ""}`;
  throw invalid(
    toolCharacters > instructions.length ? "tools" : "instructions",
    `at most ${contextTokens} tokens of context expected, room for an answer among them, got ${got}; shorten them`,
  );
}

function policyOf({ ARTIFACTS, BASE_DIGEST: baseDigest }: Bound): Promise<Policy> {
  return residentPolicy({ kernelModule, baseDigest, readFile: fileReader(ARTIFACTS) });
}

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
  const policy = await residentPolicy({ kernelModule, baseDigest, readFile });
  const { notes, promptTokens } = encodeWithNotes(policy, { ...turn, notes: [...turn.notes, ...carriedAspects(turn)] });
  const { contextTokens } = policy;
  const maxTokens = fitContext(turn, { promptCount: promptTokens.length, answerLimit: sampling.answerLimit, contextTokens });
  if (turn.isShortenable) checkRoomFor(policy, turn, { notes, promptTokens });
  const { temperature, topP, stop, topLogprobs: topLogProbs, parallelToolCalls, responseFormat } = sampling;
  const toolChoice = talksOnly(turn) ? "none" : sampling.toolChoice;
  const drawn = { maxTokens, temperature, topP, seed, stop, topLogProbs };
  const form = { tools, toolChoice, parallelToolCalls, responseFormat };
  const same = { readFile, ...drawn, ...form, cacheKey };
  const standing = { bound: { line, version, policyDigest, adapter }, answering };
  const completion = { ...same, ...versionToBegin(standing, turn), notes, held: [], promptTokens };
  // Notes that the policy does not read leave the prompt as it is.
  const prompts = new Map([[promptKeyOf(notes), promptTokens]]);
  const promptOf = (some: readonly ServedNote[]): EncodedWithNotes => {
    const known = prompts.get(promptKeyOf(some));
    if (known !== undefined) return { notes: some, promptTokens: known };
    const encoded = encodeWithNotes(policy, { ...turn, notes: some });
    prompts.set(promptKeyOf(some), encoded.promptTokens);
    return encoded;
  };
  // A question and its yes cost no note its place and no answer its room.
  const promptAfter = (question: string, some: readonly ServedNote[]): EncodedWithNotes | undefined => {
    const encoded = encodeWithNotes(policy, { ...turn, messages: [...turn.messages, ...agreementTo(question)], notes: some });
    const fits = encoded.promptTokens.length <= roomOf(policy, sampling) && encoded.notes.length === promptOf(some).notes.length;
    return fits ? encoded : undefined;
  };
  const completionOf = ({ by, notes: fewer, agreedTo, hold }: Asked): YieldingCompletion | undefined => {
    const prompt = agreedTo === undefined ? promptOf(fewer) : promptAfter(agreedTo, fewer);
    if (prompt === undefined) return undefined;
    return {
      ...same,
      ...by,
      held: hold?.to ?? [],
      agreedTo,
      ...(hold === undefined ? {} : { ...holdTo(hold.to, form, { before: hold.before, heard: turn }), ...hold.form }),
      ...prompt,
      maxTokens: Math.min(maxTokens, contextTokens - prompt.promptTokens.length),
    };
  };
  // Of other tools no call is made.
  const relevant = defaults.filter((each) => tools.some((tool) => tool.function.name === each.tool));
  const base = bareVersion(turn.policy);
  const yielding = { policy, completion, completionOf, standing, base, heard: turn, corrected: heardCorrections(turn), defaults: relevant };
  return { answer: (signal) => toAnswer(new YieldingAnswer(yielding, signal), { ...turn, toolChoice }) };
}

/** The base without an adapter, by the name that its line has it under: an agent that has moved to this base has it as a later version than 0. */
function bareVersion({ baseDigest, answering }: TurnPolicy): VersionFiles {
  const bare = [answering?.outside, ...(answering?.tools ?? []).map(({ by }) => by)].find((each) => each?.adapter === null);
  return bare ?? { line: SHARED_LINE, version: 0, policyDigest: baseDigest, adapter: null };
}

function promptKeyOf(notes: readonly ServedNote[]): string {
  return JSON.stringify(notes.filter(isRead).map(({ noteId }) => noteId));
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
    const { notes, held, agreedTo, promptTokens, line, version } = answer.completion;
    // One that the answer is held to counts as one in its prompt.
    const stood = given.filter((note) => notes.includes(note) || held.includes(note));
    const others = held.filter((each) => !given.some((note) => note === each));
    return {
      notes: stood.map((note) => ({ noteId: note.noteId, text: note.text, ...(held.includes(note) && { held: true as const }) })),
      heldTo: others.map(({ tool, parameter, value }) => ({ tool, parameter, value })),
      agreedTo,
      promptTokens,
      ...(toolChoice !== asked && { toolChoice }),
      yieldedTo: isSameVersion({ line, version }, bound) ? undefined : { line, version },
    };
  };
  return { steps: answer.steps(), prompted };
}

type EncodedWithNotes = Pick<YieldingCompletion, "notes" | "promptTokens">;

/** As many notes as leave room for an answer, the first ones first: a note never costs a request its answer. */
function encodeWithNotes(
  policy: Policy,
  { messages, tools, notes, sampling }: Pick<EngineTurn, "messages" | "tools" | "notes" | "sampling">,
): EncodedWithNotes {
  const room = roomOf(policy, sampling);
  const shown = messages.some(({ role }) => role === "user") ? notes : [];
  // What a call is held to need not be read, and this base was never shown it: it takes no room.
  const aspects = shown.filter((note) => !isRead(note));
  const read = shown.filter(isRead);
  for (let count = read.length; count > 0; count -= 1) {
    const kept = [...read.slice(0, count), ...aspects];
    const texts = read.slice(0, count).map(({ text }) => text);
    const prompt = { messages: withGuidance(messages, { notes: texts }), tools, addGenerationPrompt: true };
    const encoded = encodeWithin(policy, prompt, room);
    if (encoded.tokens !== undefined && encoded.tokens.length <= room) return { notes: kept, promptTokens: encoded.tokens };
  }
  return { notes: aspects, promptTokens: encodeAll(policy, { messages, tools, addGenerationPrompt: true }) };
}

/** @throws {input/invalid} where notes were left out, or too little is left for an answer */
function checkRoomFor(policy: Policy, turn: EngineTurn, { notes, promptTokens: { length: promptCount } }: EncodedWithNotes): void {
  const { contextTokens } = policy;
  const left = turn.notes.filter(isRead).length - notes.filter(isRead).length;
  if (left === 0 && promptCount <= roomOf(policy, turn.sampling)) return;
  throw overflow(turn, {
    contextTokens,
    promptCount,
    got: `${promptCount} in the prompt, ${left} notes beside it, and room for an answer`,
  });
}

/** Tokens that an answer leaves to a prompt of which not all has to be there. */
function roomOf({ contextTokens }: Policy, { answerLimit }: Pick<TurnSampling, "answerLimit">): number {
  return contextTokens - (answerLimit?.tokens ?? ANSWER_ROOM);
}

/** @throws {input/invalid} where it cannot fit the context */
function encodeAll(policy: Policy, prompt: Prompt): number[] {
  const { contextTokens } = policy;
  const { tokens, atLeast } = encodeWithin(policy, prompt, contextTokens);
  if (tokens === undefined) throw overflow(prompt, { contextTokens, promptCount: atLeast, got: `at least ${atLeast} in the prompt` });
  return tokens;
}

/** Encodes what may fit `room`; what cannot is seen by its length, and only how many tokens it has at least is told. */
function encodeWithin(
  { tokenizer, contextTokens, longestTokenBytes }: Policy,
  prompt: Prompt,
  room: number,
): { tokens: number[] | undefined; atLeast: number } {
  // A message, a tool and a parameter take a token at least, and a token is at most `longestTokenBytes` of text. The parts are counted
  // first: what a template does with tens of thousands of them takes longer than anybody waits, and a megabyte takes seconds to encode.
  const parts = prompt.messages.length + (prompt.tools ?? []).reduce((sum, tool) => sum + 1 + parameterCount(tool), 0);
  if (parts > contextTokens) return { tokens: undefined, atLeast: parts };
  const { text, encode } = render(tokenizer, prompt);
  const atLeast = Math.ceil(text.length / longestTokenBytes);
  return { tokens: atLeast > room ? undefined : encode(), atLeast };
}

function parameterCount({ function: { parameters } }: ToolDefinition): number {
  const properties = parameters?.["properties"];
  return typeof properties === "object" && properties !== null ? Object.keys(properties).length : 0;
}

/** @throws {input/unsupported} where the base's chat template fails on the conversation */
function render(tokenizer: Policy["tokenizer"], prompt: Prompt): RenderedPrompt {
  try {
    return tokenizer.renderPrompt(prompt);
  } catch (cause) {
    const param = prompt.tools === undefined || prompt.tools.length === 0 ? "messages" : "tools";
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AppError("input/unsupported", `${param}: what the base's chat template can show expected; it says: ${reason}`, {
      details: { param },
      cause,
    });
  }
}

function fileReader(bucket: R2Bucket): ReadFile {
  return async (digest) => {
    const bytes = await getArtifact(bucket, digest);
    if (bytes === undefined) throw new AppError("upstream/failed", `file ${digest}: stored bytes expected, got none`);
    return bytes;
  };
}
