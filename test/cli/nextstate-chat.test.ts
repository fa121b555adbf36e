/** `npx nextstate chat` with the shipped base: one message, lines of a script, and what becomes of calls. */
import { beforeAll, describe, expect, it } from "vitest";
import { call, putAgent } from "../helpers/call.ts";
import { withEdge } from "../helpers/edge.ts";
import { runNextstate, type Ended, type RunOptions } from "./run-nextstate.ts";

const DONE = 0;
const REFUSED = 1;
const REQUEST = "Book the Grand Hotel for three days from March 5th.";

const edge = withEdge({ baseFolder: "base" });
const chat = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  runNextstate(["chat", ...args, "--url", edge.url, "--state", edge.stateFolder], options);

describe("nextstate chat", () => {
  beforeAll(() => putAgent(edge, "hotel", { instructions: "You are a helpful assistant. Today is Friday, 2019-03-01.", tools: [RESERVE] }));

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
