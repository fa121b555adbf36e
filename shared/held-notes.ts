/**
 * Notes that an answer passes over. A note is a default that stands where nobody has said otherwise; a small policy that reads it may
 * forget it all the same. Then its answer is held to it by the grammar, and the rest stays the policy's own: an argument has
 * its value, of two tools only the one can be called, a call that the user is to be asked about becomes the question, or has to be made, and
 * a reply is its own, worded otherwise.
 */
import { ASK_FIRST, ASK_NEVER, isAspect } from "./aspects.ts";
import { agreedCall, hasAgreedTo, wasAskedAbout } from "./agreed-calls.ts";
import { asks, asksAbout, isAllSaid, questionAbout } from "./asking.ts";
import type { ChatMessage, ToolDefinition } from "./chat.ts";
import type { HeldForm } from "./grammar/answer-form.ts";
import type { Note } from "./note.ts";
import { argumentText, findTool, sameText, wasMade } from "./speech/calls.ts";
import { choosesTool, requestOf, wordsBy } from "./speech/mention.ts";
import { findParameter, readParameters, valueIn } from "./speech/parameters.ts";
import { writtenForm } from "./speech/spoken.ts";
import { isLeftOpen, isTurnedDown, mayBeMeant, wasNamed } from "./speech/given.ts";
import { isCountOfAnother } from "./speech/numbers.ts";
import { countInvented, countNamed, isReplyAspect, resultsOf, totalIn, worded } from "./wording.ts";
import { askedOption, type Heard, type WrittenAnswer } from "./yielding.ts";

/** What an answer is held to: a note, or a default that a version has learned. */
export type Held = Pick<Note, "tool" | "parameter" | "value">;
type WrittenCall = NonNullable<WrittenAnswer["call"]>;
/** What an answer says: its calls that can be read, and its text. */
export type Said = { readonly calls: readonly WrittenCall[]; readonly text: string };
/** What an answer may be: the tools, the choice among them, and its text. */
export type Sayable = Pick<HeldForm, "toolChoice" | "responseFormat"> & { readonly tools: readonly ToolDefinition[] };
/** The same under a hold. `once`: a tool has what one answer called, and no other will want its grammar. */
type HeldAnswer = Sayable & { readonly once: boolean };

/** Whether a note may decide what it is about: who asks for a call, for none or for JSON gets that. */
export function mayHold(
  { parameter }: Pick<Held, "parameter">,
  { toolChoice, responseFormat }: Pick<HeldForm, "toolChoice" | "responseFormat">,
): boolean {
  if (parameter === "@tool") return toolChoice === "auto" || toolChoice === "required";
  if (isReplyAspect(parameter)) return (toolChoice === "auto" || toolChoice === "none") && responseFormat.type === "text";
  return parameter !== "@ask" || (toolChoice === "auto" && responseFormat.type === "text");
}

/**
 * Whether an answer does otherwise than the note has it, although nobody said so.
 * @param said.unread the call of the policy that does not read the note: where it leaves the argument out, whatever else the answer has there was made up
 */
export function passesOver(
  note: Held & Partial<Pick<Note, "corrected">>,
  { calls, text, heard, unread }: Said & { heard: Heard; unread?: WrittenCall | undefined },
): boolean {
  const { tool, parameter, value } = note;
  if (isReplyAspect(parameter)) return calls.length === 0 && text !== "" && reworded([note], { text, heard }) !== text;
  if (!isAspect(parameter)) {
    const unfilled = leavesOut(note, { call: unread }) ? unread : undefined;
    const used = passedFor(note, { call: calls[0], heard, unread: unfilled });
    return used !== undefined && (unfilled !== undefined || isMadeUp(used, [note.corrected ?? undefined]));
  }
  if (parameter === "@tool") return calls[0]?.name === tool && !choosesTool(wordsBy(requestOf(heard.messages), "user"), tool);
  if (value === ASK_FIRST) return unaskedCalls([note], { calls, heard }).length > 0 || isAgreed(tool, { calls, heard });
  // What is told of the call's own result is no question about it ("Aria is confirmed for two.").
  const isDue = findTool(heard.tools, tool) !== undefined && resultsOf(heard.messages, tool).length === 0;
  return value === ASK_NEVER && isDue && calls.length === 0 && asks(text);
}

