/** The edge client against a real socket: an edge that goes away in the middle of an answer, one that is older, and what stands before it. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppError } from "../../../shared/errors.ts";
import { ADAPTER_PART_BYTES } from "../../../shared/policy.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";

let server: Server;
let url = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.endsWith("/agents")) {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"agents": [');
      setTimeout(() => response.destroy(), 20);
    } else if (request.url?.includes("/files/")) {
      const [, bytes = 0] = /files\/(\d+)/.exec(request.url) ?? [];
      response.end(Buffer.alloc(Number(bytes)));
    } else if (request.url?.includes("/quarantine")) {
      response.end('{"events": [{"eventId": "e1", "turnId": "t1"}, {"eventId": "e2", "turnId": "t2"}]}');
    } else if (request.url?.includes("/rebuild")) {
      response.writeHead(429, { "retry-after": "120" });
      response.end();
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

  it("refuses files and lists of an edge that does not know where they are to go on", async () => {
    // Files of the stand-in are called by their length.
    await expect(client().getFile(`${ADAPTER_PART_BYTES + 1}`)).rejects.toMatchObject({
      code: "upstream/invalid",
      message: expect.stringContaining(`at most ${ADAPTER_PART_BYTES} bytes expected`),
    });
    await expect(client().readQuarantine({ agent: "a", line: "shared" })).rejects.toMatchObject({
      code: "upstream/invalid",
      message: "quarantine of line shared: events after e2 expected, got that one last again",
    });
  });

  it("tells how long it is asked to wait", async () => {
    const asked = client().readRebuild({ agent: "a", line: "shared" });
    await expect(asked).rejects.toMatchObject({ code: "upstream/failed", details: { status: 429, retryAfterMs: 120_000 } });
  });

  it("refuses an answer of another shape", async () => {
    await expect(client().readHead({ agent: "a", line: "shared" })).rejects.toMatchObject({ code: "upstream/invalid" });
  });
});
