/** JSON schemas that clients send: whether they are schemas, and whether an answer can be held to them. */
import { MAX_STACKS } from "../../shared/grammar/automaton.ts";
import { isPossible, mostBeginnings, type Rule } from "../../shared/grammar/rule.ts";
import type { SchemaOptions } from "../../shared/grammar/schema.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { invalid, unsupported } from "./refuse.ts";

/** No prompt has to hold a schema, so nothing else would keep it small. Every token is tried on what is left of it. */
export const MAX_SCHEMA_CHARACTERS = 32_768; // of JSON
const MAX_REQUIRED = 1_024; // a template looks each up among the properties
const MAX_DEPTH = 32; // deeper schemas are mistakes, and recursion has to end
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

/**
 * @throws {input/invalid} naming a schema that no value fits or that has too many alternatives, {input/unsupported} naming a keyword of a strict schema that answers
 * cannot be held to
 */
export function checkEnforced(compile: (options: SchemaOptions) => Rule, { path, strict }: { path: string; strict: boolean }): void {
  const onLoose = (place: string, keyword: string, why?: string): void => {
    if (!strict) return;
    const expected = why ?? `strict schemas without ${keyword} expected`;
    throw unsupported(place, `${expected}: it cannot be enforced; change it, leave it out or set strict to false`);
  };
  const rule = compile({ path, onLoose });
  if (!isPossible(rule)) throw invalid(placeOfNone(rule, path), "a schema that some value fits expected, got one that none does");
  const alternatives = mostBeginnings(rule);
  if (alternatives > MAX_STACKS) throw invalid(path, `at most ${MAX_STACKS} alternatives at one place expected, got ${alternatives}`);
}

/** Where a rule that nothing fits has the member that nothing fits: itself, where it is no object that needs one. */
function placeOfNone(rule: Rule, path: string): string {
  if (rule.kind !== "object") return path;
  for (const name of rule.required) {
    const member = rule.members.get(name);
    if (member !== undefined && !isPossible(member)) return placeOfNone(member, `${path}.properties.${name}`);
  }
  return path;
}

/** @throws {input/invalid} naming the part that is no schema */
export function checkSchema(schema: unknown, path: string, depth = 0): void {
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) throw invalid(path, `a JSON schema expected, got ${JSON.stringify(schema)}`);
  if (depth > MAX_DEPTH) throw invalid(path, `at most ${MAX_DEPTH} levels of schema expected`);
  checkType(schema["type"], path);
  checkRequired(schema["required"], path);
  checkEnum(schema["enum"], path);
  checkBounds(schema, path);
  checkTexts(schema, path);
  for (const keyword of ["properties", "$defs", "definitions"]) checkMembers(schema[keyword], `${path}.${keyword}`, depth);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) checkAlternatives(schema[keyword], `${path}.${keyword}`, depth);
  const { items } = schema;
  // A tuple, up to draft 7.
  if (Array.isArray(items)) items.forEach((item, index) => checkSchema(item, `${path}.items.${index}`, depth + 1));
  else if (items !== undefined) checkSchema(items, `${path}.items`, depth + 1);
  for (const keyword of ["additionalItems", "additionalProperties", "not"])
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

function checkBounds(schema: Readonly<Record<string, unknown>>, path: string): void {
  for (const keyword of ["minLength", "maxLength", "minItems", "maxItems"]) {
    const value = schema[keyword];
    if (value !== undefined && !(Number.isInteger(value) && Number(value) >= 0))
      throw invalid(`${path}.${keyword}`, `a whole number from 0 expected, got ${shown(value)}`);
  }
  const { multipleOf } = schema;
  if (multipleOf !== undefined && !(Number.isFinite(multipleOf) && Number(multipleOf) > 0))
    throw invalid(`${path}.multipleOf`, `a number above 0 expected, got ${shown(multipleOf)}`);
  for (const keyword of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) {
    const value = schema[keyword];
    // A flag in draft 4 and OpenAPI 3.0.
    const flag = keyword.startsWith("exclusive") && typeof value === "boolean";
    if (value !== undefined && !flag && !Number.isFinite(value))
      throw invalid(`${path}.${keyword}`, `a number expected, got ${shown(value)}`);
  }
}

function checkTexts(schema: Readonly<Record<string, unknown>>, path: string): void {
  for (const keyword of ["pattern", "format"]) {
    const value = schema[keyword];
    if (value !== undefined && typeof value !== "string")
      throw invalid(`${path}.${keyword}`, `a text expected, got ${JSON.stringify(value)}`);
  }
}

/** JSON has no number for what `1e999` is read as. */
function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : JSON.stringify(value);
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