/** The reply as the notes have it of what it replies to, itself where they say nothing of that. */
export function reworded(
  notes: readonly Held[],
  { text, heard: { messages } }: Pick<Said, "text"> & { heard: Pick<Heard, "messages"> },
): string {
  const rules = notes.filter((note) => wordsReply(note, { messages }));
  const tools = [...new Set(rules.map(({ tool }) => tool))];
  return rules.length === 0 ? text : worded(text, { rules, results: tools.flatMap((tool) => resultsOf(messages, tool)) });
}

/**
 * Whether a reply that was worded in freedom is as the note has it, and as good as the one in whose place it is: it names as much of what was found as
 * that one does, held to the note, and has no number that nobody gave unless that had one.
 */
export function isWorded(note: Held, { before, after, heard }: { before: Said; after: Said; heard: Heard }): boolean {
  if (after.calls.length > 0 || after.text === "" || reworded([note], { text: after.text, heard }) !== after.text) return false;
  const results = resultsOf(heard.messages, note.tool);
  const held = reworded([note], { text: before.text, heard });
  if (countNamed(after.text, results) < Math.min(countNamed(before.text, results), countNamed(held, results))) return false;
  const given = [...heard.messages.map(({ content }) => content ?? ""), String(totalIn(results) ?? "")];
  return countInvented(after.text, given) <= countInvented(before.text, given);
}

/** Whether an answer to this conversation would be a reply that the note words. */
export function wordsReply({ tool, parameter }: Held, { messages }: Pick<Heard, "messages">): boolean {
  return isReplyAspect(parameter) && resultsOf(messages, tool).length > 0;
}

/** What a call has in the place of a default; `isOfAnother`: a number that the user said of another argument. */
export type Passed = { readonly value: string | undefined; readonly isCommon: boolean; readonly isOfAnother: boolean };

/** Whether a policy calls the note's tool and leaves its argument out. */
export function leavesOut({ tool, parameter }: Pick<Held, "tool" | "parameter">, { call }: Pick<WrittenAnswer, "call">): boolean {
  return call?.name === tool && call.arguments[parameter] === undefined;
}

/** Whether that was made up, by itself: of numbers and truths only what the default was learned in the place of. */
export function isMadeUp({ value, isCommon }: Passed, corrected: readonly (string | undefined)[]): boolean {
  return !isCommon || corrected.includes(value);
}

/**
 * What the call of a default's tool has in the place of its value although nobody named it, `value` undefined where nothing, and nobody asks for
 * another option; undefined where the default is used, or somebody spoke. Numbers and truths are said in words that none of them stands in ("for a
 * couple", "my wife and me"): of such a common value that it was not named proves little.
 * @param said.unread the same call as it is made by who does not read the note: what it takes a word for, that was said of
 */
export function passedFor(
  { tool, parameter, value }: Held,
  { call, heard: { messages, tools }, unread }: { call: WrittenCall | undefined; heard: Heard; unread?: WrittenCall | undefined },
): Passed | undefined {
  const owner = findTool(tools, tool);
  const declared = owner === undefined ? undefined : findParameter(owner, parameter);
  if (call?.name !== tool || owner === undefined || declared === undefined) return undefined;
  // Tools change: what the schema has no place for any more cannot be held.
  if (valueIn(owner, { parameter, value }) === undefined) return undefined;
  const own = call.arguments[parameter];
  const asked = askedOption({ tool, parameter }, { args: call.arguments, heard: { messages, tools } });
  if ((asked !== undefined && asked !== value) || isTurnedDown(messages, { parameter: declared, value })) return undefined;
  if (own === undefined)
    return sameText(declared.fallback ?? "", value) || isLeftOpen(messages, declared)
      ? undefined
      : { value: undefined, isCommon: false, isOfAnother: false };
  const used = argumentText(own);
  const said = { parameter: declared, value: used, args: { ...unread?.arguments, ...call.arguments } };
  if (sameText(used, value)) return undefined;
  if (isCountOfAnother(messages, { ...said, parameters: readParameters(owner) }))
    return { value: used, isCommon: false, isOfAnother: true };
  if (wasNamed(messages, said) || mayBeMeant(messages, said)) return undefined;
  return { value: used, isCommon: writtenForm(used) === "number" || declared.kind === "boolean", isOfAnother: false };
}

