/** The edge client against a real socket: an edge that goes away in the middle of an answer. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";

let server: Server;
let url = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.endsWith("/agents")) {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"agents": [');
      setTimeout(() => response.destroy(), 20);
    } else {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html>not the edge</html>");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("createEdgeClient", () => {
  const client = () => createEdgeClient({ edge: url, key: "nsk_trainer_x" });

  it("counts an answer that breaks off as an edge that was not reached", async () => {
    await expect(client().listAgents()).rejects.toMatchObject({ code: "upstream/unreachable" });
  });

  it("says why it was told to stop, where that is told", async () => {
    const lost = new AppError("lease/lost", "another trainer has the agent");
    const stopped = (reason?: AppError) => createEdgeClient({ edge: url, key: "nsk_trainer_x", signal: AbortSignal.abort(reason) });
    await expect(stopped(lost).listAgents()).rejects.toBe(lost);
    await expect(stopped().listAgents()).rejects.toMatchObject({ code: "engine/closed" });
  });

  it("refuses an answer of another shape", async () => {
    await expect(client().readHead({ agent: "a", line: "shared" })).rejects.toMatchObject({ code: "upstream/invalid" });
  });
});
