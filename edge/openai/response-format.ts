/** `response_format`: text, any JSON object, or JSON by a schema. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { ResponseFormat } from "../../shared/grammar/answer-form.ts";
import { compileSchema } from "../../shared/grammar/schema.ts";
import { checkEnforced, checkSchema, MAX_SCHEMA_CHARACTERS } from "./json-schema.ts";

export const SchemaName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, _ or - expected");

export const ResponseFormatParameter = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: SchemaName,
      description: z.string().optional(),
      schema: z.record(z.string(), z.unknown()).optional(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/**
 * The format as the policy takes it; text where none is asked for.
 * @throws {input/invalid} for a schema that is none or that nothing fits, {input/unsupported} for a strict one that cannot be enforced
 */
export function toResponseFormat(format: z.infer<typeof ResponseFormatParameter> | null | undefined): ResponseFormat {
  if (format === undefined || format === null) return { type: "text" };
  return format.type === "json_schema" ? toSchemaFormat(format.json_schema, "response_format.json_schema.schema") : format;
}

/** The format of a schema that a request has at `path`. @throws as `toResponseFormat` */
export function toSchemaFormat(
  { name, schema = {}, strict }: { name: string; schema?: Record<string, unknown> | undefined; strict?: boolean | null | undefined },
  path: string,
): ResponseFormat {
  const { length } = JSON.stringify(schema);
  if (length > MAX_SCHEMA_CHARACTERS)
    throw new AppError("input/tooLarge", `${path}: at most ${MAX_SCHEMA_CHARACTERS} characters of JSON expected, got ${length}`, {
      details: { param: path },
    });
  checkSchema(schema, path);
  checkEnforced((options) => compileSchema(schema, options), { path, strict: strict === true });
  return { type: "json_schema", schema, name, ...(typeof strict === "boolean" ? { strict } : {}) };
}