/** The calls, wherever in the answer, of tools about which the user is to be asked first and was not. */
function unaskedCalls(notes: readonly Held[], { calls, heard }: Pick<Said, "calls"> & { heard: Heard }): WrittenCall[] {
  return calls.filter((call) => {
    const tool = findTool(heard.tools, call.name);
    const asks = notes.some((note) => note.tool === call.name && asksFirst(note));
    return asks && tool !== undefined && !wasAskedAbout(heard.messages, { tool, call });
  });
}

/** Whether the call that the user was asked about is due, and is not made: a small policy may ask once more, or word it anew. */
function isAgreed(name: string, { calls, heard }: Pick<Said, "calls"> & { heard: Heard }): boolean {
  const tool = findTool(heard.tools, name);
  if (tool === undefined || !hasAgreedTo(heard.messages, tool)) return false;
  return calls.every((call) => call.name === name && !wasAskedAbout(heard.messages, { tool, call }));
}

/** Whether a note wants a call made without a question before it. */
export function asksNever({ parameter, value }: Pick<Held, "parameter" | "value">): boolean {
  return parameter === "@ask" && value === ASK_NEVER;
}

/** Whether a note wants the user asked before a call is made. */
export function asksFirst({ parameter, value }: Pick<Held, "parameter" | "value">): boolean {
  return parameter === "@ask" && value === ASK_FIRST;
}

/**
 * Whether what was written under a hold may go out in the place of `before`: a call of the same tool, or of the one in its place; a
 * question about the calls that were to be made, and the call once the user has agreed to it; the call that was asked about, with nothing in
 * it that nobody has said; the reply, worded as it is to be.
 * @param options.cut a question or a reply counts that was cut short, by the room or by a client's own words to stop at: it asks all the same
 */
export function standsIn(
  notes: readonly Held[],
  { before, after, heard, cut = false }: { before: Said; after: Said; heard: Heard; cut?: boolean },
): boolean {
  const [call, made] = [before.calls[0], after.calls[0]];
  if (notes.some((note) => wordsReply(note, heard)))
    return made === undefined && isText(after.text, { text: reworded(notes, { text: before.text, heard }), cut });
  const asking = findAsking(notes, { before, heard });
  if (asking === undefined) {
    const replaced = notes.find(({ parameter, tool }) => parameter === "@tool" && tool === call?.name);
    return made !== undefined && made.name === (replaced?.value ?? call?.name);
  }
  const tool = findTool(heard.tools, asking.tool);
  if (tool === undefined) return false;
  if (asksFirst(asking) && isAgreed(asking.tool, { calls: before.calls, heard }))
    return made?.name === asking.tool && wasAskedAbout(heard.messages, { tool, call: made });
  if (asksFirst(asking)) {
    const question = questionAbout(unaskedCalls(notes, { calls: before.calls, heard }));
    return made === undefined && isText(after.text, { text: question, cut });
  }
  if (made?.name !== asking.tool || !asksAbout(before.text, { tool, call: made }) || wasMade(heard.messages, made)) return false; // nothing is booked a second time without a question
  // What the question repeats counts as said: the policy has understood it so.
  const said: ChatMessage[] = [...heard.messages, { role: "assistant", content: before.text }];
  return isWhole(tool, made.arguments) && isAllSaid(said, { tool, call: made });
}

function isText(said: string, { text, cut }: { text: string; cut: boolean }): boolean {
  const begun = said.replace(/\uFFFD+$/, "");
  return said === text || (cut && begun !== "" && text.startsWith(begun));
}

