/** `npx nextstate chat` with the shipped base: one message, lines of a script, and what becomes of calls, whoever runs them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { json, startToolServer, type ToolServer } from "../helpers/tool-server.ts";
import { runNextstate, type Ended, type RunOptions } from "./run-nextstate.ts";

const DONE = 0;
const REFUSED = 1;
const REQUEST = "Book the Grand Hotel for three days from March 5th.";

const edge = withEdge({ baseFolder: "base", vars: { TOOLS_ON_LOOPBACK: "1" } });
let server: ToolServer;
beforeAll(async () => void (server = await startToolServer()));
afterAll(() => server.close());
const chat = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  runNextstate(["chat", ...args, "--url", edge.url, "--state", edge.stateFolder], options);

describe("nextstate chat", () => {
  const instructions = "You are a helpful assistant. Today is Friday, 2019-03-01.";
  beforeAll(() => putAgent(edge, "hotel", { instructions, tools: [RESERVE] }));

  it("answers one message, with the calls and the version that answered", async () => {
    const args = ["hotel", "--message", REQUEST, "--temperature", "0"];
    const { code, stdout } = await chat(args);
    expect([code, stdout]).toEqual([DONE, expect.stringMatching(/^→ ReserveHotel\(\{.*Grand Hotel.*\}\)\n\[version 0\]\n$/)]);
    const whole = await chat([...args, "--json"]);
    expect(JSON.parse(whole.stdout)).toMatchObject({ object: "chat.completion", choices: [{ finish_reason: "tool_calls" }] });
  });

  it("reads lines where stdin is no terminal, and gives every call a result before the next", async () => {
    const args = ["hotel", "--temperature", "0", "--user", "carla", "--result", '{"status": "sold out"}'];
    const stdin = `${REQUEST}\n\nNo, the number of rooms should be 2.\n`;
    const { code, stdout } = await chat([...args, "--json"], { stdin });
    expect(code).toBe(DONE);
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids.length).toBeGreaterThan(2);
    const following = async () => {
      const { body } = await call(edge, "admin", "GET /api/agents/hotel/turns");
      const { turns } = body as { turns: { completionId: string; next: { messages: unknown[] }[] }[] };
      return turns.find(({ completionId }) => completionId === ids[0])?.next;
    };
    await expect.poll(following, { timeout: 20_000 }).toMatchObject([{ messages: [{ role: "tool", content: '{"status": "sold out"}' }] }]);
    const people = await chat(args, { stdin });
    expect(people.stdout).toMatch(/^→ ReserveHotel.*\n\[version 0\]\n(.*\n)+\[version 0\]\n$/);
  });

  it("shows what the edge ran itself, with what came of it, before the answer", async () => {
    const url = server.on("/reserve", json({ status: "confirmed", code: "X7" }));
    await putAgent(edge, "served", { instructions, tools: [{ ...RESERVE, endpoint: { url } }] });
    const args = ["served", "--message", REQUEST, "--temperature", "0"];
    const { code, stdout, stderr } = await chat(args);
    expect([code, stderr]).toEqual([DONE, ""]);
    expect(stdout).toMatch(/^⚙ ReserveHotel\(\{.*Grand Hotel.*\}\) \{"status":"confirmed","code":"X7"\}\n[^]+\n\[version 0\]\n$/);
    const { choices } = JSON.parse((await chat([...args, "--json"])).stdout);
    expect(choices[0].message.executed_tools).toMatchObject([{ name: "ReserveHotel", status: "completed" }]);
    expect(server.callsOf("/reserve").length).toBeGreaterThan(0);
  });

  it("says that an agent does not exist", async () => {
    const { code, stdout, stderr } = await chat(["nobody", "--message", "Hello"]);
    expect([code, stdout, stderr]).toEqual([REFUSED, "", expect.stringContaining("nobody")]);
  });
});

const RESERVE = {
  type: "function",
  function: {
    name: "ReserveHotel",
    description: "Reserve rooms at a selected place",
    parameters: {
      type: "object",
      required: ["place_name", "check_in_date", "stay_length"],
      properties: {
        place_name: { type: "string", description: "Name of the hotel" },
        check_in_date: { type: "string", description: "Start date of the reservation" },
        stay_length: { type: "string", description: "Number of days of the reservation" },
        number_of_rooms: { type: "string", enum: ["1", "2", "3"], default: "1", description: "Number of rooms" },
      },
    },
  },
};
