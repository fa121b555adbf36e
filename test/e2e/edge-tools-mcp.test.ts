/** Remote MCP servers, made with the official SDK: of the current revision, of the one before with sessions, and some that misbehave. */
import { createMcpHandler, fromJsonSchema, McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nextStatesOf, says, talkTo, turnsOf } from "../edge/session/talk.ts";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { json, startToolServer, text, type ToolServer, web } from "../helpers/tool-server.ts";

const SECRET = "mcp-hunter2";
const vars: Record<string, string> = { TOOLS_ON_LOOPBACK: "1" };
let server: ToolServer;
beforeAll(async () => {
  server = await startToolServer();
  vars["TOOL_SECRET_MCP"] = `${server.url} ${SECRET}`;
});
afterAll(() => server.close());
const edge = withEdge({ vars });

const rooms = { type: "object" as const, properties: { rooms: { enum: [1, 2, 3] } }, required: ["rooms"] };
const odd = { name: "Odd", inputSchema: { type: "object", properties: { a: { type: "colour" } } } };
const extra = { temperature: 0, parallel_tool_calls: false, tool_choice: { type: "function", function: { name: "Book" } }, max_tokens: 60 };

/** A server with one tool, and what it says. */
function desk(said = "booked", isError = false, name = "Book"): McpServer {
  const mcp = new McpServer({ name: "desk", version: "1" });
  mcp.registerTool(name, { description: "Books rooms.", inputSchema: fromJsonSchema(rooms) }, () => ({
    content: [{ type: "text", text: said }],
    isError,
  }));
  return mcp;
}

const modern = (path: string, make: () => McpServer, options: { responseMode?: "sse" } = {}): string =>
  server.on(path, web(createMcpHandler(make, { legacy: "reject", ...options }).fetch));

/** As the revisions with a handshake have it: a session for each connection. */
function sessionful(path: string, make: () => McpServer, options: { enableJsonResponse?: boolean } = {}): string {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return server.on(
    path,
    web(async (request) => {
      const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
      if (known !== undefined) return known.handleRequest(request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        ...options,
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      await make().connect(transport);
      return transport.handleRequest(request);
    }),
  );
}

/** A server by hand, for what the SDK's would not say: each request for tools is answered with what `list` makes of its cursor. */
function handmade(path: string, list: (cursor: string | undefined) => { tools: object[]; nextCursor?: string }): string {
  const rest = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  return server.on(path, (seen, response) => {
    const { id, method, params } = JSON.parse(seen.body) as { id: number; method: string; params?: { cursor?: string } };
    const found = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, ...rest };
    const result = method === "server/discover" ? found : { ...list(params?.cursor), ...rest };
    return json({ jsonrpc: "2.0", id, result })(seen, response);
  });
}

const methodsOf = (path: string): string[] =>
  server.callsOf(path).map(({ body }) => (body === "" ? "" : (JSON.parse(body) as { method: string }).method));

async function booking(name: string, url: string, settings: object = {}) {
  await putAgent(edge, name, { mcpServers: [{ label: "desk", url, ...settings }] });
  const log = talkTo(edge, name);
  const reply = await log.ask([says("Two rooms")], { extra });
  const [state] = nextStatesOf(await log.logged("nextState:arrived", 1));
  return { reply, log, told: state?.[1][0]?.content ?? "" };
}

