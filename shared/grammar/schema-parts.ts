/** Schemas that stand in other places: behind a pointer, or spread over parts that one schema stands for. */

import { schemasOfName } from "./name-patterns.ts";

export type Schema = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a reference within the document names: `#`, or a JSON pointer (RFC 6901) as a URI writes it. */
export function resolvePointer(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  const [first, ...parts] = decoded(reference.slice(1)).split("/");
  if (first !== "") return undefined; // an anchor
  return parts.reduce((place: unknown, part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof place === "object" && place !== null && Object.hasOwn(place, name) ? (place as Schema)[name] : undefined;
  }, root);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % is one
  }
}

/** What says something of values without ruling any out. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "title", "description", "default", "examples", "example", "$schema", "$id", "$anchor", "$comment", "deprecated", "readOnly", "writeOnly",
  "contentEncoding", "contentMediaType", "discriminator", "externalDocs", "xml",
]); // prettier-ignore
/** Keywords that rules hold a text to, each as far as `compileSchema` says; the others, but for annotations, are told of and left out. */
export const ENFORCED: ReadonlySet<string> = new Set([
  "type", "enum", "const", "properties", "required", "additionalProperties", "items", "prefixItems", "additionalItems", "minItems", "maxItems", "minLength", "maxLength",
  "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format", "anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions", "nullable",
]); // prettier-ignore
/** Of which several may be met at once: side by side they are a list. */
const LISTED: ReadonlySet<string> = new Set(["pattern", "format", "multipleOf"]);
const SILENT: ReadonlySet<string> = new Set([...ANNOTATIONS, "$defs", "definitions", "nullable"]);
const OF_OBJECTS: ReadonlySet<string> = new Set([...SILENT, "type", "properties", "required", "additionalProperties"]);
// What a rule has room for once, or what means something else beside the same of another part.
const SHAPED = ["properties", "items", "$ref", "const", "enum", "anyOf", "oneOf", "allOf", "required", "additionalProperties"] as const;
const MOST_PARTS = 64;

type Whole = Schema | false | undefined;
/** By the document that references are read from: a part may stand in many places, and be made of parts itself. */
const wholes = new WeakMap<Schema, WeakMap<Schema, { readonly whole: Whole }>>();

/**
 * One schema that says the same as one whose parts stand beside each other, in an `allOf`, behind a reference or closed by
 * `unevaluatedProperties`: its only part, the members of objects, as inheritance is written, or bounds. What no rule enforces stays in
 * it, to be told of. False where nothing fits all parts; undefined where there are none, or no one schema says the same.
 */
export function mergedAll(schema: Schema, root: unknown): Whole {
  if (!hasParts(schema, root)) return undefined;
  const document = isRecord(root) ? root : schema;
  const ofDocument = wholes.get(document) ?? new WeakMap<Schema, { readonly whole: Whole }>();
  wholes.set(document, ofDocument);
  const known = ofDocument.get(schema);
  if (known !== undefined) return known.whole;
  ofDocument.set(schema, { whole: {} }); // while it is under way: a part that is the whole rules nothing more out
  const { unevaluatedProperties: rest, ...others } = schema;
  const whole = closed(wholeOf(partsOf(others), root, rest !== undefined), rest);
  ofDocument.set(schema, { whole });
  return whole;
}

function hasParts(schema: Schema, root: unknown): boolean {
  const { allOf, $ref: reference, unevaluatedProperties: rest, ...own } = schema;
  if (allOf !== undefined) return Array.isArray(allOf) && allOf.length <= MOST_PARTS;
  if (reference === undefined) return rest !== undefined && !speaksOfMembers(own);
  const leads = typeof reference === "string" && resolvePointer(reference, root) !== undefined;
  return leads && (rest !== undefined || !isIdle(own));
}

/** What stands in a schema itself, what it refers to, and each part of its `allOf`. */
function partsOf({ allOf, $ref: reference, ...own }: Schema): readonly unknown[] {
  return [own, ...(reference === undefined ? [] : [{ $ref: reference }]), ...(Array.isArray(allOf) ? (allOf as readonly unknown[]) : [])];
}

function wholeOf(parts: readonly unknown[], root: unknown, follows: boolean): Whole {
  const given = parts.map((part) => (isReference(part) ? part : simplified(part, root)));
  // Generators write a part that only describes beside a reference, which has no room for it.
  const held = given.filter((part) => !isIdle(part));
  const followed = [...new Set(held.map((part) => followedPart(part, root)))];
  if (followed.includes(false)) return false;
  const saying = followed.filter((part) => !isIdle(part));
  if (!held.every(isRecord) || !saying.every(isRecord)) return undefined;
  const only = held.length <= 1 && !follows ? held[0] : saying[0];
  const merged = held.length <= 1 || saying.length <= 1 ? { ...toSchema(parts[0]), ...only } : (mergedObjects(saying) ?? metAll(saying));
  if (merged !== undefined && Array.isArray(merged["type"]) && merged["type"].length === 0) return false;
  return merged && { ...merged, ...notEnforced([...given, ...followed].filter(isRecord)) };
}

