/** Tools between what OpenAI writes and what a form shows. What a form cannot show stays JSON, so that nothing is lost by looking. */
import type { AgentTool } from "../shared/agent-tools.ts";
import { placeOf, type Located } from "./json-place.ts";

export const TYPES = ["string", "integer", "number", "boolean"] as const;

export type ParameterForm = {
  readonly name: string;
  readonly type: (typeof TYPES)[number];
  readonly description: string;
  readonly required: boolean;
  /** Comma-separated; empty where any value goes. */
  readonly choices: string;
  readonly fallback: string;
};

export type ToolForm = { readonly name: string; readonly description: string; readonly parameters: readonly ParameterForm[] };

type Property = { type?: unknown; description?: unknown; enum?: unknown; default?: unknown };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SHOWN = new Set(["type", "description", "enum", "default"]);
const SCHEMA = new Set(["type", "properties", "required"]);

/** Undefined where the tool has more than the form shows. */
export function formOf({ endpoint, function: { name, description = "", parameters, strict } }: AgentTool): ToolForm | undefined {
  const schema = parameters ?? { type: "object", properties: {} };
  if (endpoint !== undefined || strict === true || schema["type"] !== "object" || Object.keys(schema).some((key) => !SCHEMA.has(key)))
    return undefined;
  const properties = (schema["properties"] ?? {}) as Record<string, Property>;
  const required = new Set((schema["required"] ?? []) as string[]);
  const forms = Object.entries(properties).map(([own, property]) => parameterOf(own, property, required.has(own)));
  return forms.every((form) => form !== undefined) ? { name, description, parameters: forms } : undefined;
}

function parameterOf(name: string, property: Property, required: boolean): ParameterForm | undefined {
  const type = TYPES.find((each) => each === property.type);
  if (type === undefined || Object.keys(property).some((key) => !SHOWN.has(key))) return undefined;
  const choices = property.enum ?? [];
  if (!Array.isArray(choices) || choices.some((choice) => !fits(type, choice) || String(choice).includes(","))) return undefined;
  const fallback = property.default;
  if (typeof fallback === "object" || fallback === "" || (fallback !== undefined && !fits(type, fallback))) return undefined;
  const described = typeof property.description === "string" ? property.description : "";
  return {
    name,
    type,
    description: described,
    required,
    choices: choices.join(", "),
    fallback: typeof fallback === "string" ? fallback : (JSON.stringify(fallback) ?? ""),
  };
}

export function toolOf({ name, description, parameters }: ToolForm): AgentTool {
  const properties = Object.fromEntries(parameters.map((each) => [each.name, propertyOf(each)]));
  const required = parameters.filter((each) => each.required).map((each) => each.name);
  return {
    type: "function",
    function: {
      name,
      ...(description === "" ? {} : { description }),
      parameters: { type: "object", ...(required.length === 0 ? {} : { required }), properties },
    },
  };
}

function propertyOf({ type, description, choices, fallback }: ParameterForm): Property {
  const listed = choicesOf(choices);
  return {
    type,
    ...(description === "" ? {} : { description }),
    ...(listed.length === 0 ? {} : { enum: listed.map((choice) => valueOf(type, choice)) }),
    ...(fallback === "" ? {} : { default: valueOf(type, fallback) }),
  };
}

function choicesOf(choices: string): string[] {
  return choices
    .split(",")
    .map((choice) => choice.trim())
    .filter((choice) => choice !== "");
}

/** What is no value of the type stays as it was typed, and is told of by `problemsOf`. */
function valueOf(type: ParameterForm["type"], text: string): unknown {
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if (type === "string") return text;
  return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

/** What is wrong with a form, by field: `name`, or `parameters.0.name`. */
export function problemsOf(form: ToolForm): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  if (!NAME.test(form.name)) problems.set("name", "1 to 64 letters, digits, _ and - expected");
  for (const [index, { name, type, choices, fallback }] of form.parameters.entries()) {
    const at = `parameters.${index}`;
    if (name === "") problems.set(`${at}.name`, "a name expected");
    if (form.parameters.findIndex((each) => each.name === name) < index) problems.set(`${at}.name`, "another parameter has this name");
    const wrong = [...choicesOf(choices), ...(fallback === "" ? [] : [fallback])].find((value) => !fits(type, valueOf(type, value)));
    if (wrong !== undefined) problems.set(`${at}.type`, `${JSON.stringify(wrong)} is no ${type}`);
    else if (fallback !== "" && choices !== "" && !choicesOf(choices).includes(fallback))
      problems.set(`${at}.fallback`, "one of the choices expected");
  }
  return problems;
}

function fits(type: ParameterForm["type"], value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** Tools as people paste them: a request's list, a whole request, one tool, or the Responses API's flat form. */
export function readTools(located: Located): { tools: AgentTool[] } | { at: number; message: string } {
  const { value } = located;
  const inRequest = isRecord(value) && Array.isArray(value["tools"]);
  const root = inRequest ? "tools" : "";
  const listed: unknown[] = inRequest ? (value["tools"] as unknown[]) : Array.isArray(value) ? value : [value];
  const tools: AgentTool[] = [];
  for (const [index, each] of listed.entries()) {
    const path = Array.isArray(value) || inRequest ? [root, index].filter((part) => part !== "").join(".") : "";
    const wrong = (inside: string, message: string) => ({
      at: placeOf(located, [path, inside].filter((part) => part !== "").join(".")),
      message,
    });
    if (!isRecord(each)) return wrong("", 'a tool expected: {"type": "function", …}');
    if (each["type"] !== undefined && each["type"] !== "function")
      return wrong("type", '"function" expected, the only kind of tool there is here');
    const nested = isRecord(each["function"]);
    const own = nested ? (each["function"] as Record<string, unknown>) : each;
    const at = (key: string): string => (nested ? `function.${key}` : key);
    const { name, description, parameters, strict } = own;
    if (typeof name !== "string" || !NAME.test(name)) return wrong(at("name"), "name: 1 to 64 letters, digits, _ and - expected");
    if (description !== undefined && typeof description !== "string") return wrong(at("description"), "description: a text expected");
    if (parameters !== undefined && !isRecord(parameters)) return wrong(at("parameters"), "parameters: a JSON schema expected");
    if (tools.some((tool) => tool.function.name === name)) return wrong(at("name"), `name: another tool is called ${name}`);
    tools.push({
      type: "function",
      function: {
        name,
        ...(description === undefined ? {} : { description }),
        ...(parameters === undefined ? {} : { parameters }),
        ...(typeof strict === "boolean" ? { strict } : {}),
      },
      // What is in it the edge checks, and names.
      ...(isRecord(each["endpoint"]) ? { endpoint: each["endpoint"] as AgentTool["endpoint"] } : {}),
    });
  }
  return { tools };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
