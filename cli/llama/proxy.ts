/**
 * A reverse proxy to whichever server is current when a request comes: bodies stream both ways, a reader who leaves is gone for the server
 * too, and but for what concerns one connection alone status and headers pass as they are.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { AppError } from "../../shared/errors.ts";

export type Target = {
  readonly port: number;
  /** Counts a request until the returned function is called. */
  hold(): () => void;
};
export type Proxy = { readonly url: string; close(): Promise<void> };

/** Of one connection: RFC 9110, 7.6.1. `expect` was answered by the time a request is passed on. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"]);

/** Listens and resolves with its address. @param current the server that new requests go to */
export async function startProxy({ host, port }: { host: string; port: number }, current: () => Target | undefined): Promise<Proxy> {
  const server = createServer((request, response) => {
    const target = current();
    if (target === undefined) refuse(request, response, 503);
    else pass(request, response, target);
  });
  await new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new AppError("internal", "internal: a port expected of the proxy");
  const close = (): Promise<void> => new Promise((done) => (server.close(() => done()), server.closeAllConnections()));
  return { url: `http://${host}:${address.port}`, close };
}

function pass(request: IncomingMessage, response: ServerResponse, target: Target): void {
  const release = target.hold();
  const { method, url: path } = request;
  // A connection of its own for each: one that is kept may be closed by the server just when a request is sent over it.
  const upstream = httpRequest({ port: target.port, host: "127.0.0.1", agent: false, method, path, headers: endToEnd(request.rawHeaders) });
  upstream.once("response", (answer) => {
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders)).flushHeaders();
    // Where the server breaks off, so does the answer.
    pipeline(answer, response, () => undefined);
  });
  upstream.on("error", (error: NodeJS.ErrnoException) => {
    if (response.headersSent || response.destroyed) response.destroy();
    else refuse(request, response, error.code === "ECONNREFUSED" ? 503 : 502);
  });
  response.once("close", () => {
    if (!response.writableFinished) upstream.destroy();
    release();
  });
  request.pipe(upstream);
}

/** 503 where the request has reached no server, so that it may be sent again; 502 where a server may have begun with it. */
function refuse(request: IncomingMessage, response: ServerResponse, status: 502 | 503): void {
  request.resume();
  const [code, message] =
    status === 503
      ? ["engine/closed", "no llama-server is up yet; try again"]
      : ["upstream/failed", "llama-server ended before it answered; try again"];
  const error = { message, type: "server_error", param: null, code };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

/** @param raw names and values in turn */
function endToEnd(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !HOP_BY_HOP.has(raw[at - (at % 2)]?.toLowerCase() ?? ""));
}
