/**
 * Hears what a user says about an answer beside its call's arguments: that another tool does it, that they want to be asked before, or not to be
 * asked, or replies worded otherwise. What the words leave open the base's own call tells: which tool would do the same, and what was asked about.
 */
import { appliesTo, ASK_FIRST, ASK_NEVER, isAspect } from "../../shared/aspects.ts";
import { wasAskedAbout } from "../../shared/agreed-calls.ts";
import { agreementTo, asks, asksAbout, confirms } from "../../shared/asking.ts";
import { at } from "../../shared/assert.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { type Hint, type Wish, WISHES, wishPrompt } from "../../shared/jobs.ts";
import { argumentText, type Call, findTool, readableCalls, sameText } from "../../shared/speech/calls.ts";
import { findParameter, humanise, readParameters } from "../../shared/speech/parameters.ts";
import { choosesTool, namesTopic, toolsNamed, wordsBy } from "../../shared/speech/mention.ts";
import type { Signal } from "../data/exchange.ts";
import { sentencesOf } from "../../shared/speech/sentences.ts";
import type { JobSampler } from "./job-sampler.ts";
import type { Grounded, Stands } from "../../shared/correction/ground.ts";
import { isReplyAspect, isWording, repliedTool, resultsOf, worded } from "../../shared/wording.ts";
import { ordersAsking, ordersUnasked } from "./asking-ordered.ts";
import { saysAskFirst, speaksOfAsking, saysUnasked } from "./asking-said.ts";
import { chosenOutright, toldApart } from "./told-apart.ts";
import { isSpokenWording, wordingSaid } from "./wording-said.ts";

type Heard = Pick<Signal, "exchange" | "turn">;

// Tools that change nothing, by how they are named: hardly anybody wants to be asked before one, and after their results people say most of all.
const READS = /^(?:browse|check|fetch|find|get|list|look|lookup|query|read|retrieve|search|see|show|view)\b/;
const READING_WISH = 0.99; // probability at which it is believed
const UNSPOKEN_WISH = 0.98; // of words that do not speak of asking: "Let me try it first" may be about anything
// Of who orders to be asked before one by what it does.
const SPEAKS_OF_READING = /\b(?:brows|fetch|find|list|look(?:ing)? up|quer|retriev|search)\w*/i;
const LEAST_LIKENESS = 0.6; // of their parameters: twins are described in other words, of which a kind is guessed
const LEAST_ALIKE = 0.5; // of either call's values: another tool that is called with other values does something else

/**
 * The tool that the user would have called, where the words name it: of words that the votes take for no rejection only where they choose
 * it ("use find room") or name both.
 */
export async function findToolWish(
  signal: Heard,
  { sampler, seed, rejected }: { sampler: JobSampler; seed: number; rejected: boolean },
): Promise<Stands | undefined> {
  const words = newWords(signal);
  const { tools } = signal.turn.payload;
  const named = toolsNamed(words, tools).map((tool) => tool.function.name);
  const called = lastCalled(signal, (call) => named.includes(call.name)) ?? lastCalled(signal);
  if (called === undefined) return undefined;
  const [first, ...more] = named.filter((name) => name !== called.call.name);
  const apart = first === undefined ? toldApart(words, called.call.name, tools) : undefined;
  const other = first ?? apart;
  if (other === undefined || more.length > 0) return undefined;
  const isBoth = apart !== undefined || named.includes(called.call.name);
  if (!rejected && !isBoth && !choosesTool(words, other)) return undefined;
  const isToldApart = apart !== undefined || (isBoth && (rejected || CONTRASTS.test(words)));
  return (await doesTheSame(signal, { sampler, seed, call: called.call, other, isToldApart }))
    ? stands(called.call.name, "@tool", other)
    : undefined;
}

/** The tool that a rejection of no argument says was wanted alone, or should have been used, whatever the base would call. */
export function findToolOutright(signal: Heard): Stands | undefined {
  const { tools } = signal.turn.payload;
  const called = lastCalled(signal)?.call.name;
  const other = called === undefined ? undefined : chosenOutright(newWords(signal), called, tools);
  return called !== undefined && other !== undefined && sharesParameter(tools, called, other) ? stands(called, "@tool", other) : undefined;
}

/** Whether two tools take something of one name and kind. */
function sharesParameter(tools: readonly ToolDefinition[], left: string, right: string): boolean {
  const [own, other] = [findTool(tools, left), findTool(tools, right)];
  if (own === undefined || other === undefined) return false;
  return readParameters(own).some(({ name, kind }) => findParameter(other, name)?.kind === kind);
}

