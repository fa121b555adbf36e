/** Schemas that stand in other places: behind a pointer, or spread over the members of an `allOf`. */

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
const SILENT: ReadonlySet<string> = new Set([...ANNOTATIONS, "$defs", "definitions", "nullable"]);
const OF_OBJECTS: ReadonlySet<string> = new Set([...SILENT, "type", "properties", "required", "additionalProperties"]);
// What a rule has room for once, or what means something else beside the same of another part.
const SHAPED = ["properties", "items", "$ref", "const", "enum", "anyOf", "oneOf", "allOf", "required", "additionalProperties"] as const;
const MOST_PARTS = 64;

/**
 * One schema that says the same as one with an `allOf`: its only part, the members of objects, as inheritance is written, or bounds that
 * stand beside each other. False where nothing fits all parts; undefined where there is no `allOf`, or no one schema says the same.
 */
export function mergedAll(schema: Schema, root: unknown): Schema | false | undefined {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf) || allOf.length > MOST_PARTS) return undefined;
  // Generators write a part that only describes beside a reference, which has no room for it.
  const parts = [own, ...(allOf as readonly unknown[])].filter((part) => !isSilent(part));
  const followed = [...new Set(parts.map((part) => follow(part, root)))];
  if (followed.includes(false)) return false;
  if (!parts.every(isRecord)) return undefined;
  const merged = parts.length <= 1 ? { ...own, ...parts[0] } : (mergedObjects(followed) ?? metAll(parts));
  return merged !== undefined && Array.isArray(merged["type"]) && merged["type"].length === 0 ? false : merged;
}

/** The members of all, each required where any requires it; undefined where a part is of other things, or two differ over a member. */
function mergedObjects(parts: readonly unknown[]): Schema | undefined {
  if (!parts.every(isOfObjects)) return undefined;
  const declared = parts.flatMap((part) => Object.entries(toSchema(part["properties"])));
  const members = new Map(declared);
  if (declared.some(([name, member]) => !isSame(member, members.get(name)))) return undefined;
  // A part that is closed rules out what the others declare.
  const closed = parts.filter((part) => part["additionalProperties"] === false).map((part) => toSchema(part["properties"]));
  const properties = Object.fromEntries([...members].filter(([name]) => closed.every((own) => Object.hasOwn(own, name))));
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
    if (one === undefined || SILENT.has(keyword) || isSame(one, other)) continue;
    const numbers = typeof one === "number" && typeof other === "number";
    if (keyword === "type") met[keyword] = metTypes(one, other);
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

export function isSame(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

function follow(part: unknown, root: unknown): unknown {
  const { $ref: reference, ...beside } = toSchema(part);
  return typeof reference === "string" && Object.keys(beside).length === 0 ? resolvePointer(reference, root) : part;
}

function isOfObjects(part: unknown): part is Schema {
  const { type = "object", ...keywords } = toSchema(part);
  return (
    typeof part === "object" && part !== null && type === "object" && Object.keys(keywords).every((keyword) => OF_OBJECTS.has(keyword))
  );
}

function toSchema(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

// What may speak of members that `properties` does not name.
const SPEAKS_OF_MORE = ["$ref", "if", "then", "else", "patternProperties", "minProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"]; // prettier-ignore

/** Whether an object of the schema may have members that it does not declare: where it says so, declares none, or may ask for others. */
export function isOpen(schema: Schema): boolean {
  const { properties, additionalProperties: additional } = schema;
  if (additional !== undefined) return additional !== false;
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
