/**
 * Notes that an answer passes over. A note is a default that stands where nobody has said otherwise; a small policy that reads it may
 * forget it all the same. Then its argument is held in the grammar of the call, and the rest of the answer stays the policy's own.
 */
import type { ToolDefinition } from "./chat.ts";
import type { Note } from "./note.ts";
import { argumentText, findTool } from "./speech/calls.ts";
import { wasNamed } from "./speech/mention.ts";
import { findParameter, typedValue } from "./speech/parameters.ts";
import type { Heard, WrittenAnswer } from "./yielding.ts";

type Held = Pick<Note, "tool" | "parameter" | "value">;

/** Whether the call of a note's tool leaves its argument out, or has what the note corrects although nobody said that. */
export function passesOver(
  { tool, parameter, value, corrected }: Held & Pick<Note, "corrected">,
  { call, heard: { messages, tools } }: Pick<WrittenAnswer, "call"> & { heard: Heard },
): boolean {
  const owner = findTool(tools, tool);
  const declared = owner === undefined ? undefined : findParameter(owner, parameter);
  if (call?.name !== tool || declared === undefined) return false;
  const own = call.arguments[parameter];
  if (own === undefined) return declared.fallback !== value;
  const used = argumentText(own);
  return used === corrected && used !== value && !wasNamed(messages, { parameter: declared, value: used, args: call.arguments });
}

/** The tools as an answer is held to them: arguments of the notes have their values and cannot be left out. A value that a schema has no place for is not held. */
export function holdArguments(tools: readonly ToolDefinition[], notes: readonly Held[]): ToolDefinition[] {
  return tools.map((tool) => notes.filter((note) => note.tool === tool.function.name).reduce(holdArgument, tool));
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