// Who names two tools may want both: "find buses and buy bus tickets".
const CONTRASTS = /\b(?:not|instead of|rather than|in place of|skip|never|better than)\b|n['’]t\b/i;

/** The same of a rejection that names the tool that was called and no other: the one that is most like it. */
export async function findToolDenial(signal: Heard, { sampler, seed }: { sampler: JobSampler; seed: number }): Promise<Stands | undefined> {
  const { tools } = signal.turn.payload;
  const [name, ...more] = toolsNamed(newWords(signal), tools).map((tool) => tool.function.name);
  const called = lastCalled(signal, (call) => call.name === name);
  if (name === undefined || more.length > 0 || called === undefined) return undefined;
  const other = likestTool(tools, name)?.function.name;
  return other !== undefined && (await doesTheSame(signal, { sampler, seed, call: called.call, other }))
    ? stands(name, "@tool", other)
    : undefined;
}

/**
 * What the user says but for what they ask for once more, or want to be asked about: who again asks to "find movies" says nothing of FindMovies. Who chooses a
 * tool once more insists.
 */
function newWords({ exchange, turn: { payload } }: Heard): string {
  const said = new Set(saidParts(wordsBy(payload.messages, "user")).map((sentence) => sentence.toLowerCase()));
  const isChoice = (sentence: string): boolean => payload.tools.some((tool) => choosesTool(sentence, tool.function.name));
  const sentences = saidParts(wordsBy(exchange.nextState, "user"));
  return sentences.filter((sentence) => (!said.has(sentence.toLowerCase()) || isChoice(sentence)) && !ordersAsking(sentence)).join("\n");
}

/** Sentences, of which a colon makes two: "Once again: I said it." */
function saidParts(words: string): string[] {
  return sentencesOf(words).flatMap((sentence) => sentence.split(/(?<=:)\s+/));
}

/**
 * Whether the other tool, called for all that was said, would be called with most of the same values: a new request has others. Where the call
 * had none, or the user tells the one tool from the other, it is enough that they take the same.
 */
async function doesTheSame(
  { exchange, turn: { payload } }: Heard,
  {
    sampler,
    seed,
    call,
    other,
    isToldApart = false,
  }: { sampler: JobSampler; seed: number; call: Call; other: string; isToldApart?: boolean },
): Promise<boolean> {
  const { tools } = payload;
  const [own, wanted] = [findTool(tools, call.name), findTool(tools, other)];
  const isOpen = isToldApart || Object.keys(call.arguments).length === 0;
  if (isOpen && own !== undefined && wanted !== undefined && likenessOf(own, wanted) >= LEAST_LIKENESS) return true;
  const callable = tools.filter((tool) => tool.function.name === other);
  // As if nothing had been called: behind an answer the words would be read as a correction of its arguments.
  const asked = payload.messages.slice(0, payload.messages.findLastIndex(({ role }) => role === "user") + 1);
  const messages = [...asked, ...exchange.nextState];
  const made = callable.length === 0 ? undefined : await sampler.call({ messages, tools, callable }, { seed });
  return made !== undefined && isAlike(call, made);
}

/** Of the other tools the one whose parameters are most like this one's, by kind and options, where most of them are. */
function likestTool(tools: readonly ToolDefinition[], name: string): ToolDefinition | undefined {
  const own = findTool(tools, name);
  if (own === undefined) return undefined;
  const ranked = tools
    .filter((tool) => tool.function.name !== name && sharesWord(tool.function.name, name))
    .map((tool) => ({ tool, likeness: likenessOf(own, tool) }))
    .toSorted((a, b) => b.likeness - a.likeness);
  const [best, second] = ranked;
  return best === undefined || best.likeness < LEAST_LIKENESS || best.likeness === second?.likeness ? undefined : best.tool;
}

/** Whether two tools are named after the same thing: `FindMovies` and `SearchMovie`. */
function sharesWord(left: string, right: string): boolean {
  return namesTopic(humanise(left).replace(READS, ""), { words: humanise(right).replace(READS, "") });
}

/** Share of the parameters of either that the other has a counterpart of: of the same kind, with the same options. */
function likenessOf(left: ToolDefinition, right: ToolDefinition): number {
  const forms = (tool: ToolDefinition): string[] =>
    readParameters(tool).map(({ kind, allowed }) => JSON.stringify([kind, allowed.toSorted()]));
  const [own, others] = [forms(left), forms(right)];
  const open = [...others];
  const shared = own.filter((form) => {
    const at = open.indexOf(form);
    if (at >= 0) open.splice(at, 1);
    return at >= 0;
  }).length;
  return own.length + others.length === 0 ? 1 : shared / Math.max(own.length, others.length);
}

type Asking = {
  readonly sampler: JobSampler;
  readonly seed: number;
  /** Probability at which a wish is believed. */ readonly least: number;
};

/** Whether the user wants to be asked before such a call, or not to be asked. Outright orders are believed whatever the base makes of them. */
export async function findAskWish(signal: Heard, asking: Asking): Promise<Stands | undefined> {
  if (!asking.sampler.knowsWishes || signal.turn.payload.tools.length === 0) return undefined;
  const words = wordsBy(signal.exchange.nextState, "user");
  const ordered = ordersAsking(words)
    ? await findAskFirst(signal, { ...asking, chance: SPEAKS_OF_READING.test(words) ? 1 : 0 })
    : undefined;
  if (ordered !== undefined) return ordered;
  if (ordersUnasked(words) && saysUnasked(words)) return findAskNever(signal, asking);
  const { wish, chance } = await likeliestWish(signal, asking);
  if (wish === "none" || chance < asking.least) return undefined;
  if (wish === "ask" && chance < UNSPOKEN_WISH && !speaksOfAsking(words)) return undefined;
  if (wish === "ask") return saysAskFirst(words) ? findAskFirst(signal, { ...asking, chance }) : undefined;
  return saysUnasked(words) ? findAskNever(signal, asking) : undefined;
}

/** The tool that the user names, of several the one that was called; else the one that was called, else the one that is due. */
async function findAskFirst(signal: Heard, { chance, sampler, seed }: Asking & { readonly chance: number }): Promise<Stands | undefined> {
  const { messages, tools } = signal.turn.payload;
  const spoken = toolsNamed(wordsBy(signal.exchange.nextState, "user"), tools).map((tool) => tool.function.name);
  const named = spoken.some((name) => !reads(name)) ? spoken.filter((name) => !reads(name)) : spoken;
  const fits = ({ name }: Call): boolean => named.length === 0 || named.includes(name);
  const called = lastCalled(signal, (call) => fits(call) && !reads(call.name)) ?? lastCalled(signal, fits);
  const due = called === undefined && named.length === 0 ? await sampler.call({ messages, tools, callable: tools }, { seed }) : undefined;
  const name = called?.call.name ?? due?.name ?? (named.length === 1 ? named[0] : undefined);
  const tool = name === undefined ? undefined : findTool(tools, name);
  if (name === undefined || tool === undefined) return undefined;
  if (called !== undefined && wasAskedAbout(called.messages, { tool, call: called.call })) return undefined;
  return reads(name) && chance < READING_WISH ? undefined : stands(name, "@ask", ASK_FIRST);
}

/** The call that was asked about: the one that comes of a yes. */
async function findAskNever({ turn: { payload } }: Heard, { sampler, seed }: Asking): Promise<Stands | undefined> {
  const { messages, tools, answer } = payload;
  const question = isWords(answer) ? (answer.content ?? "") : "";
  if (!asks(question)) return undefined;
  const call = await sampler.call({ messages: [...messages, ...agreementTo(question)], tools, callable: tools }, { seed });
  const tool = call === undefined ? undefined : findTool(tools, call.name);
  if (call === undefined || tool === undefined) return undefined;
  // A small base may read other values than it asked about.
  const isAbout = asksAbout(question, { tool, call }) || (confirms(question) && !reads(call.name));
  return isAbout ? stands(call.name, "@ask", ASK_NEVER) : undefined;
}

/** How replies to the results are to be worded that were replied to, where this one is worded otherwise. */
export function findWording({ exchange, turn: { payload } }: Heard): Stands | undefined {
  const { messages, answer } = payload;
  const tool = repliedTool(messages);
  if (tool === undefined || !isWords(answer)) return undefined;
  const text = answer.content ?? "";
  const rule = wordingSaid(wordsBy(exchange.nextState, "user"), { reply: text });
  if (rule === undefined || !isWording(rule)) return undefined;
  return worded(text, { rules: [rule], results: resultsOf(messages, tool) }) === text
    ? undefined
    : stands(tool, rule.parameter, rule.value);
}

function reads(tool: string): boolean {
  return READS.test(humanise(tool));
}

async function likeliestWish({ exchange }: Heard, { sampler }: Pick<Asking, "sampler">): Promise<{ wish: Wish; chance: number }> {
  const chances = (await sampler.score(wishPrompt(exchange), WISHES)).map(Math.exp);
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  const best = chances.indexOf(Math.max(...chances));
  return total > 0 ? { wish: at(WISHES, best), chance: at(chances, best) / total } : { wish: "none", chance: 1 };
}

/**
 * The same of a hint that somebody wrote, or that is read from the log: its tools are at hand, and the exchange calls the one that it is about,
 * or calls none and answers in words, or the user names it. Undefined where it is about an argument. @param toolName without one, the tool that was called last
 */
export function groundAspect({ parameter, value }: Hint, toolName: string | undefined, signal: Heard): Grounded | undefined {
  if (!isAspect(parameter)) return undefined;
  if (isReplyAspect(parameter)) return groundWording({ parameter, value }, toolName, signal);
  const { answer, tools } = signal.turn.payload;
  const called = lastCalled(signal, (call) => call.name === toolName) ?? lastCalled(signal);
  const tool = toolName ?? called?.call.name ?? "";
  const isCalled = called?.call.name === tool;
  const named = toolsNamed(wordsBy(signal.exchange.nextState, "user"), tools).some(({ function: { name } }) => name === tool);
  const unasked = parameter === "@ask" && value === ASK_NEVER;
  const first = parameter === "@ask" && !unasked;
  const fits = unasked ? isWords(answer) : isCalled || (first && (named || (called === undefined && isWords(answer))));
  if (fits && appliesTo({ tool, parameter, value }, tools)) return stands(tool, parameter, value);
  const wanted = unasked ? "an answer in words" : "a call";
  const detail = `${parameter} ${value}: ${wanted}, of a tool at hand, expected, got ${tool === "" ? "none" : tool}`;
  return { status: "refused", code: "hint/ungrounded", detail };
}

function groundWording({ parameter, value }: Hint, toolName: string | undefined, { turn: { payload } }: Heard): Grounded {
  const { messages, answer, tools } = payload;
  const replied = repliedTool(messages);
  const tool = toolName ?? replied ?? "";
  if (isWords(answer) && replied === tool && appliesTo({ tool, parameter, value }, tools)) return stands(tool, parameter, value);
  const detail = `${parameter} ${value}: a reply to the results of a tool at hand expected, got ${tool === "" ? "none" : tool}`;
  return { status: "refused", code: "hint/ungrounded", detail };
}

/** Whether the user's own words say something of the aspect, since a server's word for it is not enough: a tool by its name, or that they want to be asked or not. */
export function isSpokenOf({ parameter, value }: Hint, toolName: string, { exchange, turn }: Heard): boolean {
  const words = wordsBy(exchange.nextState, "user");
  if (parameter === "@ask") return value === ASK_NEVER ? saysUnasked(words) : saysAskFirst(words) || ordersAsking(words);
  if (isReplyAspect(parameter)) return isSpokenWording({ parameter, value }, words);
  return toolsNamed(words, turn.payload.tools).some((tool) => tool.function.name === value || tool.function.name === toolName);
}

function isWords(answer: ChatMessage): boolean {
  return answer.role === "assistant" && (answer.tool_calls ?? []).length === 0 && (answer.content ?? "") !== "";
}

type LastCall = { readonly call: Call; /** What it answered. */ readonly messages: readonly ChatMessage[] };

/** The last call of the exchange that can be read, of a tool that is at hand. @param fits of those that are looked for */
function lastCalled({ exchange, turn: { payload } }: Heard, fits: (call: Call) => boolean = () => true): LastCall | undefined {
  const usable = (message: ChatMessage): Call[] =>
    readableCalls(message).filter((call) => findTool(payload.tools, call.name) !== undefined && fits(call));
  const at = exchange.answered.findLastIndex((message) => usable(message).length > 0);
  const call = at < 0 ? undefined : usable(exchange.answered[at] ?? payload.answer).at(-1);
  if (call === undefined) return undefined;
  // The turn's messages end where the exchange's last answer begins; the exchange begins at their last user message.
  const begin = payload.messages.findLastIndex(({ role }) => role === "user");
  return { call, messages: payload.messages.slice(0, Math.max(0, begin) + at) };
}

function isAlike({ arguments: made }: Call, { arguments: other }: Call): boolean {
  const [values, others] = [made, other].map((args) => Object.values(args).map(argumentText)) as [string[], string[]];
  const shared = values.filter((value) => others.some((each) => sameText(each, value))).length;
  return shared > 0 && shared >= LEAST_ALIKE * Math.max(values.length, others.length);
}

function stands(toolName: string, parameter: string, value: string): Stands {
  return { status: "grounded", toolName, hint: { parameter, value } };
}

export type CallAsked = {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Those of them that may be called; one of them is. */
  readonly callable: readonly ToolDefinition[];
};
