/**
 * Notes that an answer passes over. A note is a default that stands where nobody has said otherwise; a small policy that reads it may
 * forget it all the same. Then its answer is held to it by the grammar, and the rest stays the policy's own: an argument has
 * its value, of two tools only the one can be called, a tool cannot be called before the user was asked, or has to be.
 */
import { ASK_FIRST, ASK_NEVER, isAspect } from "./aspects.ts";
import { asks, asksAbout, isAllSaid, wasAskedAbout } from "./asking.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import type { AnswerForm, ToolChoice } from "./grammar/answer-form.ts";
import type { Note } from "./note.ts";
import { argumentText, findTool } from "./speech/calls.ts";
import { choosesTool, wasNamed, wordsBy } from "./speech/mention.ts";
import { findParameter, readParameters, typedValue } from "./speech/parameters.ts";
import type { Heard, WrittenAnswer } from "./yielding.ts";

type Held = Pick<Note, "tool" | "parameter" | "value">;
/** What an answer says: its first call, or its text. */
export type Said = Pick<WrittenAnswer, "call"> & { readonly text: string };
/** What the tools and the choice among them are when an answer is written. */
export type Callable = { readonly tools: readonly ToolDefinition[]; readonly toolChoice: ToolChoice };

/** Whether a note may decide what it is about: who asks for a call, for none or for JSON gets that. */
export function mayHold(
  { parameter }: Pick<Held, "parameter">,
  { toolChoice, responseFormat }: Pick<AnswerForm, "toolChoice" | "responseFormat">,
): boolean {
  if (parameter === "@tool") return toolChoice === "auto" || toolChoice === "required";
  return parameter !== "@ask" || (toolChoice === "auto" && responseFormat.type === "text");
}

/** Whether an answer does otherwise than the note has it, although nobody said so. */
export function passesOver(note: Held & Pick<Note, "corrected">, { call, text, heard }: Said & { heard: Heard }): boolean {
  if (!isAspect(note.parameter)) return passesOverArgument(note, { call, heard });
  const { tool, parameter, value } = note;
  const words = wordsBy(heard.messages.slice(lastRequest(heard)), "user");
  if (parameter === "@tool") return call?.name === tool && !choosesTool(words, tool);
  const owner = findTool(heard.tools, tool);
  if (owner === undefined) return false;
  if (value === ASK_FIRST) return call?.name === tool && !wasAskedAbout(heard.messages, { tool: owner, call });
  return value === ASK_NEVER && call === undefined && asks(text);
}

/** Whether the call of a note's tool leaves its argument out, or has what the note corrects although nobody said that. */
function passesOverArgument(
  { tool, parameter, value, corrected }: Held & Pick<Note, "corrected">,
  { call, heard: { messages, tools } }: Pick<Said, "call"> & { heard: Heard },
): boolean {
  const owner = findTool(tools, tool);
  const declared = owner === undefined ? undefined : findParameter(owner, parameter);
  if (call?.name !== tool || declared === undefined) return false;
  const own = call.arguments[parameter];
  if (own === undefined) return declared.fallback !== value;
  const used = argumentText(own);
  return used === corrected && used !== value && !wasNamed(messages, { parameter: declared, value: used, args: call.arguments });
}

/**
 * Whether what was written under a hold may go out in the place of `before`: a call of the same tool, or of the one in its place; a
 * question about the call that was to be made; the call that was asked about, with nothing in it that nobody has said.
 */
export function standsIn(notes: readonly Held[], { before, after, heard }: { before: Said; after: Said; heard: Heard }): boolean {
  const { call } = before;
  const asking = notes.find(({ parameter }) => parameter === "@ask");
  if (asking === undefined) {
    const replaced = notes.find(({ parameter, tool }) => parameter === "@tool" && tool === call?.name);
    return after.call !== undefined && after.call.name === (replaced?.value ?? call?.name);
  }
  const tool = findTool(heard.tools, asking.tool);
  if (tool === undefined) return false;
  if (asking.value === ASK_FIRST) return call !== undefined && after.call === undefined && asksAbout(after.text, { tool, call });
  const made = after.call;
  if (made?.name !== asking.tool || !asksAbout(before.text, { tool, call: made })) return false;
  // What the question repeats counts as said: the policy has understood it so.
  const said: ChatMessage[] = [...heard.messages, { role: "assistant", content: before.text }];
  return isWhole(tool, made.arguments) && isAllSaid(said, { tool, call: made });
}

/** The tools and the choice as an answer is held to them. A value that a schema has no place for is not held. */
export function holdTo(notes: readonly Held[], { tools, toolChoice }: Callable): Callable {
  const held = tools.map((tool) =>
    notes.filter((note) => note.tool === tool.function.name && !isAspect(note.parameter)).reduce(holdArgument, tool),
  );
  const asking = notes.find(({ parameter }) => parameter === "@ask");
  const replaced = notes.find(({ parameter }) => parameter === "@tool");
  if (asking !== undefined) return { tools: held, toolChoice: asking.value === ASK_FIRST ? "none" : { name: asking.tool } };
  return { tools: held, toolChoice: replaced === undefined ? toolChoice : { name: replaced.value } };
}

function holdArgument(tool: ToolDefinition, { parameter: name, value }: Held): ToolDefinition {
  const declared = findParameter(tool, name);
  const typed = declared === undefined ? undefined : typedValue(declared, value);
  if (declared === undefined || typed === undefined) return tool;
  if (declared.allowed.length > 0 && !declared.allowed.includes(value)) return tool;
  const { parameters } = tool.function;
  const { properties, required } = { properties: {}, required: [], ...parameters };
  const held = { ...Object(properties), [name]: { enum: [typed] } };
  const needed = [...new Set([...(Array.isArray(required) ? required : []), name])];
  return { ...tool, function: { ...tool.function, parameters: { ...parameters, properties: held, required: needed } } };
}

function isWhole(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): boolean {
  return readParameters(tool).every(({ name, required }) => !required || args[name] !== undefined);
}

/** Where the messages begin that the answer is to: after the last call that was made. */
function lastRequest({ messages }: Heard): number {
  return 1 + messages.findLastIndex((message) => message.role === "assistant" && (message.tool_calls ?? []).length > 0);
}
