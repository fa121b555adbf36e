/** A real HTTP server for tools that the edge runs: each path answers as its test says, and every call is kept. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ToolCallSeen = { readonly path: string; readonly body: string; readonly headers: IncomingMessage["headers"] };
export type ToolHandler = (seen: ToolCallSeen, response: ServerResponse) => void | Promise<void>;

export type ToolServer = {
  readonly url: string;
  /** Oldest first. */
  readonly calls: ToolCallSeen[];
  callsOf(path: string): ToolCallSeen[];
  on(path: string, handler: ToolHandler): string;
  close(): Promise<void>;
};

export async function startToolServer(): Promise<ToolServer> {
  const handlers = new Map<string, ToolHandler>();
  const calls: ToolCallSeen[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const seen = { path: request.url ?? "", body: Buffer.concat(chunks).toString(), headers: request.headers };
      calls.push(seen);
      const handler = handlers.get(seen.path);
      if (handler === undefined) response.writeHead(404).end();
      else await handler(seen, response);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    calls,
    callsOf: (path) => calls.filter((seen) => seen.path === path),
    on(path, handler) {
      handlers.set(path, handler);
      return `${url}${path}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(body: unknown, status = 200): ToolHandler {
  return (_, response) => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function text(body: string, type: string, status = 200): ToolHandler {
  return (_, response) => void response.writeHead(status, { "content-type": type }).end(body);
}

/** A handler of web requests, as the official MCP server is one. */
export function web(handle: (request: Request) => Promise<Response>): ToolHandler {
  return async ({ path, body, headers }, response) => {
    const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] => (typeof value === "string" ? [[name, value]] : []));
    const method = response.req.method ?? "POST";
    const answer = await handle(new Request(`http://localhost${path}`, { method, headers: sent, ...(body === "" ? {} : { body }) }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  };
}
