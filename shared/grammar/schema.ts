/**
 * JSON schema → rule. What the rule lets through fits the schema but for keywords that no rule can hold a text to, such as
 * `uniqueItems`; `onLoose` is told of each. Draft 2020-12 with what older drafts and OpenAPI write (json-schema.org/draft/2020-12).
 * An object with declared properties has no others unless something says so: what a tool does not declare it does not understand.
 */
import { AppError } from "../errors.ts";
import { spacedJson } from "../spaced-json.ts";
import { schemasOfName } from "./name-patterns.ts";
import { either, literals, named, type NamedRule, NOTHING, type Rule, settle } from "./rule.ts";
import {
  ANNOTATIONS,
  ENFORCED,
  isOpen,
  isRecord,
  isSame,
  kindOf,
  mergedAll,
  metTypes,
  resolvePointer,
  type Schema,
  typesOfAll,
} from "./schema-parts.ts";
import { numberOf, numberRule, stringRule } from "./schema-values.ts";
import { PatternBudget } from "./text/string-language.ts";

export type SchemaOptions = {
  /** Where the schema stands, for messages. */
  readonly path: string;
  /** Told of every keyword that is not enforced, with its path, and why where that depends on its value. */
  readonly onLoose?: (path: string, keyword: string, why?: string) => void;
  /** What the patterns may take, where there are other schemas beside this one. */
  readonly patterns?: PatternBudget;
};

type Place = { readonly path: string; readonly scope: Scope };
type Scope = {
  readonly root: unknown;
  readonly named: Map<string, NamedRule>;
  /** Of each schema with an `allOf`: its parts may hold each other, and stand in many places. */
  readonly ofParts: Map<Schema, NamedRule>;
  /** Schemas that took on the type beside them, by it: one for each, so that `ofParts` knows them again. */
  readonly typed: Map<Schema, Map<string, Schema | false>>;
  /** Names that are still to be compiled: one after the other, as a chain of them may be long. */
  readonly waiting: (() => void)[];
  readonly loose: (path: string, keyword: string, why?: string) => void;
  readonly patterns: PatternBudget;
};

const TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;
const MOST_NAMES = 1_000;
// In the order in which they count where several stand in one schema.
const SHAPES = ["properties", "items", "$ref", "const", "enum", "anyOf", "oneOf", "allOf"] as const;

/** Any JSON value. */
export const ANY: NamedRule = named("any");
ANY.stands(
  either([
    { kind: "object", members: new Map(), required: new Set(), rest: ANY },
    { kind: "array", items: ANY, minItems: 0, maxItems: Infinity },
    { kind: "string", minLength: 0, maxLength: Infinity },
    { kind: "number", integer: false, range: undefined },
    literals(["true", "false", "null"]),
  ]),
);

/** The rule of values that fit `schema`. */
export function compileSchema(schema: unknown, { path, onLoose, patterns = new PatternBudget() }: SchemaOptions): Rule {
  const loose = onLoose ?? (() => {});
  const scope: Scope = { root: schema, named: new Map(), ofParts: new Map(), typed: new Map(), waiting: [], loose, patterns };
  const rule = compile(schema, { path, scope });
  for (let next = scope.waiting.pop(); next !== undefined; next = scope.waiting.pop()) next();
  settle([...scope.named.values(), ...scope.ofParts.values()]);
  return rule;
}

function compile(schema: unknown, place: Place): Rule {
  if (schema === false) return NOTHING;
  if (!isRecord(schema)) return ANY;
  const rule = compileShape(schema, place);
  return schema["nullable"] === true ? either([rule, literals(["null"])]) : rule;
}

function compileShape(schema: Schema, place: Place): Rule {
  const known = place.scope.ofParts.get(schema);
  if (known !== undefined) return known;
  const whole = mergedAll(schema, place.scope.root);
  if (whole !== undefined) return ofParts(schema, whole, place); // which tells of what is left in it
  for (const keyword of Object.keys(schema))
    if (!ENFORCED.has(keyword) && !ANNOTATIONS.has(keyword) && !keyword.startsWith("x-")) tellLoose(place, keyword);
  // A schema is the meeting of its keywords. A rule has room for one of these, so what stands beside it is not enforced.
  const shape = SHAPES.find((keyword) => schema[keyword] !== undefined);
  if (shape === undefined || shape === "properties" || shape === "items") {
    for (const keyword of SHAPES.slice(2)) if (schema[keyword] !== undefined) tellLoose(place, keyword);
    return ofTypes(schema, place);
  }
  const unread = [shape, "type", "$defs", "definitions", "nullable"];
  for (const keyword of Object.keys(schema)) if (ENFORCED.has(keyword) && !unread.includes(keyword)) tellLoose(place, keyword);
  return ofShape(shape, schema, place);
}

