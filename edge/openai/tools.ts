/** Tools of a request: names, and parameters that are a JSON schema a call can be checked against. */
import { z } from "zod";
import { ToolEndpoint, ToolSecret } from "../../shared/agent-tools.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import type { ToolChoice } from "../../shared/grammar/answer-form.ts";
import { argumentsRule } from "../../shared/grammar/calls.ts";
import { PatternBudget } from "../../shared/grammar/text/string-language.ts";
import { isNestedDeeper, MOST_LEVELS } from "../../shared/nesting.ts";
import { checkEnforced, checkSchema, MAX_SCHEMA_CHARACTERS } from "./json-schema.ts";
import { invalid } from "./refuse.ts";

const MAX_TOOLS = 128; // as the API
const TOO_MANY = `at most ${MAX_TOOLS} tools expected`;
const MAX_CHARACTERS = 8 * MAX_SCHEMA_CHARACTERS; // of the JSON of all schemas together

export const FunctionType = z.literal("function", "only function tools are supported");
export const FunctionName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or - expected");

const Tool = z.strictObject({
  type: FunctionType,
  function: z.strictObject({
    name: FunctionName,
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

/** There need not be any. */
export const AnyTools = z.array(Tool).max(MAX_TOOLS, TOO_MANY);
/** An agent's own tools, some of which the edge may run. */
export const AgentTools = z
  .array(Tool.extend({ endpoint: ToolEndpoint.extend({ secret: ToolSecret.strict().optional() }).strict().optional() }))
  .max(MAX_TOOLS, TOO_MANY);
export const Tools = AnyTools.min(1, "at least one tool expected; leave it out where there are none");

const NamedFunction = z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) });
export const AllowedMode = z.enum(["auto", "required"]);
export const ToolChoiceParameter = z.union(
  [
    z.enum(["auto", "none", "required"]),
    NamedFunction,
    z.strictObject({
      type: z.literal("allowed_tools"),
      allowed_tools: z.strictObject({ mode: AllowedMode, tools: z.array(NamedFunction).min(1).max(MAX_TOOLS, TOO_MANY) }),
    }),
  ],
  'auto, none, required, {"type": "function", "function": {"name": …}} or {"type": "allowed_tools", "allowed_tools": {"mode": …, "tools": […]}} expected',
);
type ToolChoiceParameter = z.infer<typeof ToolChoiceParameter>;

/** @throws {input/invalid} naming the part of a tool that is wrong, {input/unsupported} for a strict one that cannot be enforced */
export function checkTools(tools: readonly ToolDefinition[], place = (index: number): string => `tools.${index}.function`): void {
  checkSizes(tools, place);
  const names = new Set<string>();
  const patterns = new PatternBudget();
  tools.forEach(({ function: tool }, index) => {
    const path = place(index);
    if (names.has(tool.name)) throw invalid(`${path}.name`, `distinct names expected, got ${tool.name} twice`);
    names.add(tool.name);
    if (tool.parameters !== undefined) checkParametersSchema(tool.parameters, `${path}.parameters`);
    checkEnforced((options) => argumentsRule({ type: "function", function: tool }, { ...options, patterns }), {
      path: `${path}.parameters`,
      strict: tool.strict === true,
    });
  });
}

/** Before anything is made of them. */
function checkSizes(tools: readonly ToolDefinition[], place: (index: number) => string): void {
  let total = 0;
  tools.forEach(({ function: { name, parameters = {} } }, index) => {
    const path = `${place(index)}.parameters`;
    if (isNestedDeeper(parameters)) throw invalid(path, `at most ${MOST_LEVELS} levels of nesting expected, got more for ${name}`);
    const { length } = JSON.stringify(parameters);
    if (length > MAX_SCHEMA_CHARACTERS)
      throw invalid(path, `at most ${MAX_SCHEMA_CHARACTERS} characters of JSON expected, got ${length} for ${name}`);
    total += length;
    if (total > MAX_CHARACTERS)
      throw invalid(path, `at most ${MAX_CHARACTERS} characters of JSON for all tools together expected, got ${total} up to ${name}`);
  });
}

/** Of what can be called, what the choice leaves. @throws {input/invalid} where it allows a tool that there is none of */
export function allowedTools(choice: ToolChoiceParameter | undefined, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  if (typeof choice !== "object" || choice.type !== "allowed_tools") return tools;
  const names = new Set(choice.allowed_tools.tools.map((tool) => tool.function.name));
  for (const { function: tool } of tools) names.delete(tool.name);
  const [unknown] = names;
  if (unknown !== undefined) throw invalid("tool_choice", `names of the tools expected, got ${unknown}`);
  return tools.filter((tool) => choice.allowed_tools.tools.some((allowed) => allowed.function.name === tool.function.name));
}

/** The choice as the policy takes it: without tools nothing can be called. @throws {input/invalid} where it names no tool or there is none to choose */
export function toToolChoice(choice: ToolChoiceParameter | undefined, tools: readonly ToolDefinition[]): ToolChoice {
  if (choice === undefined || choice === "none" || choice === "auto") return tools.length === 0 ? "none" : (choice ?? "auto");
  if (tools.length === 0) throw invalid("tool_choice", "tools expected beside it, got none");
  if (typeof choice === "string") return choice;
  if (choice.type === "allowed_tools") return choice.allowed_tools.mode;
  const { name } = choice.function;
  if (tools.some((tool) => tool.function.name === name)) return { name };
  throw invalid("tool_choice", `the name of one of the tools expected, got ${name}`);
}

function checkParametersSchema(schema: Readonly<Record<string, unknown>>, path: string): void {
  if (Object.keys(schema).length > 0 && schema["type"] !== "object")
    throw invalid(path, `a JSON schema of type object expected, got type ${JSON.stringify(schema["type"]) ?? "none"}`);
  checkSchema(schema, path);
}