describe("a server", () => {
  it.for([
    ["of revision 2026-07-28, in JSON", (path: string) => modern(path, () => desk())],
    ["of revision 2026-07-28, as a stream", (path: string) => modern(path, () => desk(), { responseMode: "sse" })],
    ["of a revision with sessions, as a stream", (path: string) => sessionful(path, () => desk())],
    ["of a revision with sessions, in JSON", (path: string) => sessionful(path, () => desk(), { enableJsonResponse: true })],
  ] as const)("%s is listed once and called", async ([name, serve]) => {
    const agent = name.replaceAll(/[^a-z0-9]+/g, "-");
    const path = `/${agent}`;
    const { reply, told, log } = await booking(agent, serve(path), { secret: { name: "TOOL_SECRET_MCP" } });
    expect(told).toBe("booked");
    expect(reply.message["executed_tools"]).toMatchObject([{ name: "Book", server_label: "desk", output: "booked" }]);
    const [turn] = turnsOf(await log.events());
    expect(turn?.tools).toEqual([
      { type: "function", function: { name: "Book", description: "Books rooms.", parameters: expect.objectContaining(rooms) } },
    ]);
    await log.ask([says("Three rooms")], { extra });
    const methods = methodsOf(path);
    // Once where it was set up, and once by the first request; what was listed is kept.
    expect(methods.filter((method) => method === "tools/list")).toHaveLength(2);
    expect(methods.filter((method) => method === "tools/call")).toHaveLength(2);
    expect(server.callsOf(path).every(({ headers }) => headers.authorization === `Bearer ${SECRET}`)).toBe(true);
    expect(JSON.stringify(await log.events())).not.toContain(SECRET);
  });

  it("in the Responses API is named by its label", async () => {
    await putAgent(edge, "labelled", { mcpServers: [{ label: "desk", url: modern("/labelled", () => desk()) }] });
    const client = new OpenAI({ apiKey: edge.keys.client, baseURL: `${edge.url}/v1`, maxRetries: 0 });
    const request = { temperature: 0, tool_choice: { type: "function" as const, name: "Book" }, parallel_tool_calls: false };
    const { output, tools } = await client.responses.create({ ...request, model: "labelled", input: "Two rooms", max_output_tokens: 60 });
    expect(output[0]).toMatchObject({ type: "mcp_call", server_label: "desk", name: "Book", output: "booked" });
    expect(tools).toEqual([{ type: "mcp", server_label: "desk", allowed_tools: ["Book"], require_approval: "never" }]);
  });

  it("that says that the call was wrong is an error of the tool's, which the judge counts", async () => {
    const { told } = await booking(
      "wrong",
      modern("/wrong", () => desk("no room for 3", true)),
    );
    expect(JSON.parse(told)).toEqual({ error: "no room for 3" });
  });

  it("is read over all its pages, and those tools that are allowed are offered", async () => {
    const page = (names: string[]) => names.map((name) => ({ name, inputSchema: { type: "object" } }));
    const url = handmade("/pages", (cursor) =>
      cursor === "2" ? { tools: page(["c.d", "Cancel"]) } : { tools: page(["Book", "other"]), nextCursor: "2" },
    );
    const bad = await call(edge, "admin", "PUT /api/agents/pages", { mcpServers: [{ label: "pages", url }] });
    expect(bad).toMatchObject({
      status: 400,
      body: { error: { param: "mcpServers.0.url", message: expect.stringMatching(/got c\.d; list the others in allowedTools/) } },
    });
    await putAgent(edge, "pages", { mcpServers: [{ label: "pages", url, allowedTools: ["Cancel", "Book"] }] });
    const log = talkTo(edge, "pages");
    await log.ask([says("hi")], { extra: { tool_choice: "none" } });
    const [turn] = turnsOf(await log.logged("turn:finished", 1));
    expect(turn?.tools.map(({ function: { name } }) => name)).toEqual(["Book", "Cancel"]);
  });

  it("that comes to have a tool that is none is used without it, unless that one was asked for", async () => {
    const book = { name: "Book", inputSchema: { type: "object" } };
    let listed: object[] = [book];
    const url = handmade("/changes", () => ({ tools: listed }));
    await putAgent(edge, "changes", { mcpServers: [{ label: "desk", url }] });
    listed = [odd, book];
    const log = talkTo(edge, "changes");
    expect((await log.ask([says("hi")], { extra: { tool_choice: "none" } })).status).toBe(200);
    const [turn] = turnsOf(await log.logged("turn:finished", 1));
    expect(turn?.tools.map(({ function: { name } }) => name)).toEqual(["Book"]);
    const asked = handmade("/asked", () => ({ tools: listed }));
    listed = [{ ...odd, inputSchema: { type: "object" } }];
    await putAgent(edge, "asked", { mcpServers: [{ label: "desk", url: asked, allowedTools: ["Odd"] }] });
    listed = [odd];
    const { status, error } = await talkTo(edge, "asked").ask([says("hi")]);
    expect([status, error?.message]).toEqual([502, expect.stringMatching(/MCP server desk: Odd\.parameters/)]);
  });
});