/** The rule of a schema with an `allOf`, by the schema that says the same as `whole`. */
function ofParts(schema: Schema, whole: Schema | false, place: Place): NamedRule {
  const rule = later(place.path, whole, place);
  place.scope.ofParts.set(schema, rule);
  return rule;
}

/** A name for a schema that is compiled when the others are through, so that it may hold itself. */
function later(name: string, schema: unknown, place: Place): NamedRule {
  const { scope } = place;
  if (scope.named.size + scope.ofParts.size >= MOST_NAMES)
    throw new AppError("input/invalid", `${place.path}: at most ${MOST_NAMES} references and lists of parts expected`);
  const rule = named(name);
  scope.waiting.push(() => rule.stands(compile(schema, { path: name, scope })));
  return rule;
}

function ofShape(shape: string, schema: Schema, place: Place): Rule {
  const { type } = schema;
  const members = (): Rule[] =>
    listOf(schema[shape]).map((each, index) => compile(withType(each, type, place.scope), below(place, `${shape}.${index}`)));
  switch (shape) {
    case "$ref":
      return referenced(schema, place);
    case "anyOf":
      return either(members());
    case "oneOf":
      // That exactly one fits is for the alternatives to see to.
      tellLoose(place, shape);
      return either(members());
    case "allOf": {
      tellLoose(place, shape);
      const types = typesOfAll(schema, place.scope.root);
      return types === undefined ? ANY : ofTypes({ type: types }, place);
    }
    default: {
      const values = shape === "const" ? [schema["const"]] : listOf(schema["enum"]);
      return literals([...new Set(values.filter((value) => isOfType(value, type)).map(spacedJson))]);
    }
  }
}

function ofTypes(schema: Schema, place: Place): Rule {
  const types = schema["type"] === undefined ? typesMeant(schema) : [schema["type"]].flat();
  return types === undefined ? ANY : either([...new Set(types)].map((type) => ofType(type, schema, place)));
}

/** What a schema without a type is about, where its keywords tell; undefined where it may be anything. */
function typesMeant(schema: Schema): readonly unknown[] | undefined {
  if (schema["properties"] !== undefined || schema["required"] !== undefined) return ["object"];
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return ["array"];
  // What bounds the values of one type lets those of every other through.
  return Object.keys(schema).some((keyword) => /^(min|max|exclusive|additional)|^(pattern|format|multipleOf)$/.test(keyword))
    ? TYPES
    : undefined;
}

function ofType(type: unknown, schema: Schema, place: Place): Rule {
  switch (type) {
    case "string":
      return stringRule(schema, { budget: place.scope.patterns, tell: (keyword, why) => tellLoose(place, keyword, why) });
    case "integer":
    case "number":
      return numberRule(schema, type === "integer", (keyword, why) => tellLoose(place, keyword, why));
    case "boolean":
      return literals(["true", "false"]);
    case "null":
      return literals(["null"]);
    case "array":
      return ofArray(schema, place);
    case "object":
      return ofObject(schema, place);
    default:
      return ANY;
  }
}

function ofArray(schema: Schema, place: Place): Rule {
  const { prefixItems, items, additionalItems } = schema;
  const [minItems, maxItems] = [numberOf(schema["minItems"], 0), numberOf(schema["maxItems"], Infinity)];
  if (Array.isArray(prefixItems)) return ofTuple("prefixItems", { first: prefixItems, rest: items, minItems, maxItems }, place);
  // As up to draft 7.
  if (Array.isArray(items)) return ofTuple("items", { first: items, rest: additionalItems, minItems, maxItems }, place);
  return { kind: "array", items: compile(items, below(place, "items")), minItems, maxItems };
}

type Tuple = { readonly first: readonly unknown[]; readonly rest: unknown; readonly minItems: number; readonly maxItems: number };

/** Of a tuple its length is held, and that every item fits one of its places: a rule has room for items of one kind. */
function ofTuple(keyword: string, { first, rest, minItems, maxItems }: Tuple, place: Place): Rule {
  const end = [...first, rest].indexOf(false);
  const longest = end < 0 ? maxItems : Math.min(maxItems, end);
  const [one, ...others] = [...first, rest].slice(0, longest);
  const places = others.every((each) => isSame(each, one)) ? [one] : [one, ...others];
  if (places.length > 1) tellLoose(place, keyword);
  // What may be anything needs no alternatives beside it.
  const items = places.every(isRecord) ? either(places.map((each, index) => compile(each, below(place, `${keyword}.${index}`)))) : ANY;
  return { kind: "array", items, minItems, maxItems: longest };
}

