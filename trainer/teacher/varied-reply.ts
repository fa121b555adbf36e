/**
 * Conversations that end, like one that was corrected, in a tool's result that is to be replied to: the same one or a request made up, and what was
 * found made anew. A reply that is only ever learned of one result has its numbers learned by heart, and tells them of every other.
 */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { findTool, parseObject } from "../../shared/speech/calls.ts";
import { mentions, wordsBy } from "../../shared/speech/mention.ts";
import { parameterOf, readParameters } from "../../shared/speech/parameters.ts";
import { isCount, readResult, repliedTool } from "../../shared/wording.ts";
import type { Random } from "../random.ts";
import type { Context, Correction } from "./contexts.ts";
import { carriedOut, chooseFacts, type Request } from "./requests.ts";
import { makeValue } from "./values.ts";

const MOST_FOUND = 20;
const MOST_LISTED = 3;
const LISTED_SHARE = 0.5;

/** What a value is made of. */
type Anew = {
  /** The call's arguments, which stand in results under the same names. */
  readonly given: Readonly<Record<string, unknown>>;
  /** What the conversation is about, and stays. */
  readonly said: string;
  /** Texts that were found under a name. */
  readonly found: ReadonlyMap<string, readonly string[]>;
  readonly random: Random;
};

/** The conversation with another result; undefined where no result comes last, or none that can be read. */
export function variedReply(context: Context, random: Random): Context | undefined {
  const { messages } = context;
  const last = messages.at(-1);
  const call = messages.findLast((message) => message.role === "assistant");
  if (last?.role !== "tool" || call?.role !== "assistant") return undefined;
  const made = call.tool_calls?.find(({ id }) => id === last.tool_call_id)?.function.arguments;
  const given = parseObject(made ?? "") ?? {};
  const content = resultAnew(last.content, { given, said: wordsBy(messages, "user"), random });
  return content === undefined ? undefined : { ...context, messages: [...messages.slice(0, -1), { ...last, content }] };
}

/** A request for the same tool, made up, with a result of the same shape; undefined as above. */
export function repliedAnew(
  { messages, tools }: Pick<Context, "messages" | "tools">,
  { tool }: Pick<Correction, "tool">,
  random: Random,
): Context | undefined {
  if (repliedTool(messages) !== tool.function.name) return undefined;
  const made = requestedAnew(messages, tool, random);
  return made === undefined ? undefined : { kind: "silent", origin: "generated", messages: made, tools, tool: tool.function.name };
}

/**
 * A request for another tool, whose result has the shape of the corrected one's, or that of a list: the reply stays as it is. What results look like
 * would be learned otherwise, and not whose they are. Undefined as above.
 */
export function repliedElsewhere(
  { messages, tools }: Pick<Context, "messages" | "tools">,
  other: ToolDefinition,
  random: Random,
): Context | undefined {
  const made = random.next() < LISTED_SHARE ? listed(messages, other, random) : requestedAnew(messages, other, random);
  const offered = findTool(tools, other.function.name) === undefined ? random.shuffled([...tools, other]) : tools;
  return made === undefined ? undefined : { kind: "other", origin: "generated", messages: made, tools: offered, tool: other.function.name };
}

/** A request for a tool with a result of the last one's shape; undefined where none can be made. */
function requestedAnew(messages: readonly ChatMessage[], tool: ToolDefinition, random: Random): ChatMessage[] | undefined {
  const last = messages.at(-1);
  if (last?.role !== "tool") return undefined;
  let content: string | undefined;
  const made = carriedOut(
    requestFor(messages, tool, random),
    (given) => (content = resultAnew(last.content, { given, said: Object.values(given).join("\n"), random })) ?? "",
    random,
  );
  return content === undefined ? undefined : made;
}

/** A request for a tool that finds so many entries, the first of which it lists. */
function listed(messages: readonly ChatMessage[], tool: ToolDefinition, random: Random): ChatMessage[] {
  const entry = (): object =>
    Object.fromEntries(readParameters(tool).map((parameter) => [parameter.name, makeValue(parameter, random) ?? "True"]));
  const results = Array.from({ length: 1 + random.below(MOST_LISTED) }, entry);
  const count = results.length + random.below(MOST_FOUND);
  return carriedOut(
    requestFor(messages, tool, random),
    (given) => spacedJson({ count, results: results.map((each) => ({ ...each, ...given })) }),
    random,
  );
}

