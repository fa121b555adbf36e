/** Requests as users make them, from a tool's schema alone: in one message or over several, ready for a call or settled long ago. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { humanise, isPlain, readParameters } from "../../shared/speech/parameters.ts";
import type { Random } from "../random.ts";
import { askFor, replyWith, sayFact, sayOpening, type Fact } from "./phrases.ts";
import { makeValue } from "./values.ts";

export type Request = {
  /** System messages, put before the request. */
  readonly system: readonly ChatMessage[];
  readonly tool: ToolDefinition;
  /** What the user says, in this order. */
  readonly facts: readonly Fact[];
};

/** A request in one message, or over a few turns in which the assistant asks for what is missing. */
export function converse({ system, tool, facts }: Request, random: Random): ChatMessage[] {
  const atOnce = random.next() < 0.5 ? facts.length : Math.min(facts.length, random.below(3));
  const stated = facts.slice(0, atOnce).map((fact) => sayFact(fact, random, { plain: isPlain(tool, fact.parameter) }));
  const opening = [sayOpening(aimOf(tool, random), random), ...stated];
  const messages: ChatMessage[] = [...system, { role: "user", content: (random.next() < 0.8 ? opening : opening.reverse()).join(" ") }];
  for (const fact of facts.slice(atOnce))
    messages.push({ role: "assistant", content: askFor(fact.parameter, random) }, { role: "user", content: replyWith(fact, random) });
  return messages;
}

/** A request with its call, result and reply, as they stand in the history of a longer conversation. */
export function settled(tool: ToolDefinition, random: Random): ChatMessage[] {
  const request: Request = { system: [], tool, facts: chooseFacts(tool, [], random) };
  return [
    ...carriedOut(request, (given) => spacedJson({ status: "ok", ...given }), random),
    { role: "assistant", content: random.pick(["Done.", "That is done.", "All set. Anything else?", "It worked."]) },
  ];
}

/** A request with its call, and what the tool gave back, as they stand before the reply. @param resultOf of the call's arguments */
export function carriedOut(
  { system, tool, facts }: Request,
  resultOf: (given: Readonly<Record<string, string>>) => string,
  random: Random,
): ChatMessage[] {
  const id = `call_${random.below(1_000_000)}`;
  const given = Object.fromEntries(facts.map(({ parameter, value }) => [parameter.name, value]));
  const ordered = Object.fromEntries(readParameters(tool).flatMap(({ name }) => (name in given ? [[name, given[name] ?? ""]] : [])));
  const call = { id, type: "function" as const, function: { name: tool.function.name, arguments: spacedJson(ordered) } };
  return [
    ...converse({ system, tool, facts }, random),
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: id, content: resultOf(ordered) },
  ];
}

/** Values for every required parameter and some optional ones, for one at least, in random order. */
export function chooseFacts(tool: ToolDefinition, except: readonly string[], random: Random): Fact[] {
  const others = readParameters(tool).filter(({ name }) => !except.includes(name));
  const drawn = others.filter(({ required }) => required || random.next() < OPTIONAL_SHARE);
  const chosen = drawn.length > 0 || others.length === 0 ? drawn : [random.pick(others)];
  const facts = chosen.map((parameter) => ({ parameter, value: makeValue(parameter, random) }));
  return random.shuffled(facts.filter((fact): fact is Fact => fact.value !== undefined));
}

const OPTIONAL_SHARE = 0.3;

/**
 * What the tool is for, as the tail of "I want to …". People say it in fewer words than a description, whose tail may name
 * the very argument that the user is to be silent about.
 */
export function aimOf(tool: ToolDefinition, random: Random): string {
  const described = (tool.function.description ?? "").split(/[.;\n]/)[0]?.trim() ?? "";
  const [short = ""] = described.split(/,| (?:by|in|for|with|and|at|on|using|based) /);
  const words = short === "" || random.next() < 0.5 ? humanise(tool.function.name) : short;
  return words.charAt(0).toLowerCase() + words.slice(1);
}
