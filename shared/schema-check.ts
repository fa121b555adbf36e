/**
 * Whether a call fits its tool's JSON schema: the part of JSON Schema that tool definitions use (type, enum, const, anyOf,
 * bounds of numbers and lengths, required, items, nested objects). Keywords it does not know are not checked.
 */
import { z } from "zod";
import type { ToolDefinition } from "./chat.ts";

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
  additionalProperties: z.unknown().optional(),
});
type Schema = z.infer<typeof SchemaShape>;

/** What is wrong with the arguments, one line each; empty where they fit. Undeclared arguments are wrong. */
export function checkArguments(tool: ToolDefinition, args: Readonly<Record<string, unknown>>): string[] {
  const { parameters } = tool.function;
  return parameters === undefined ? [] : checkValue(parameters, args, tool.function.name);
}

/** The same of one value. */
export function checkValue(schemaValue: unknown, value: unknown, path: string): string[] {
  const parsed = SchemaShape.safeParse(schemaValue);
  if (!parsed.success) return [];
  const schema = parsed.data;
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => TYPE_TESTS[type]?.(value) ?? true))
    return [`${path} must be ${types.join(" or ")}, got ${JSON.stringify(value)}`];
  if (schema.enum !== undefined && !schema.enum.some((allowed) => JSON.stringify(allowed) === JSON.stringify(value)))
    return [`${path} must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}, got ${JSON.stringify(value)}`];
  if (schema.const !== undefined && JSON.stringify(schema.const) !== JSON.stringify(value))
    return [`${path} must be ${JSON.stringify(schema.const)}, got ${JSON.stringify(value)}`];
  const alternatives = (schema.anyOf ?? []).map((each) => checkValue(each, value, path));
  const [nearest] = alternatives;
  if (nearest !== undefined && alternatives.every((problems) => problems.length > 0)) return nearest;
  const { measured, least = -Infinity, most = Infinity } = boundsOf(schema, value);
  if (measured < least || measured > most) return [`${path} must be within ${least} and ${most}, got ${measured}`];
  if (Array.isArray(value))
    return schema.items === undefined ? [] : value.flatMap((each, index) => checkValue(schema.items, each, `${path}[${index}]`));
  if (value !== null && typeof value === "object") return checkMembers(schema, value, path);
  return [];
}

/** Of a number itself, of a text its length; of anything else nothing is measured. */
function boundsOf(
  { minimum, maximum, minLength, maxLength }: Schema,
  value: unknown,
): { readonly measured: number; readonly least?: number | undefined; readonly most?: number | undefined } {
  if (typeof value === "number") return { measured: value, least: minimum, most: maximum };
  return typeof value === "string" ? { measured: Array.from(value).length, least: minLength, most: maxLength } : { measured: 0 };
}

function checkMembers({ properties, required = [], additionalProperties }: Schema, value: object, path: string): string[] {
  const missing = required.filter((name) => !(name in value)).map((name) => `${path}.${name} must be given, got nothing`);
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const schema = properties?.[name];
    if (schema !== undefined) return checkValue(schema, member, `${path}.${name}`);
    const open = properties === undefined || additionalProperties === true || typeof additionalProperties === "object";
    return open ? [] : [`${path} must have only declared arguments, got ${name}`];
  });
  return [...missing, ...wrong];
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
