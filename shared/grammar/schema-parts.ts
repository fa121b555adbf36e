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
const OF_OBJECTS: ReadonlySet<string> = new Set([
  ...ANNOTATIONS,
  "type",
  "properties",
  "required",
  "additionalProperties",
  "$defs",
  "definitions",
]);
const MOST_PARTS = 64;

/**
 * One schema for one with an `allOf` of objects, as inheritance is written: the members of all of them, each required where
 * any requires it. Undefined where there is no `allOf`, where it is of other things, or where two parts differ over a member.
 */
export function mergedAll(schema: Schema, root: unknown): Schema | undefined {
  const { allOf: declaredParts, ...own } = schema;
  if (!Array.isArray(declaredParts) || declaredParts.length > MOST_PARTS) return undefined;
  // Generators write a part that only describes beside a reference, which has no room for it.
  const allOf = declaredParts.filter((part) => !isAnnotation(part));
  if (allOf.length === 0) return own;
  if (allOf.length === 1 && Object.keys(own).every((keyword) => !SHAPED.has(keyword))) return { ...own, ...toSchema(allOf[0]) };
  const parts = [...new Set([own, ...allOf].map((part) => follow(part, root)))];
  if (!parts.every(isOfObjects)) return undefined;
  const declared = parts.flatMap((part) => Object.entries(toSchema(part["properties"])));
  const members = new Map(declared);
  if (declared.some(([name, member]) => !isSame(member, members.get(name)))) return undefined;
  // A part that is closed rules out what the others declare.
  const closed = parts.filter((part) => part["additionalProperties"] === false).map((part) => toSchema(part["properties"]));
  const properties = Object.fromEntries([...members].filter(([name]) => closed.every((own) => Object.hasOwn(own, name))));
  const required = [...new Set(parts.flatMap((part): unknown[] => (Array.isArray(part["required"]) ? part["required"] : [])))];
  const additional = closed.length > 0 ? false : parts.map((part) => part["additionalProperties"]).find((each) => each !== undefined);
  return { type: "object", properties, required, ...(additional === undefined ? {} : { additionalProperties: additional }) };
}

const SHAPED: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "$ref",
  "const",
  "enum",
  "anyOf",
  "oneOf",
  "required",
  "additionalProperties",
]);

/** Whether a part rules no value out: it is true, or says something of values at most. */
function isAnnotation(part: unknown): boolean {
  return part === true || (isRecord(part) && Object.keys(part).every((keyword) => ANNOTATIONS.has(keyword)));
}

function isSame(left: unknown, right: unknown): boolean {
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