function requestFor(messages: readonly ChatMessage[], tool: ToolDefinition, random: Random): Request {
  return { system: messages.filter(({ role }) => role === "system"), tool, facts: chooseFacts(tool, [], random) };
}

/** Some of what was found, in another order, with other values, and as many as it says; undefined where nothing was. */
function resultAnew(result: string, about: Omit<Anew, "found">): string | undefined {
  const read = readResult(result);
  if (typeof read !== "object" || read === null) return undefined;
  const anew: Anew = { ...about, found: textsIn(read) };
  if (Array.isArray(read)) return read.length === 0 ? undefined : spacedJson(someAnew(read, anew));
  let most: number | undefined;
  const entries = Object.entries(read).map(([key, value]): [string, unknown] => {
    // Beside a list stands what was asked for, and how many there are.
    if (!Array.isArray(value) || value.length === 0) return [key, givenAnew(key, value, anew) ?? value];
    const kept = someAnew(value, anew);
    most = kept.length;
    return [key, kept];
  });
  const least = most;
  if (least === undefined) return Object.values(read).some(Array.isArray) ? undefined : spacedJson(valueAnew("", read, anew));
  const { random } = about;
  const counted = entries.map(([key, value]): [string, unknown] => [
    key,
    isCount(key) && Number.isInteger(value) ? least + random.below(MOST_FOUND) : value,
  ]);
  return spacedJson(Object.fromEntries(counted));
}

function someAnew(values: readonly unknown[], anew: Anew): unknown[] {
  const { random } = anew;
  return random
    .shuffled(values)
    .slice(0, 1 + random.below(values.length))
    .map((value) => valueAnew("", value, anew));
}

function valueAnew(key: string, value: unknown, anew: Anew): unknown {
  if (Array.isArray(value)) return value.map((each) => valueAnew(key, each, anew));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, valueAnew(name, each, anew)]));
  const given = givenAnew(key, value, anew);
  if (given !== undefined) return given;
  if (typeof value === "number") return Number(digitsAnew(String(value), anew.random));
  return typeof value === "string" ? textAnew(key, value, anew) : value;
}

/** What the call has under this name, written as the result has it; undefined where it has nothing, or entries differ in it. */
function givenAnew(key: string, value: unknown, { given, found }: Anew): string | number | undefined {
  const own = Object.hasOwn(given, key) ? given[key] : undefined;
  if ((typeof own !== "string" && typeof own !== "number") || (found.get(key)?.length ?? 0) > 1) return undefined;
  const text = String(own);
  if (typeof value === "number") return text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);
  return typeof value === "string" ? text : undefined;
}

function textAnew(key: string, text: string, { said, found, random }: Anew): string {
  const parameter = parameterOf(key);
  if (text === "" || /^(?:true|false|null)$/i.test(text) || mentions(said, { parameter, value: text })) return text;
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return makeValue({ ...parameter, kind: "date" }, random) ?? text;
  if (/^\d\d:\d\d$/.test(text)) return makeValue({ ...parameter, kind: "time" }, random) ?? text;
  if (/^\P{L}*\d\P{L}*$/u.test(text)) return digitsAnew(text, random);
  return random.pick(found.get(key) ?? [text]);
}

/** Another number, written alike: `$1,339.17`, `707-448-3848`. */
function digitsAnew(text: string, random: Random): string {
  return text.replaceAll(/\d+/g, (digits) =>
    digits.replaceAll(/\d/g, (digit, index) => String(index === 0 && digit !== "0" ? 1 + random.below(9) : random.below(10))),
  );
}

/** Texts of a result by the names under which they stand, each once. */
function textsIn(read: unknown): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const collect = (key: string, value: unknown): void => {
    if (typeof value === "object" && value !== null)
      for (const [name, each] of Object.entries(value)) collect(Array.isArray(value) ? key : name, each);
    else if (typeof value === "string") found.set(key, [...new Set([...(found.get(key) ?? []), value])]);
  };
  collect("", read);
  return found;
}