/** What an answer is held to in the place of `before`; of several choices the first note's. A value that a schema has no place for is not held. */
export function holdTo(
  notes: readonly Held[],
  { tools, toolChoice, responseFormat }: Sayable,
  { before, heard }: { before: Said; heard: Heard },
): HeldAnswer {
  const about = (tool: ToolDefinition): Held[] => notes.filter((note) => note.tool === tool.function.name && !isAspect(note.parameter));
  const calls = callsOf(tools, (tool) => (about(tool).length === 0 ? undefined : onlyCall(tool, before)));
  const held = tools.map((tool) => about(tool).reduce((shown, note) => holdArgument(shown, note, tool), asCalled(tool, calls)));
  const free = { tools: held, once: calls.size > 0 };
  if (notes.some((note) => wordsReply(note, heard)))
    return { ...free, toolChoice: "none", responseFormat: { type: "exact", text: reworded(notes, { text: before.text, heard }) } };
  const asking = findAsking(notes, { before, heard });
  const replaced = notes.find(({ parameter }) => parameter === "@tool");
  if (asking !== undefined && asksFirst(asking)) {
    if (isAgreed(asking.tool, { calls: before.calls, heard })) return { ...holdAgreed(asking.tool, { tools, heard }), responseFormat };
    const question = questionAbout(unaskedCalls(notes, { calls: before.calls, heard }));
    return { ...free, toolChoice: "none", responseFormat: { type: "exact", text: question } };
  }
  const named = asking?.tool ?? replaced?.value;
  return { ...free, toolChoice: named === undefined ? toolChoice : { name: named }, responseFormat };
}

/** The note that decides whether the answer asks: what was agreed to comes before further questions. */
function findAsking(notes: readonly Held[], { before: { calls }, heard }: { before: Said; heard: Heard }): Held | undefined {
  const asking = notes.filter(({ parameter }) => parameter === "@ask");
  return asking.find((note) => asksFirst(note) && isAgreed(note.tool, { calls, heard })) ?? asking[0];
}

/** The call as it was spelled out and agreed to, where that can be told; else a call of the tool. */
function holdAgreed(
  name: string,
  { tools, heard }: { tools: readonly ToolDefinition[]; heard: Heard },
): Pick<HeldAnswer, "tools" | "once" | "toolChoice"> {
  const calls = callsOf(tools, (tool) => (tool.function.name === name ? agreedCall(heard.messages, tool) : undefined));
  return { tools: tools.map((tool) => asCalled(tool, calls)), once: calls.size > 0, toolChoice: { name } };
}

type Calls = ReadonlyMap<ToolDefinition, WrittenCall>;

function callsOf(tools: readonly ToolDefinition[], callOf: (tool: ToolDefinition) => WrittenCall | undefined): Calls {
  return new Map(
    tools.flatMap((tool) => {
      const call = callOf(tool);
      return call === undefined ? [] : [[tool, call]];
    }),
  );
}

/**
 * How the answer calls the tool, so that only what is held changes: where its grammar lets a small policy fill more, it does. Undefined of several calls, of
 * lists and objects, and of numbers that are not written as they were read: there the tool stays as it is.
 */
function onlyCall(tool: ToolDefinition, { calls }: Said): WrittenCall | undefined {
  const [call, ...more] = calls.filter(({ name }) => name === tool.function.name);
  return call !== undefined && more.length === 0 && Object.values(call.arguments).every(isWrittenAlike) ? call : undefined;
}

function isWrittenAlike(value: unknown): boolean {
  if (typeof value === "number") return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  return typeof value !== "object";
}

/** The tool for which no call but this one fits, where it has one. */
function asCalled(tool: ToolDefinition, calls: Calls): ToolDefinition {
  const call = calls.get(tool);
  if (call === undefined) return tool;
  const properties = Object.fromEntries(Object.entries(call.arguments).map(([key, value]) => [key, { enum: [value] }]));
  const parameters = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return { ...tool, function: { ...tool.function, parameters } };
}

/** @param declared says of which type the value is */
function holdArgument(tool: ToolDefinition, { parameter: name, value }: Held, declared: ToolDefinition): ToolDefinition {
  const typed = valueIn(declared, { parameter: name, value });
  if (typed === undefined) return tool;
  const { parameters } = tool.function;
  const { properties, required } = { properties: {}, required: [], ...parameters };
  const held = { ...Object(properties), [name]: { enum: [typed] } };
  const needed = [...new Set([...(Array.isArray(required) ? required : []), name])];
  return { ...tool, function: { ...tool.function, parameters: { ...parameters, properties: held, required: needed } } };
}

/** Whether a call has all that its tool needs. */
export function isWhole(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): boolean {
  return readParameters(tool).every(({ name, required }) => !required || args[name] !== undefined);
}
