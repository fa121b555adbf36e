/**
 * What a tool's JSON schema says about its parameters, reduced to what is needed to talk about them: a kind, the
 * values allowed, and words a person would use. Works from the schema alone, for any agent's tools.
 */
import { z } from "zod";
import type { ToolDefinition } from "../chat.ts";
import { checkValue } from "../schema-check.ts";
import { sameStem, wordsOf } from "./words.ts";

export type ParameterKind = "boolean" | "enum" | "number" | "date" | "time" | "place" | "person" | "text";

export type Parameter = {
  readonly name: string;
  /** The name as words: `check_in_date` → `check in date`. */
  readonly words: string;
  /** Those of them that neither the tool's name has nor another parameter's, in any form. */
  readonly ownWords: readonly string[];
  readonly description: string;
  readonly kind: ParameterKind;
  /** JSON schema type or types, as text. */
  readonly type: string;
  /** Values the schema allows, as text; empty where any is. */
  readonly allowed: readonly string[];
  readonly required: boolean;
  /** The schema's default, as text. */
  readonly fallback: string | undefined;
};

const TypeSchema = z.union([z.string(), z.array(z.string())]).optional();
const PropertySchema = z.object({
  type: TypeSchema,
  anyOf: z.array(z.object({ type: TypeSchema }).catch({})).default([]),
  description: z.string().default(""),
  enum: z.array(z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional().catch(undefined),
});
const ParametersSchema = z.object({
  properties: z.record(z.string(), PropertySchema).default({}),
  required: z.array(z.string()).default([]),
});

/** Parameters of a tool in schema order; a tool without a readable schema has none. */
export function readParameters(tool: ToolDefinition): Parameter[] {
  const parsed = ParametersSchema.safeParse(tool.function.parameters ?? {});
  if (!parsed.success) return [];
  const { properties, required } = parsed.data;
  const wordsBy = new Map([tool.function.name, ...Object.keys(properties)].map((name) => [name, wordsOf(humanise(name))]));
  return Object.entries(properties).map(([name, property]) => {
    const others = [...wordsBy].flatMap(([other, words]) => (other === name ? [] : words));
    const allowed = (property.enum ?? []).filter((value) => value !== null).map(String);
    const type = typesOf(property).join(" ");
    return {
      name,
      words: humanise(name),
      ownWords: (wordsBy.get(name) ?? []).filter((word) => !others.some((other) => sameStem(word, other))),
      description: property.description,
      type,
      kind: kindOf(name, property.description, { type, allowed }),
      allowed,
      required: required.includes(name),
      fallback: property.default === undefined ? undefined : String(property.default),
    };
  });
}

/** As the property says, or the alternatives of its `anyOf`, or what its enum's values are. */
function typesOf({ type, anyOf, enum: values = [] }: z.infer<typeof PropertySchema>): string[] {
  const said = [type ?? anyOf.flatMap((each) => each.type ?? [])].flat().filter((each) => each !== "null");
  if (said.length > 0) return said;
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  return kinds.size > 0 ? [...kinds] : ["string"];
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** The value as the parameter's type has it; undefined where the type has no such value, or no number holds it to the last digit; lists and objects included. */
export function typedValue({ type }: Pick<Parameter, "type">, value: string): string | number | boolean | undefined {
  const types = type.split(" ");
  // Nobody says "0x10"; of an integer not "1e2" either.
  const number = DECIMAL.test(value.trim()) ? Number(value) : Number.NaN;
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  if (types.includes("integer") && Number.isInteger(number) && isExact && !/e/i.test(value)) return number;
  if (types.includes("number") && Number.isFinite(number) && (isExact || /e/i.test(value))) return number;
  if (types.includes("boolean") && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  return types.includes("string") ? value : undefined;
}

/** The value as the tool's argument has it; undefined where its schema has no place for it. */
export function valueIn(
  tool: ToolDefinition,
  { parameter: name, value }: { parameter: string; value: string },
): ReturnType<typeof typedValue> {
  const declared = findParameter(tool, name);
  const typed = declared === undefined ? undefined : typedValue(declared, value);
  if (typed === undefined) return undefined;
  const { properties } = { properties: {}, ...tool.function.parameters };
  const property = Object.entries(Object(properties)).find(([key]) => key === name)?.[1];
  return checkValue(property, typed, name).length === 0 ? typed : undefined;
}

export function findParameter(tool: ToolDefinition, name: string): Parameter | undefined {
  return readParameters(tool).find((parameter) => parameter.name === name);
}

/** What a name alone tells of a value that stands under it: `rent`, `visit_date`. */
export function parameterOf(name: string): Parameter {
  const kind = kindOf(name, "", { type: "string", allowed: [] });
  const words = humanise(name);
  const ownWords = wordsOf(words);
  return { name, words, ownWords, description: "", kind, type: "string", allowed: [], required: false, fallback: undefined };
}

/** Whether a value by itself tells that this parameter of the tool is meant: an option does, and the only place, but not one of two dates. */
export function isPlain(tool: ToolDefinition, { name, kind }: Parameter): boolean {
  return kind === "enum" || readParameters(tool).every((other) => other.name === name || other.kind !== kind);
}

/** `SearchOnewayFlight` and `search_oneway_flight` → `search oneway flight`. */
export function humanise(identifier: string): string {
  return identifier
    .replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ")
    .replace(/[_\-.]+/g, " ")
    .trim()
    .toLowerCase();
}

/** Closed list in order of precedence: the first row that fits the name, or else the description, names the kind. */
const KIND_RULES: readonly (readonly [ParameterKind, RegExp])[] = [
  ["number", /\b(number|count|amount|quantity|how many|size of|length of stay|days|age)\b/],
  ["date", /\b(date|day|when)\b/],
  ["time", /\btime\b/],
  ["place", /\b(city|location|area|place|destination|origin|town|airport|station|address|where)\b/],
  ["person", /\b(recipient|person|contact|actor|director|artist|guest|passenger name|starring)\b/],
];

/** "Until, HH:MM": a description that ends in the one form in which values are written. */
const FORM_RULES: readonly (readonly [ParameterKind, RegExp])[] = [
  ["date", /(?:^|[ ,(])YYYY-MM-DD\W*$/i],
  ["time", /(?:^|[ ,(])HH:MM\W*$/i],
];
const FORMS = /\b(?:YYYY|HH:MM|DD|duration|length|offset)\b/gi;

function kindOf(name: string, description: string, { type, allowed }: { type: string; allowed: readonly string[] }): ParameterKind {
  if (/boolean/.test(type) || isTruthPair(allowed)) return "boolean";
  if (allowed.length > 0) return "enum";
  if (/integer|number/.test(type)) return "number";
  const byName = KIND_RULES.find(([, pattern]) => pattern.test(humanise(name)));
  const byForm =
    description.replace(/YYYY-MM-DD/i, "YYYY").match(FORMS)?.length === 1
      ? FORM_RULES.find(([, pattern]) => pattern.test(description))
      : undefined;
  const rule = byName ?? byForm ?? KIND_RULES.find(([, pattern]) => pattern.test(description.toLowerCase()));
  return rule?.[0] ?? "text";
}

function isTruthPair(allowed: readonly string[]): boolean {
  const truths = new Set(["true", "false"]);
  const known = allowed.filter((value) => value.toLowerCase() !== "dontcare");
  return known.length > 0 && known.every((value) => truths.has(value.toLowerCase()));
}
