/**
 * JSON schema → rule. What the rule lets through fits the schema but for keywords that no rule can hold a text to, such as
 * `pattern`; `onLoose` is told of each. Draft 2020-12 with the `definitions` of older drafts (json-schema.org/draft/2020-12).
 * An object with declared properties has no others unless `additionalProperties` says so: what a tool does not declare it
 * does not understand.
 */
import { spacedJson } from "../spaced-json.ts";
import type { NumberRange } from "./number-range.ts";
import { either, literals, NOTHING, type Rule } from "./rule.ts";

export type SchemaOptions = {
  /** Where the schema stands, for messages. */
  readonly path: string;
  /** Told of every keyword that is not enforced, with its path. */
  readonly onLoose?: (path: string, keyword: string) => void;
};

type Schema = Readonly<Record<string, unknown>>;
type Scope = { readonly root: unknown; readonly named: Map<string, Rule>; readonly loose: (path: string, keyword: string) => void };

const ENFORCED: ReadonlySet<string> = new Set([
  "type", "enum", "const", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "minLength", "maxLength",
  "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions",
]); // prettier-ignore
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title", "description", "default", "examples", "$schema", "$id", "$anchor", "$comment", "deprecated", "readOnly", "writeOnly", "nullable",
]); // prettier-ignore
const TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;

/** The rule of values that fit `schema`. */
export function compileSchema(schema: unknown, { path, onLoose }: SchemaOptions): Rule {
  return compile(schema, path, { root: schema, named: new Map(), loose: onLoose ?? (() => {}) });
}

/** Any JSON value. */
export const ANY: Rule = { kind: "named", name: "any", rule: () => ANY_VALUE };
const ANY_VALUE: Rule = either([
  { kind: "object", members: new Map(), required: new Set(), rest: ANY },
  { kind: "array", items: ANY, minItems: 0, maxItems: Infinity },
  { kind: "string", minLength: 0, maxLength: Infinity },
  { kind: "number", range: rangeOf({}, false) },
  literals(["true", "false", "null"]),
]);

// In the order in which they count where several stand in one schema.
const SHAPES = ["properties", "items", "$ref", "const", "enum", "anyOf", "oneOf", "allOf"] as const;

function compile(schema: unknown, path: string, scope: Scope): Rule {
  if (schema === false) return NOTHING;
  if (!isRecord(schema)) return ANY;
  for (const keyword of Object.keys(schema))
    if (!ENFORCED.has(keyword) && !ANNOTATIONS.has(keyword)) scope.loose(`${path}.${keyword}`, keyword);
  // A schema is the meeting of its keywords. A rule has room for one of these, so what stands beside it is not enforced.
  const shape = SHAPES.find((keyword) => schema[keyword] !== undefined);
  if (shape === undefined || shape === "properties" || shape === "items") {
    for (const keyword of SHAPES.slice(2)) if (schema[keyword] !== undefined) scope.loose(`${path}.${keyword}`, keyword);
    return ofTypes(schema, path, scope);
  }
  const beside = Object.keys(schema).filter(
    (keyword) => ENFORCED.has(keyword) && ![shape, "type", "$defs", "definitions"].includes(keyword),
  );
  for (const keyword of beside) scope.loose(`${path}.${keyword}`, keyword);
  return ofShape(shape, { schema, path, scope });
}

function ofShape(shape: string, { schema, path, scope }: { schema: Schema; path: string; scope: Scope }): Rule {
  const within = path === "" ? shape : `${path}.${shape}`;
  const members = (): Rule[] => listOf(schema[shape]).map((each, index) => compile(each, `${within}.${index}`, scope));
  switch (shape) {
    case "$ref":
      return referenced(schema["$ref"], path, scope);
    case "anyOf":
      return either(members());
    case "oneOf":
      // That exactly one fits is for the alternatives to see to.
      scope.loose(within, shape);
      return either(members());
    case "allOf": {
      const [first = ANY, ...others] = members();
      if (others.length > 0) scope.loose(within, shape);
      return first;
    }
    default: {
      const values = shape === "const" ? [schema["const"]] : listOf(schema["enum"]);
      return literals([...new Set(values.filter((value) => isOfType(value, schema["type"])).map(spacedJson))]);
    }
  }
}