function ofObject(schema: Schema, place: Place): Rule {
  const { properties, additionalProperties: additional } = schema;
  const declared = isRecord(properties) ? Object.entries(properties) : [];
  const members = new Map(declared.map(([name, member]) => [name, compile(member, below(place, `properties.${name}`))]));
  const required = new Set(listOf(schema["required"]).filter((name) => typeof name === "string"));
  const byPattern = rulesByPattern(schema, place);
  const others = isOpen(schema) && additional !== false ? compile(additional, below(place, "additionalProperties")) : undefined;
  // Required and declared nowhere, it is a member all the same, unless the schema itself rules it out.
  const undeclared = others ?? (additional === false ? NOTHING : ANY);
  for (const name of required) if (!members.has(name)) members.set(name, ruleOfName(schema, name, byPattern) ?? undeclared);
  // With patterns alone to go by a closed object would be empty: its members may have any name, and fit one of them.
  const rest = others ?? (members.size === 0 && byPattern.size > 0 ? either([...byPattern.values()]) : undefined);
  return { kind: "object", members, required, rest };
}

/** The rules of members whose names fit patterns, by their schemas: made once, as a name is required in many places. */
function rulesByPattern({ patternProperties: patterns, additionalProperties, required }: Schema, place: Place): ReadonlyMap<unknown, Rule> {
  const isAsked = additionalProperties === false || required !== undefined;
  const all = isAsked && isRecord(patterns) ? Object.entries(patterns) : [];
  return new Map(all.map(([pattern, schema]) => [schema, compile(schema, below(place, `patternProperties.${pattern}`))]));
}

/** Of several patterns that a name fits one is enforced, or any where that is not known; undefined where it fits none. */
function ruleOfName(schema: Schema, name: string, byPattern: ReadonlyMap<unknown, Rule>): Rule | undefined {
  const schemas = schemasOfName(schema, name);
  if (schemas.length === 0) return undefined;
  const known = schemas.find((each) => each !== true);
  return byPattern.get(known) ?? (known === undefined && schema["additionalProperties"] === false ? either([...byPattern.values()]) : ANY);
}

/** What the reference names, from the root of the schema; other documents and anchors are not followed. */
function referenced(schema: Schema, place: Place): Rule {
  const { scope } = place;
  const reference = String(schema["$ref"]);
  const target = resolvePointer(reference, scope.root);
  if (target === undefined) {
    tellLoose(place, "$ref");
    return schema["type"] === undefined ? ANY : ofTypes({ type: schema["type"] }, place);
  }
  if (schema["type"] !== undefined && (!isRecord(target) || target["type"] !== schema["type"])) tellLoose(place, "type");
  const known = scope.named.get(reference);
  if (known !== undefined) return known;
  const rule = later(reference, target, place);
  scope.named.set(reference, rule);
  return rule;
}

/** The schema of an alternative with the type that stands beside all of them; false where no value is of both types. */
function withType(schema: unknown, type: unknown, { typed }: Scope): unknown {
  if (type === undefined || schema === false) return schema;
  if (!isRecord(schema)) return { type };
  const key = JSON.stringify(type);
  const known = typed.get(schema) ?? new Map<string, Schema | false>();
  typed.set(schema, known);
  const own = known.get(key) ?? typedAs(schema, type);
  known.set(key, own);
  return own;
}

function typedAs(schema: Schema, type: unknown): Schema | false {
  const types = schema["type"] === undefined ? [type].flat() : metTypes(schema["type"], type);
  return types.length === 0 ? false : { ...schema, type: types.length === 1 ? types[0] : types };
}

function tellLoose({ path, scope }: Place, keyword: string, why?: string): void {
  scope.loose(path === "" ? keyword : `${path}.${keyword}`, keyword, why);
}

function below({ path, scope }: Place, part: string): Place {
  return { path: path === "" ? part : `${path}.${part}`, scope };
}

function isOfType(value: unknown, type: unknown): boolean {
  if (typeof value === "number" && !Number.isFinite(value)) return false; // JSON has no way to write it
  if (type === undefined) return true;
  return [type].flat().some((each) => each === kindOf(value) || (each === "integer" && Number.isInteger(value)));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
