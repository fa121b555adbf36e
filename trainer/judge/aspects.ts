/**
 * Hears what a user says about a call beside its arguments: that another tool does it, that they want to be asked before, or not to be
 * asked. What the words leave open the base's own call tells: which tool would do the same, and what was asked about.
 */
import { appliesTo, ASK_FIRST, ASK_NEVER, isAspect } from "../../shared/aspects.ts";
import { asksAbout, wasAskedAbout } from "../../shared/asking.ts";
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { type Hint, type Wish, WISHES, wishPrompt } from "../../shared/jobs.ts";
import { argumentText, type Call, findTool, readableCalls, sameText } from "../../shared/speech/calls.ts";
import { humanise, readParameters } from "../../shared/speech/parameters.ts";
import { toolsNamed, wordsBy } from "../../shared/speech/mention.ts";
import type { Signal } from "../data/exchange.ts";
import type { JobSampler } from "./embedded.ts";
import type { Grounded } from "./ground.ts";

type Heard = Pick<Signal, "exchange" | "turn">;
type Stands = Extract<Grounded, { status: "grounded" }>;

// Tools that change nothing, by how they are named: hardly anybody wants to be asked before one, and after their results people say most of all.
const READS = /^(?:browse|check|fetch|find|get|list|look|lookup|query|read|retrieve|search|see|show|view)\b/;
const READING_WISH = 0.99; // probability at which it is believed
const LEAST_LIKENESS = 0.6; // of their parameters: twins are described in other words, of which a kind is guessed
const LEAST_ALIKE = 0.5; // of a call's values: another tool that is called with other values does something else

/** The tool that the user would have called, where the words name it or reject the one that was called. */
export async function findToolWish(signal: Heard, { sampler, seed }: { sampler: JobSampler; seed: number }): Promise<Stands | undefined> {
  const { tools } = signal.turn.payload;
  const called = lastCalled(signal);
  if (called === undefined) return undefined;
  const { call, messages } = called;
  const words = wordsBy(signal.exchange.nextState, "user");
  const named = toolsNamed(words, tools);
  const others = named.filter((tool) => tool.function.name !== call.name);
  if (others.length > 1 || (others.length === 0 && named.length === 0)) return undefined;
  // Who rejects a tool by its name wants the one that does the same.
  const instead = others[0] ?? likestTool(tools, call.name);
  const made = instead === undefined ? undefined : await sampler.call({ messages, tools, callable: [instead] }, { seed });
  return made === undefined || !isAlike(call, made) ? undefined : stands(call.name, "@tool", made.name);
}

/** Of the other tools the one whose parameters are most like this one's, by kind and options, where most of them are. */
function likestTool(tools: readonly ToolDefinition[], name: string): ToolDefinition | undefined {
  const own = findTool(tools, name);
  if (own === undefined) return undefined;
  const ranked = tools
    .filter((tool) => tool.function.name !== name)
    .map((tool) => ({ tool, likeness: likenessOf(own, tool) }))
    .toSorted((a, b) => b.likeness - a.likeness);
  const [best, second] = ranked;
  return best === undefined || best.likeness < LEAST_LIKENESS || best.likeness === second?.likeness ? undefined : best.tool;
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
  return shared / Math.max(1, own.length, others.length);
}

/** Whether the user wants to be asked before such a call, or not to be asked. @param options.least probability at which it is believed */
export async function findAskWish(
  signal: Heard,
  { sampler, seed, least }: { sampler: JobSampler; seed: number; least: number },
): Promise<Stands | undefined> {
  const { messages, tools, answer } = signal.turn.payload;
  const called = lastCalled(signal);
  const reads = called !== undefined && READS.test(humanise(called.call.name));
  const wish = sampler.knowsWishes ? await hearWish(signal, { sampler, least: reads ? Math.max(least, READING_WISH) : least }) : "none";
  if (wish === "ask" && called !== undefined) {
    const tool = findTool(tools, called.call.name);
    const asked = tool !== undefined && wasAskedAbout(called.messages, { tool, call: called.call });
    return asked ? undefined : stands(called.call.name, "@ask", ASK_FIRST);
  }
  if (wish !== "go" || called !== undefined || answer.content === null || tools.length === 0) return undefined;
  const call = await sampler.call({ messages, tools, callable: tools }, { seed });
  const tool = call === undefined ? undefined : findTool(tools, call.name);
  return call !== undefined && tool !== undefined && asksAbout(answer.content, { tool, call })
    ? stands(call.name, "@ask", ASK_NEVER)
    : undefined;
}

async function hearWish({ exchange }: Heard, { sampler, least }: { sampler: JobSampler; least: number }): Promise<Wish> {
  const logProbs = await sampler.score(wishPrompt(exchange), WISHES);
  const chances = logProbs.map(Math.exp);
  const total = chances.reduce((sum, chance) => sum + chance, 0);
  return WISHES.find((_, index) => total > 0 && (chances[index] ?? 0) / total >= least) ?? "none";
}

/**
 * The same of a hint that somebody wrote, or that is read from the log: its tools are at hand, and the exchange calls the one that it is about,
 * or asks before. Undefined where it is about an argument. @param toolName without one, the tool that was called last
 */
export function groundAspect({ parameter, value }: Hint, toolName: string | undefined, signal: Heard): Grounded | undefined {
  if (!isAspect(parameter)) return undefined;
  const called = lastCalled(signal)?.call.name;
  const tool = toolName ?? called ?? "";
  const unasked = parameter === "@ask" && value === ASK_NEVER;
  if (appliesTo({ tool, parameter, value }, signal.turn.payload.tools) && called === (unasked ? undefined : tool))
    return stands(tool, parameter, value);
  const wanted = unasked ? "an answer that asks" : "a call";
  const detail = `${parameter} ${value}: ${wanted}, of a tool at hand, expected, got ${tool === "" ? "none" : tool}`;
  return { status: "refused", code: "hint/ungrounded", detail };
}

type LastCall = { readonly call: Call; /** What it answered. */ readonly messages: readonly ChatMessage[] };

/** The last call of the exchange that can be read, of a tool that is at hand. */
function lastCalled({ exchange, turn: { payload } }: Heard): LastCall | undefined {
  const at = exchange.answered.findLastIndex((message) => readableCalls(message).length > 0);
  const call = readableCalls(exchange.answered[at] ?? payload.answer).at(-1);
  if (at < 0 || call === undefined || findTool(payload.tools, call.name) === undefined) return undefined;
  // The turn's messages end where the exchange's last answer begins; the exchange begins at their last user message.
  const begin = payload.messages.findLastIndex(({ role }) => role === "user");
  return { call, messages: payload.messages.slice(0, Math.max(0, begin) + at) };
}

function isAlike({ arguments: made }: Call, { arguments: other }: Call): boolean {
  const values = Object.values(made).map(argumentText);
  const others = Object.values(other).map(argumentText);
  const shared = values.filter((value) => others.some((each) => sameText(each, value))).length;
  return shared > 0 && shared >= LEAST_ALIKE * values.length;
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
