/** The OpenAPI 3.1 document: operations.ts as the specification wants it, schemas from the very zod that checks requests. */
import { z, type ZodType } from "zod";
import { OPERATIONS, type Operation } from "./operations.ts";

const ERROR = {
  description: "What is wrong and what to change, in the shape of the OpenAI API",
  content: {
    "application/json": {
      schema: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["message", "type", "param", "code"],
            properties: {
              message: { type: "string" },
              type: { type: "string" },
              param: { type: ["string", "null"] },
              code: { type: ["string", "null"] },
            },
          },
        },
      },
    },
  },
};

export function openApiDocument(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of OPERATIONS) paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Nextstate",
      version: "1",
      description: "An LLM agent as an HTTP endpoint that learns from its use. Each route wants a key of one kind, as a bearer token.",
    },
    paths,
    components: {
      securitySchemes: {
        client: { type: "http", scheme: "bearer", description: "A client key: answers and feedback" },
        admin: { type: "http", scheme: "bearer", description: "An admin key: agents, versions, keys" },
      },
    },
  };
}

function describe({ method, path, summary, key, query, body, status = 200, later, type = "application/json" }: Operation): object {
  const parameters = [...pathParameters(path), ...queryParameters(query)];
  return {
    summary,
    operationId: operationId(method, path),
    security: key === null ? [] : [{ [key]: [] }],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body) } } } }),
    responses: {
      [status]: { description: "Done", content: { [type]: {} } },
      ...(later === undefined ? {} : { 202: { description: later, content: { [type]: {} } } }),
      default: ERROR,
    },
  };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
}

function queryParameters(query: ZodType | undefined): object[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(query);
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: required.includes(name), schema }));
}

function schemaOf(schema: ZodType): { properties?: Record<string, unknown>; required?: readonly string[] } {
  // What a refinement checks beyond the shape is told by its error.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return rest;
}

/** Unique and stable: what a generator of clients names its methods by. */
function operationId(method: string, path: string): string {
  const words = path.replaceAll(/[{}.]/g, "").split(/[/-]/).filter(Boolean);
  return [method, ...words.filter((word) => word !== "api" && word !== "v1")]
    .map((word, index) => (index === 0 ? word : upper(word)))
    .join("");
}

function upper(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