describe("settings with a server that cannot be used", () => {
  it.for([
    ["redirected", (path: string) => server.on(path, (_, response) => void response.writeHead(302, { location: `${server.url}/secret` }).end()), /redirect \(302\)/],
    ["page", (path: string) => server.on(path, text("<html></html>", "text/html")), /MCP server desk: /],
    ["silent", (path: string) => server.on(path, () => undefined), /took too long/],
    ["huge", (path: string) => server.on(path, text("x".repeat(600_000), "application/json")), /at most 524288 bytes/],
    ["odd", (path: string) => handmade(path, () => ({ tools: [odd] })), /Odd\.parameters\.properties\.a\.type: one of string/],
    ["looping", (path: string) => handmade(path, (cursor) => ({ tools: [], nextCursor: `${cursor}1` })), /MCP server desk: /],
  ] as const)("are refused: %s", async ([name, serve, reason]) => {
    const url = serve(`/bad-${name}`);
    const { status, body } = await call(edge, "admin", `PUT /api/agents/bad-${name}`, { mcpServers: [{ label: "desk", url, timeoutMs: name === "silent" ? 700 : 30_000 }] });
    expect([status, body.error.param]).toEqual([400, "mcpServers.0.url"]);
    expect(body.error.message).toMatch(reason);
    expect(server.callsOf("/secret")).toEqual([]);
  }); // prettier-ignore

  it("are refused where two tools have one name", async () => {
    const [one, two] = [modern("/one", () => desk()), modern("/two", () => desk())];
    const book = { type: "function", function: { name: "Book", parameters: rooms } };
    const own = await call(edge, "admin", "PUT /api/agents/twice", { tools: [book], mcpServers: [{ label: "a", url: one }] });
    expect(own).toMatchObject({
      status: 400,
      body: { error: { param: "mcpServers", message: expect.stringMatching(/MCP server a: .* got Book, which tools\.0 has too/) } },
    });
    const both = await call(edge, "admin", "PUT /api/agents/twice", {
      mcpServers: [
        { label: "a", url: one },
        { label: "b", url: two },
      ],
    });
    expect(both.body.error.message).toMatch(/MCP server b: .* got Book, which MCP server a has too; choose by allowedTools/);
  });
});

describe("a server that dies", () => {
  it("after it was listed fails its calls and nothing else", async () => {
    const url = modern("/dies", () => desk());
    await putAgent(edge, "dies", { mcpServers: [{ label: "desk", url }] });
    const log = talkTo(edge, "dies");
    expect((await log.ask([says("hi")], { extra: { tool_choice: "none" } })).status).toBe(200);
    server.on("/dies", (_, response) => void response.socket?.destroy());
    const reply = await log.ask([says("Two rooms")], { extra });
    expect(reply.status).toBe(200);
    const [state] = nextStatesOf(await log.logged("nextState:arrived", 1));
    expect(state?.[1][0]?.content).toMatch(/^\{"unavailable":"the tool did not answer/);
  });

  it("before anybody knows its tools says so, and names it", async () => {
    const url = modern("/gone", () => desk());
    await putAgent(edge, "gone", { mcpServers: [{ label: "desk", url }] });
    server.on("/gone", text("no", "text/plain", 503));
    const { status, error } = await talkTo(edge, "gone").ask([says("hi")]);
    expect([status, error?.message]).toEqual([502, expect.stringMatching(/^MCP server desk: /)]);
    expect((await call(edge, "admin", "POST /api/agents/gone/pause")).status).toBe(200);
  });
});
