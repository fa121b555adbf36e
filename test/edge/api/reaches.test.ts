/** What the Worker and the trainer reach, and which secrets they send, is not for an admin of some agents to say. */
import { beforeAll, expect, it } from "vitest";
import { call } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const SECRET = "TOOL_SECRET_WEATHER";
const edge = withEdge({ vars: { [SECRET]: "https://api.weather.example s3cret" } });
const tool = (path: string, secret: object = { secret: { name: SECRET } }) => ({
  type: "function",
  function: { name: "Weather", parameters: { type: "object", properties: {} } },
  endpoint: { url: `https://api.weather.example${path}`, ...secret },
});
const judge = { kind: "llm", url: "http://10.0.0.7:8000/v1", model: "qwen" };
let admin = "";
const patch = async (settings: object) => {
  const scoped = { url: edge.url, keys: { ...edge.keys, admin } };
  const { status, body } = await call(scoped, "admin", "PATCH /api/agents/tenant", settings);
  return [status, body.error?.code, body.error?.param];
};
beforeAll(async () => {
  await call(edge, "admin", "PUT /api/agents/tenant", {});
  admin = (await call(edge, "admin", "POST /api/keys", { kind: "admin", name: "tenant", agents: ["tenant*"] })).body.key;
});

it("a judge anywhere, or under another's key, is refused; the agent's own settings are not", async () => {
  const refused = [403, "auth/forbidden", "learning.judge"];
  expect(await patch({ learning: { judge } })).toEqual(refused);
  expect(await patch({ learning: { judge: { ...judge, kind: "embedded" } } })).toEqual(refused);
  expect(await patch({ learning: { judge: { secret: "OPENAI" } } })).toEqual(refused);
  expect(await patch({ learning: { votes: 5 }, instructions: "Be brief." })).toEqual([200, undefined, undefined]);
  await call(edge, "admin", "PATCH /api/agents/tenant", { learning: { judge } });
  expect(await patch({ learning: { judge: { kind: "embedded" } } })).toEqual([200, undefined, undefined]);
  expect(await patch({ learning: { judge: { kind: "llm" } } })).toEqual([200, undefined, undefined]);
  expect(await patch({ learning: { judge: null } })).toEqual([200, undefined, undefined]);
});

it("a secret goes where a key of every agent has sent it, and tools without one are free", async () => {
  const refused = [403, "auth/forbidden", "tools.0.endpoint.secret"];
  expect(await patch({ tools: [tool("/v1/now")] })).toEqual(refused);
  expect(await patch({ tools: [tool("/v1/now", {})] })).toEqual([200, undefined, undefined]);
  await call(edge, "admin", "PATCH /api/agents/tenant", { tools: [tool("/v1/now")] });
  expect(await patch({ tools: [tool("/v1/account/delete")] })).toEqual(refused);
  expect(await patch({ instructions: "Be briefer.", tools: [tool("/v1/now")] })).toEqual([200, undefined, undefined]);
  expect(await patch({ mcpServers: [{ label: "w", ...tool("/mcp").endpoint }] })).toEqual([403, "auth/forbidden", "mcpServers.0.secret"]);
});