/** The part as one schema, where one says the same. */
function simplified(part: unknown, root: unknown): unknown {
  return isRecord(part) ? (mergedAll(part, root) ?? part) : part;
}

/** What the part refers to in the end: false where that is itself, the part where it leads nowhere. */
function followedPart(part: unknown, root: unknown): unknown {
  const seen = new Set<string>();
  let target = part;
  while (isReference(target)) {
    const reference = String(target["$ref"]);
    const next = seen.has(reference) ? false : resolvePointer(reference, root);
    if (next === undefined) return target;
    seen.add(reference);
    target = simplified(next, root);
  }
  return target;
}

/** Keywords that no rule enforces. They tell that there is more to a schema, so of two that differ either will do; but patterns name members. */
function notEnforced(parts: readonly Schema[]): Schema {
  const entries = parts.flatMap((part) => Object.entries(part));
  const patterns = parts.flatMap((part) => Object.entries(toSchema(part["patternProperties"])));
  const all = patterns.length === 0 ? entries : [...entries, ["patternProperties", Object.fromEntries(patterns)] as const];
  return Object.fromEntries(all.filter(([keyword]) => !ENFORCED.has(keyword) && !ANNOTATIONS.has(keyword)));
}

// Beside one of these `unevaluatedProperties` speaks of other members than `additionalProperties` would.
const OF_MEMBERS = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "if", "then", "else", "dependentSchemas", "dependencies"]; // prettier-ignore

function speaksOfMembers(schema: Schema): boolean {
  return OF_MEMBERS.some((keyword) => schema[keyword] !== undefined);
}

/** The schema with what `unevaluatedProperties` says of its members, which is nothing once another keyword has spoken of all. */
function closed(whole: Whole, rest: unknown): Whole {
  if (!whole || rest === undefined) return whole;
  return speaksOfMembers(whole) ? { ...whole, unevaluatedProperties: rest } : { additionalProperties: rest, ...whole };
}

/** The types that a value of all parts may have, where no one schema says the same as they; undefined where they do not tell. */
export function typesOfAll(schema: Schema, root: unknown): readonly unknown[] | undefined {
  const parts = partsOf(schema).map((part) => toSchema(followedPart(part, root)));
  const [first, ...others] = parts.map(typesOf).filter((types) => types !== undefined);
  if (first !== undefined) return others.reduce(metTypes, first);
  return parts.some(({ properties, required }) => properties !== undefined || required !== undefined) ? ["object"] : undefined;
}

function typesOf(part: unknown): readonly unknown[] | undefined {
  const { type, nullable, const: only, enum: values = only === undefined ? undefined : [only], anyOf, oneOf = anyOf } = toSchema(part);
  if (type !== undefined) return nullable === true ? [type, "null"].flat() : [type].flat();
  if (nullable === true) return undefined;
  if (Array.isArray(values)) return [...new Set(values.map(kindOf))];
  const types = Array.isArray(oneOf) ? oneOf.map(typesOf) : [undefined];
  return types.every((each) => each !== undefined) ? types.flat() : undefined;
}

/** The type of a JSON value. */
export function kindOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** The members of all, each required where any requires it; undefined where a part is of other things, or two differ over a member. */
function mergedObjects(parts: readonly Schema[]): Schema | undefined {
  if (!parts.every(isOfObjects)) return undefined;
  const declared = parts.flatMap((part) => Object.entries(toSchema(part["properties"])));
  const members = new Map(declared);
  if (declared.some(([name, member]) => !isSame(member, members.get(name)))) return undefined;
  // A part that is closed rules out what the others declare.
  const closed = parts.filter((part) => part["additionalProperties"] === false);
  const isAllowed = (part: Schema, name: string): boolean =>
    Object.hasOwn(toSchema(part["properties"]), name) || schemasOfName(part, name).length > 0;
  const properties = Object.fromEntries([...members].filter(([name]) => closed.every((part) => isAllowed(part, name))));
  // One that says what its other members are says so of those that the others declare.
  const limits = parts.filter(({ additionalProperties: rest }) => rest !== undefined && rest !== false && !isSilent(rest));
  const isLimited = (own: Schema): boolean => Object.keys(properties).some((name) => !Object.hasOwn(own, name));
  const [limit] = limits.map((part) => part["additionalProperties"]);
  if (limits.some((part) => isLimited(toSchema(part["properties"])) || !isSame(part["additionalProperties"], limit))) return undefined;
  const required = [...new Set(parts.flatMap((part): unknown[] => (Array.isArray(part["required"]) ? part["required"] : [])))];
  const isOpened = parts.some((part) => part["additionalProperties"] !== undefined);
  const additional = closed.length > 0 ? false : (limit ?? (isOpened || undefined));
  return { type: "object", properties, required, ...(additional === undefined ? {} : { additionalProperties: additional }) };
}

