/**
 * Kills workerd with SIGKILL wherever a call of a tool that the edge runs changes hands. The user asks again, as clients do, and has one answer;
 * the tool has run once at most, and the log holds its result once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startEdgeHost } from "../../cli/edge-host.ts";
import { TOOL_FAULT_POINTS } from "../../edge/faults.ts";
import { nextStatesOf, says, talkTo, turnsOf } from "../edge/session/talk.ts";
import { putAgent } from "../helpers/call.ts";
import { writeRandomBase } from "../helpers/random-base.ts";
import { json, startToolServer, type ToolServer } from "../helpers/tool-server.ts";

// A machine of two busy cores starts an edge in a minute rather than a second.
const PATIENCE_MS = 300_000;
const parameters = { type: "object", properties: { rooms: { enum: [1, 2, 3] } }, required: ["rooms"] };
const extra = { temperature: 0, parallel_tool_calls: false, tool_choice: { type: "function", function: { name: "Book" } }, max_tokens: 60 };

let folder = "";
let baseFolder = "";
let server: ToolServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-crash-tools-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
  server = await startToolServer();
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

it.for(TOOL_FAULT_POINTS)(
  "a call killed at %s is not made twice, and its answer is brought to its end",
  { timeout: PATIENCE_MS },
  async (point) => {
    const path = `/${point.replace(":", "-")}`;
    const url = server.on(path, json({ status: "booked" }));
    const stateFolder = join(folder, path.slice(1));
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const TOOLS_ON_LOOPBACK = "1";
    const onLog = (line: string): void => void (line.includes(`fault ${point}`) && reach());
    const stalled = await startEdgeHost({ stateFolder, baseFolder, vars: { TOOLS_ON_LOOPBACK, FAULT: point }, onLog });
    await putAgent(stalled, "assistant", { tools: [{ type: "function", function: { name: "Book", parameters }, endpoint: { url } }] });
    const asked = { extra, headers: { "idempotency-key": "k1" } };
    const lost = talkTo(stalled, "assistant")
      .post([says("Two rooms")], asked)
      .catch(() => undefined);
    await reached;
    process.kill(stalled.workerdPid() ?? 0, "SIGKILL");
    await stalled.close();
    await lost;

    const edge = await startEdgeHost({ stateFolder, baseFolder, vars: { TOOLS_ON_LOOPBACK } });
    try {
      const log = talkTo(edge, "assistant");
      const [first, again] = [await log.ask([says("Two rooms")], asked), await log.ask([says("Two rooms")], asked)];
      expect(first.status).toBe(200);
      expect(again).toEqual(first);
      const turns = turnsOf(await log.logged("turn:finished", 2));
      expect(turns.map(({ origin }) => origin)).toEqual(["opening", "continuation"]);
      expect(turns[0]?.completionId).toBe(first.id);
      const states = nextStatesOf(await log.logged("nextState:arrived", 1));
      const told = { "tool:started": /not known, and it is not called again/, "tool:answered": /not known/, "tool:finished": /"booked"/ }[
        point
      ];
      expect(states).toMatchObject([[first.id, [{ role: "tool", content: expect.stringMatching(told) }]]]);
      expect(server.callsOf(path)).toHaveLength(point === "tool:started" ? 0 : 1);
    } finally {
      await edge.close();
    }
  },
);
