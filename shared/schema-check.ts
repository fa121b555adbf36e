/**
 * Whether a call fits its tool's JSON schema: the part of JSON Schema that tool definitions use (type, enum, const, anyOf, allOf of
 * objects, bounds of numbers and lengths, required, items, nested objects). Keywords it does not know are not checked. Whatever the grammar
 * of calls lets through of those keywords fits: which members an object may have is decided by the same functions.
 */
import { z } from "zod";
import type { ToolDefinition } from "./chat.ts";
import { isOpen, isRecord, mergedAll } from "./grammar/schema-parts.ts";

const SchemaShape = z.object({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  required: z.array(z.string()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  prefixItems: z.array(z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
});
type Schema = z.infer<typeof SchemaShape>;

type Place = {
  readonly path: string;
  /** What references are read from. */
  readonly root: unknown;
  /** Whether what stands beside the schema may declare members, too. */
  readonly beside: boolean;
};

/** What is wrong with the arguments, one line each; empty where they fit. Undeclared arguments are wrong. */
export function checkArguments(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): string[] {
  const { parameters } = tool.function;
  return parameters === undefined ? [] : checkValue(parameters, args, tool.function.name);
}

/** The same of one value. */
export function checkValue(schema: unknown, value: unknown, path: string): string[] {
  return checkAt(schema, value, { path, root: schema, beside: false });
}

function checkAt(written: unknown, value: unknown, place: Place): string[] {
  const { path, root } = place;
  if (written === false) return [`${path} must be left out, got ${JSON.stringify(value)}`];
  const parsed = SchemaShape.safeParse(written);
  if (!parsed.success || !isRecord(written)) return [];
  if (value === null && written["nullable"] === true) return [];
  const whole = mergedAll(written, root);
  if (whole !== undefined) return checkAt(whole, value, place);
  const schema = parsed.data;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => TYPE_TESTS[type]?.(value) ?? true))
    return [`${path} must be ${types.join(" or ")}, got ${JSON.stringify(value)}`];
  if (schema.enum !== undefined && !schema.enum.some((allowed) => JSON.stringify(allowed) === JSON.stringify(value)))
    return [`${path} must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}, got ${JSON.stringify(value)}`];
  if (schema.const !== undefined && JSON.stringify(schema.const) !== JSON.stringify(value))
    return [`${path} must be ${JSON.stringify(schema.const)}, got ${JSON.stringify(value)}`];
  // Beside declared members an alternative speaks of some of them, and of others.
  const alternatives = (schema.anyOf ?? []).map((each) => checkAt(each, value, { path, root, beside: schema.properties !== undefined }));
  const [nearest] = alternatives;
  if (nearest !== undefined && alternatives.every((problems) => problems.length > 0)) return nearest;
  const { measured, least = -Infinity, most = Infinity } = boundsOf(schema, value);
  if (measured < least || measured > most) return [`${path} must be within ${least} and ${most}, got ${measured}`];
  if (Array.isArray(value)) {
    const { items, prefixItems: { length: first } = [] } = schema;
    return items === undefined ? [] : value.slice(first).flatMap((each, index) => checkAt(items, each, below(`[${first + index}]`, place)));
  }
  if (value === null || typeof value !== "object") return [];
  // As they were written: the shape leaves out a member of the name __proto__.
  const properties = isRecord(written["properties"]) ? written["properties"] : {};
  return checkMembers({ ...schema, properties }, value, { ...place, beside: mayHaveMore(written, place) });
}

/** Of a number itself, of a text its length; of anything else nothing is measured. */
function boundsOf(
  { minimum, maximum, minLength, maxLength }: Schema,
  value: unknown,
): { readonly measured: number; readonly least?: number | undefined; readonly most?: number | undefined } {
  if (typeof value === "number") return { measured: value, least: minimum, most: maximum };
  return typeof value === "string" ? { measured: Array.from(value).length, least: minLength, most: maxLength } : { measured: 0 };
}

/** Whether members that are not declared are for something else to judge: what stands beside the schema, its alternatives, or nobody. */
function mayHaveMore(schema: Readonly<Record<string, unknown>>, { beside }: Place): boolean {
  const ofAlternatives = schema["properties"] === undefined && ELSEWHERE.some((keyword) => schema[keyword] !== undefined);
  return beside || ofAlternatives || isOpen(schema);
}

// Where one of these stands and no members are declared, it alone says what fits.
const ELSEWHERE = ["$ref", "const", "enum", "anyOf", "oneOf", "allOf"];

/** What every object inherits is neither declared nor given. */
function checkMembers({ properties = {}, required = [], additionalProperties }: Schema, value: object, place: Place): string[] {
  const { path, beside: open } = place;
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${path}.${name} must be given, got nothing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    if (Object.hasOwn(properties, name)) return checkAt(properties[name], member, below(`.${name}`, place));
    const asked = additionalProperties !== false && required.includes(name);
    return open || asked ? [] : [`${path} must have only declared arguments, got ${name}`];
  });
  return [...missing, ...wrong];
}

function below(part: string, { path, root }: Place): Place {
  return { path: `${path}${part}`, root, beside: false };
}

const TYPE_TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  array: (value) => Array.isArray(value),
  object: (value) => value !== null && typeof value === "object" && !Array.isArray(value),
  null: (value) => value === null,
};