/** All keywords side by side, where one part at most says more than types and bounds; the narrower of two. Undefined where two differ otherwise. */
function metAll(parts: readonly Schema[]): Schema | undefined {
  if (parts.filter((part) => SHAPED.some((keyword) => part[keyword] !== undefined)).length > 1) return undefined;
  return parts.reduce((met: Schema | undefined, part) => met && metWith(met, part), {});
}

function metWith(left: Schema, right: Schema): Schema | undefined {
  const met: Record<string, unknown> = { ...left, ...right };
  for (const keyword of Object.keys(right)) {
    const [one, other] = [left[keyword], right[keyword]];
    if (one === undefined || SILENT.has(keyword) || !ENFORCED.has(keyword) || isSame(one, other)) continue;
    const numbers = typeof one === "number" && typeof other === "number";
    if (keyword === "type") met[keyword] = metTypes(one, other);
    else if (LISTED.has(keyword)) met[keyword] = [...new Set([one, other].flat())];
    else if (numbers && /^min|^exclusiveMin/.test(keyword)) met[keyword] = Math.max(one, other);
    else if (numbers && /^max|^exclusiveMax/.test(keyword)) met[keyword] = Math.min(one, other);
    else return undefined;
  }
  return met;
}

/** The types that are both: every integer is a number. None where no value is. */
export function metTypes(left: unknown, right: unknown): readonly unknown[] {
  const [ones, others] = [[left].flat(), [right].flat()];
  const both = ones.flatMap((one) => {
    if (others.includes(one)) return [one];
    const whole = (one === "integer" && others.includes("number")) || (one === "number" && others.includes("integer"));
    return whole ? ["integer"] : [];
  });
  return [...new Set(both)];
}

/** Whether a part rules no value out: it is true, or says something of values at most. */
function isSilent(part: unknown): boolean {
  return part === true || (isRecord(part) && Object.keys(part).every((keyword) => SILENT.has(keyword)));
}

/** Whether a part rules no value out as far as it is enforced. */
function isIdle(part: unknown): boolean {
  return part === true || (isRecord(part) && Object.keys(part).every((keyword) => SILENT.has(keyword) || !ENFORCED.has(keyword)));
}

export function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

/** Whether a part only refers to another; `unevaluatedProperties` beside the reference would say more. */
function isReference(part: unknown): part is Schema {
  const { $ref: reference, ...beside } = toSchema(part);
  return typeof reference === "string" && isIdle(beside) && beside["unevaluatedProperties"] === undefined;
}

function isOfObjects(part: Schema): boolean {
  const { type = "object", ...keywords } = part;
  return type === "object" && Object.keys(keywords).every((keyword) => OF_OBJECTS.has(keyword) || !ENFORCED.has(keyword));
}

function toSchema(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

// What may speak of members that `properties` does not name.
const SPEAKS_OF_MORE = ["$ref", "if", "then", "else", "patternProperties", "minProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"]; // prettier-ignore

/** Whether an object of the schema may have members that it does not declare: where it says so, declares none, or may ask for others. */
export function isOpen(schema: Schema): boolean {
  const { properties, additionalProperties: additional, patternProperties: patterns } = schema;
  if (additional !== undefined) return additional !== false || Object.keys(toSchema(patterns)).length > 0;
  return properties === undefined || speaksOfMore(schema, new Set(Object.keys(toSchema(properties))));
}

/** Whether a keyword beside `properties` may ask for members that are not declared there. */
function speaksOfMore(schema: Schema, declared: ReadonlySet<string>): boolean {
  const adds = (part: unknown): boolean =>
    isRecord(part) &&
    (Object.keys(part).some((keyword) => !["type", "title", "description", "required", "properties"].includes(keyword)) ||
      Object.keys(toSchema(part["properties"])).some((name) => !declared.has(name)));
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((keyword): unknown[] => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  return SPEAKS_OF_MORE.some((keyword) => schema[keyword] !== undefined) || parts.some(adds);
}
