/**
 * Contexts for note distillation, made from tool schemas alone and from the agent's own replayed turns. A note is a
 * default: contexts where the user is silent teach that it applies, contexts where the user states another value
 * teach that it yields, contexts of other tools teach that it stays away, those of the agent and those that it never
 * had. (reference: design §5, note distillation)
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { Hint } from "../../shared/jobs.ts";
import { findParameter, readParameters, type Parameter } from "../../shared/speech/parameters.ts";
import { ANCHOR_TOOLS } from "./anchor-tools.ts";
import type { Random } from "../random.ts";
import { sayOpening } from "./phrases.ts";
import { aimOf, chooseFacts, converse, settled } from "./requests.ts";
import { makeValue } from "./values.ts";

/** `other`: what the agent does besides, `anchor`: what any agent might; both must stay as they are. */
export type ContextKind = "silent" | "stated" | "other" | "anchor";

export type Context = {
  readonly kind: ContextKind;
  /** What the context was made from, for the record: `generated` or the replayed turn's id. */
  readonly origin: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The tool whose call is due. */
  readonly tool: string;
  /** The value the user states for the corrected parameter, where `kind` is `stated`. */
  readonly stated?: string;
};

export type Correction = { readonly tool: ToolDefinition; readonly parameter: Parameter; readonly hint: Hint };

export type ContextSource = {
  readonly correction: Correction;
  /** Every tool of the agent; the corrected one included. */
  readonly tools: readonly ToolDefinition[];
  /** Put before every generated request: system messages of the corrected turn, and what else its conversation began with. */
  readonly system: readonly ChatMessage[];
};

export type ContextCounts = Readonly<Record<ContextKind, number>>;

/** Generated contexts of each kind; kinds the schema cannot make (no other value, no other tool) come out short. */
export function generateContexts(source: ContextSource, counts: ContextCounts, random: Random): Context[] {
  return [
    ...Array.from({ length: counts.silent }, () => silentContext(source, random)),
    ...Array.from({ length: counts.stated }, () => statedContext(source, random)),
    ...Array.from({ length: counts.other }, () => otherContext(source, random)),
    ...Array.from({ length: counts.anchor }, () => anchorContext(source, random)),
  ].filter((context) => context !== undefined);
}

/** A request for the corrected tool with all that it needs, but for the corrected argument. */
export function silentContext(source: ContextSource, random: Random): Context {
  const { tool, parameter } = source.correction;
  const facts = chooseFacts(tool, [parameter.name], random);
  return {
    kind: "silent",
    origin: "generated",
    messages: converse({ system: source.system, tool, facts }, random),
    tools: offerTools(source, tool, random),
    tool: tool.function.name,
  };
}

function statedContext(source: ContextSource, random: Random): Context | undefined {
  const { tool, parameter, hint } = source.correction;
  const stated = makeValue(parameter, random, [hint.value]);
  if (stated === undefined) return undefined;
  const facts = [...chooseFacts(tool, [parameter.name], random), { parameter, value: stated }];
  const messages = converse({ system: source.system, tool, facts: random.shuffled(facts) }, random);
  return { kind: "stated", origin: "generated", messages, tools: offerTools(source, tool, random), tool: tool.function.name, stated };
}

/** Another tool of the agent. Where that has the corrected parameter, too, the user states it: else what the note means there is the teacher's to say. */
function otherContext(source: ContextSource, random: Random): Context | undefined {
  const { tool, parameter, hint } = source.correction;
  const others = source.tools.filter((each) => each.function.name !== tool.function.name);
  if (others.length === 0 || random.next() < UNREADY_SHARE) return unreadyContext(source, tool, random);
  const other = random.pick(others);
  const namesake = findParameter(other, parameter.name);
  const stated = namesake === undefined ? undefined : makeValue(namesake, random, [hint.value]);
  if (namesake !== undefined && stated === undefined) return undefined;
  const facts = [
    ...chooseFacts(other, [parameter.name], random),
    ...(namesake === undefined || stated === undefined ? [] : [{ parameter: namesake, value: stated }]),
  ];
  return {
    kind: "other",
    origin: "generated",
    messages: converse({ system: source.system, tool: other, facts: random.shuffled(facts) }, random),
    tools: offerTools(source, other, random),
    tool: other.function.name,
  };
}

const UNREADY_SHARE = 0.3;
const NAMESAKE_SHARE = 0.4;
const MOST_ANCHOR_TOOLS = 6; // offered beside the due one
const MOST_EARLIER = 3; // requests that were settled before

/** A request that no tool of the agent is for, with tools that are. */
function anchorContext(source: ContextSource, random: Random): Context | undefined {
  const own = new Set(source.tools.map((tool) => tool.function.name));
  const [drawn, ...others] = random.shuffled(ANCHOR_TOOLS.filter((tool) => !own.has(tool.function.name)));
  if (drawn === undefined) return undefined;
  const due = random.next() < NAMESAKE_SHARE ? withParameter(drawn, source.correction) : drawn;
  const tools = random.shuffled([due, ...others.slice(0, 1 + random.below(MOST_ANCHOR_TOOLS))]);
  const anchored = { ...source, tools, system: random.next() < 0.5 ? source.system : [] };
  const unready = random.next() < UNREADY_SHARE ? unreadyContext(anchored, due, random) : undefined;
  const request = unready?.messages ?? converse({ system: anchored.system, tool: due, facts: chooseFacts(due, [], random) }, random);
  const earlier = Array.from({ length: random.below(MOST_EARLIER + 1) }, () => settled(random.pick(tools), random)).flat();
  const messages = [...anchored.system, ...earlier, ...request.slice(anchored.system.length)];
  return { kind: "anchor", origin: "generated", messages, tools, tool: due.function.name };
}

/** The tool with one more parameter: the corrected one's namesake, which the correction is not about. */
function withParameter(tool: ToolDefinition, { tool: corrected, parameter }: Correction): ToolDefinition {
  const { properties: own, ...rest } = { properties: {}, ...tool.function.parameters };
  const { properties: theirs } = { properties: {}, ...corrected.function.parameters };
  const lent = Object.entries({ ...theirs }).filter(([name]) => name === parameter.name);
  return { ...tool, function: { ...tool.function, parameters: { ...rest, properties: { ...Object.fromEntries(lent), ...own } } } };
}

/** A request for the corrected tool that leaves out what it needs: a default for one argument is no reason to call. */
function unreadyContext(source: ContextSource, tool: ToolDefinition, random: Random): Context | undefined {
  if (!readParameters(tool).some(({ required }) => required)) return undefined;
  const messages: ChatMessage[] = [...source.system, { role: "user", content: sayOpening(aimOf(tool, random), random) }];
  return { kind: "other", origin: "generated", messages, tools: offerTools(source, tool, random), tool: tool.function.name };
}

/** The due tool with all or some of its neighbours; half the time in random order, so that position teaches nothing. */
export function offerTools({ tools }: Pick<ContextSource, "tools">, due: ToolDefinition, random: Random): ToolDefinition[] {
  const others = random.shuffled(tools.filter((tool) => tool !== due));
  const kept = random.next() < 0.5 ? others : others.slice(0, Math.min(others.length, 1 + random.below(2)));
  const offered = tools.filter((tool) => tool === due || kept.includes(tool));
  return random.next() < 0.5 ? offered : random.shuffled(offered);
}
