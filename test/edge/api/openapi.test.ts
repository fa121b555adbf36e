/** The OpenAPI document: it has every route, no other, and its requests' schemas. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { API } from "../../../shared/api-routes.ts";
import { call } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
const FOLDER = new URL("../../../edge/routes/", import.meta.url).pathname;

/** Routes as they stand in the sources, trainers' own apart. */
function mounted(): string[] {
  const sources = readdirSync(FOLDER).filter((name) => !name.startsWith("trainer-"));
  return sources
    .flatMap((name) => [...readFileSync(join(FOLDER, name), "utf8").matchAll(/app\.(get|put|post|patch|delete)\(\s*"([^"]+)"/g)])
    .map(([, method, path = ""]) => `${method} ${path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}")}`)
    .toSorted();
}

it("describes the routes that there are, without asking for a key", async () => {
  const response = await fetch(`${edge.url}/api/openapi.json`);
  expect(response.status).toBe(200);
  const { openapi, paths } = (await response.json()) as { openapi: string; paths: Record<string, Record<string, object>> };
  expect(openapi).toBe("3.1.0");
  const described = Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`));
  expect(described.toSorted()).toEqual(mounted());
  expect(described.length).toBeGreaterThan(30);
});

it("has every route that the dashboard and the command line ask", async () => {
  const { body } = await call(edge, "admin", "GET /api/openapi.json");
  const paths = body.paths as Record<string, Record<string, object>>;
  const asked = Object.values(API).map(({ method, template }) => [template, method.toLowerCase()] as const);
  expect(asked.filter(([path, method]) => paths[path]?.[method] === undefined)).toEqual([]);
  expect(API.turns.at({ agent: "a/b" }, { words: "two rooms", before: undefined }).path).toBe("/api/agents/a%2Fb/turns?words=two+rooms");
});

it("names each operation once and gives the schema of each body from what checks it", async () => {
  const { body } = await call(edge, "admin", "GET /api/openapi.json");
  const operations = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
    Object.values(methods),
  );
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const { schema } = body.paths["/api/agents/{agent}/rollback"].post.requestBody.content["application/json"];
  expect(schema).toMatchObject({ required: ["to"], properties: { to: { type: "integer", minimum: 0 }, quarantine: { default: true } } });
  expect(body.paths["/api/users"].get.parameters).toMatchObject([
    { name: "key", required: true },
    { name: "user", required: false },
  ]);
  expect(Object.keys(body.paths["/api/users/{user}"].delete.responses)).toEqual(["200", "202", "default"]);
  const chat = body.paths["/v1/chat/completions"].post.requestBody.content["application/json"].schema;
  expect(Object.keys(chat.properties)).toEqual(expect.arrayContaining(["model", "messages", "tools", "temperature", "stream"]));
});