function ofTypes(schema: Schema, path: string, scope: Scope): Rule {
  const types = schema["type"] === undefined ? typesMeant(schema) : [schema["type"]].flat();
  if (types === undefined) return ANY;
  return either(types.map((type) => ofType(type, { schema, path, scope })));
}

/** What a schema without a type is about, where its keywords tell; undefined where it may be anything. */
function typesMeant(schema: Schema): readonly string[] | undefined {
  if (schema["properties"] !== undefined || schema["required"] !== undefined) return ["object"];
  if (schema["items"] !== undefined) return ["array"];
  // A bound on the values of one type lets those of every other through.
  return Object.keys(schema).some((keyword) => /^(min|max|exclusive)/.test(keyword)) ? TYPES : undefined;
}

function ofType(type: unknown, { schema, path, scope }: { schema: Schema; path: string; scope: Scope }): Rule {
  switch (type) {
    case "string":
      return { kind: "string", minLength: countOf(schema["minLength"], 0), maxLength: countOf(schema["maxLength"], Infinity) };
    case "integer":
    case "number":
      return { kind: "number", range: rangeOf(schema, type === "integer") };
    case "boolean":
      return literals(["true", "false"]);
    case "null":
      return literals(["null"]);
    case "array":
      return {
        kind: "array",
        items: compile(schema["items"], `${path}.items`, scope),
        minItems: countOf(schema["minItems"], 0),
        maxItems: countOf(schema["maxItems"], Infinity),
      };
    case "object":
      return ofObject(schema, path, scope);
    default:
      return ANY;
  }
}

function ofObject(schema: Schema, path: string, scope: Scope): Rule {
  const { properties, additionalProperties: additional } = schema;
  const declared = isRecord(properties) ? Object.entries(properties) : [];
  const open = additional === undefined ? properties === undefined : additional !== false;
  const members = new Map(declared.map(([name, member]) => [name, compile(member, `${path}.properties.${name}`, scope)]));
  const required = new Set(listOf(schema["required"]).filter((name) => typeof name === "string"));
  // Required and not declared, in a closed object: the check of calls would refuse either way, so it may be anything.
  for (const name of required) if (!members.has(name)) members.set(name, open ? compile(additional, path, scope) : ANY);
  return { kind: "object", members, required, rest: open ? compile(additional, `${path}.additionalProperties`, scope) : undefined };
}

/** `#`, `#/$defs/<name>` and `#/definitions/<name>`; others are not followed. */
function referenced(reference: unknown, path: string, scope: Scope): Rule {
  const target = resolve(reference, scope.root);
  if (typeof reference !== "string" || target === undefined) {
    scope.loose(`${path}.$ref`, "$ref");
    return ANY;
  }
  const known = scope.named.get(reference);
  if (known !== undefined) return known;
  let compiled: Rule = NOTHING;
  const rule: Rule = { kind: "named", name: reference, rule: () => compiled };
  scope.named.set(reference, rule);
  compiled = compile(target, reference, scope);
  // A name that stands for itself alone would never come to a byte.
  if (compiled === rule) compiled = NOTHING;
  return rule;
}

function resolve(reference: unknown, root: unknown): unknown {
  if (reference === "#") return root;
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(reference)) ?? [];
  if (keyword === undefined || name === undefined || !isRecord(root)) return undefined;
  const definitions = root[keyword];
  const plain = name.replaceAll("~1", "/").replaceAll("~0", "~");
  return isRecord(definitions) && Object.hasOwn(definitions, plain) ? definitions[plain] : undefined;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === undefined) return true;
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return [type].flat().some((each) => each === own || (each === "integer" && Number.isInteger(value)));
}

function rangeOf(schema: Schema, integer: boolean): NumberRange {
  const bound = (keyword: string, none: number): number => {
    const value = schema[keyword];
    return typeof value === "number" ? value : none;
  };
  const [min, above] = [bound("minimum", -Infinity), bound("exclusiveMinimum", -Infinity)];
  const [max, below] = [bound("maximum", Infinity), bound("exclusiveMaximum", Infinity)];
  return { integer, min: Math.max(min, above), minOpen: above >= min, max: Math.min(max, below), maxOpen: below <= max };
}

function countOf(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= 0 ? Math.ceil(value) : otherwise;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
