/** Tools of a request: names, and parameters that are a JSON schema a call can be checked against. */
import { z } from "zod";
import type { ToolDefinition } from "../../shared/chat.ts";
import type { ToolChoice } from "../policy/completer.ts";
import { invalid, unsupported } from "./refuse.ts";

const MAX_TOOLS = 128; // as the API
const MAX_REQUIRED = 1_024; // a template looks each up among the properties
const MAX_DEPTH = 32; // deeper schemas are mistakes, and recursion has to end
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

const Tool = z.strictObject({
  type: z.literal("function", "only function tools are supported"),
  function: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or - expected"),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

/** An agent's own tools; there need not be any. */
export const AgentTools = z.array(Tool).max(MAX_TOOLS, `at most ${MAX_TOOLS} tools expected`);
export const Tools = AgentTools.min(1, "at least one tool expected; leave it out where there are none");

export const ToolChoiceParameter = z.union(
  [z.enum(["auto", "none", "required"]), z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) })],
  'auto, none, required or {"type": "function", "function": {"name": …}} expected',
);

/** @throws {input/invalid} naming the part of a tool that is wrong, {input/unsupported} for strict schemas */
export function checkTools(tools: readonly ToolDefinition[]): void {
  const names = new Set<string>();
  tools.forEach(({ function: tool }, index) => {
    const path = `tools.${index}.function`;
    if (names.has(tool.name)) throw invalid(`${path}.name`, `distinct names expected, got ${tool.name} twice`);
    names.add(tool.name);
    if (tool.strict === true) throw unsupported(`${path}.strict`, "strict schemas are not enforced; leave it out or set it to false");
    if (tool.parameters !== undefined) checkParametersSchema(tool.parameters, `${path}.parameters`);
  });
}

/** The choice as the policy takes it: without tools nothing can be called. @throws {input/invalid} where it names no tool or there is none to choose */
export function toToolChoice(choice: z.infer<typeof ToolChoiceParameter> | undefined, tools: readonly ToolDefinition[]): ToolChoice {
  if (choice === undefined || choice === "none" || choice === "auto") return tools.length === 0 ? "none" : (choice ?? "auto");
  if (tools.length === 0) throw invalid("tool_choice", "tools expected beside it, got none");
  if (typeof choice === "string") return choice;
  const { name } = choice.function;
  if (tools.some((tool) => tool.function.name === name)) return { name };
  throw invalid("tool_choice", `the name of one of the tools expected, got ${name}`);
}

function checkParametersSchema(schema: Readonly<Record<string, unknown>>, path: string): void {
  if (Object.keys(schema).length > 0 && schema["type"] !== "object")
    throw invalid(path, `a JSON schema of type object expected, got type ${JSON.stringify(schema["type"]) ?? "none"}`);
  checkSchema(schema, path, 0);
}

function checkSchema(schema: unknown, path: string, depth: number): void {
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) throw invalid(path, `a JSON schema expected, got ${JSON.stringify(schema)}`);
  if (depth > MAX_DEPTH) throw invalid(path, `at most ${MAX_DEPTH} levels of schema expected`);
  checkType(schema["type"], path);
  checkRequired(schema["required"], path);
  checkEnum(schema["enum"], path);
  for (const keyword of ["properties", "$defs", "definitions"]) checkMembers(schema[keyword], `${path}.${keyword}`, depth);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) checkAlternatives(schema[keyword], `${path}.${keyword}`, depth);
  for (const keyword of ["items", "additionalProperties", "not"])
    if (schema[keyword] !== undefined) checkSchema(schema[keyword], `${path}.${keyword}`, depth + 1);
}

function checkType(type: unknown, path: string): void {
  if (type === undefined || TYPES.has(type)) return;
  if (Array.isArray(type) && type.length > 0 && type.every((each) => TYPES.has(each))) return;
  throw invalid(`${path}.type`, `one of ${[...TYPES].join(", ")} expected, got ${JSON.stringify(type)}`);
}

function checkRequired(required: unknown, path: string): void {
  if (required === undefined) return;
  if (Array.isArray(required) && required.every((name) => typeof name === "string")) {
    if (required.length > MAX_REQUIRED) throw invalid(`${path}.required`, `at most ${MAX_REQUIRED} names expected, got ${required.length}`);
    return;
  }
  throw invalid(`${path}.required`, `a list of property names expected, got ${JSON.stringify(required)}`);
}

function checkEnum(values: unknown, path: string): void {
  if (values === undefined || (Array.isArray(values) && values.length > 0)) return;
  throw invalid(`${path}.enum`, `a list of values expected, got ${JSON.stringify(values)}`);
}

function checkMembers(members: unknown, path: string, depth: number): void {
  if (members === undefined) return;
  if (!isRecord(members)) throw invalid(path, `an object of JSON schemas expected, got ${JSON.stringify(members)}`);
  for (const [name, member] of Object.entries(members)) checkSchema(member, `${path}.${name}`, depth + 1);
}

function checkAlternatives(alternatives: unknown, path: string, depth: number): void {
  if (alternatives === undefined) return;
  if (!Array.isArray(alternatives) || alternatives.length === 0)
    throw invalid(path, `a list of JSON schemas expected, got ${JSON.stringify(alternatives)}`);
  alternatives.forEach((alternative, index) => checkSchema(alternative, `${path}.${index}`, depth + 1));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
