/**
 * A trainer is killed with SIGKILL at every hand-over to the edge, and another one goes on: one judgement, one version,
 * and the correction in it once.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestEdge, type TestEdge } from "../../helpers/edge.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { says, talkTo, type Message } from "../../edge/session/talk.ts";
import { SEARCH } from "../hotel.ts";

const PATIENCE_MS = 300_000;
const NOTHING = /^(idle|waiting)$/;
const HAND_OVERS = ["the judgement", "a file", "the version"].flatMap((what) => [`before ${what}`, `after ${what}`]);

let folder = "";
let baseFolder = "";
let edge: TestEdge;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-handovers-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
  edge = await startTestEdge({ baseFolder });
}, PATIENCE_MS);
afterAll(async () => {
  await edge.close();
  await rm(folder, { recursive: true, force: true });
}, PATIENCE_MS);

/** An agent whose user has corrected a call once; what a random base says is forced to be one. */
async function correctedAgent(name: string) {
  await putAgent(edge, name);
  const { ask, logged, events } = talkTo(edge, name);
  const extra = {
    tools: [SEARCH],
    tool_choice: { type: "function", function: { name: "SearchHotel" } },
    temperature: 1.5,
    max_tokens: 500,
  };
  const opening = says("A hotel in Porto, please.");
  const { message } = await ask([opening], { extra });
  const results = (message.tool_calls ?? []).map(({ id }): Message => ({ role: "tool", content: "{}", tool_call_id: id }));
  expect(results).not.toEqual([]);
  await ask([opening, message, ...results, says("No, the number of rooms should be 2.")]);
  await logged("nextState:arrived", 1);
  await logged("turn:finished", 2);
  return { events };
}

/** Runs a trainer for one step; tells what the step came to, or the signal that ended it. */
function train(agent: string, handOver: string): Promise<string> {
  const child = spawn(process.execPath, ["test/trainer/loop/dying-trainer.ts", edge.url, agent, baseFolder, handOver], {
    env: { ...process.env, NEXTSTATE_TRAINER_KEY: edge.keys.trainer },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => void (said += chunk.toString()));
  return new Promise((resolve) => child.once("close", (_, signal) => resolve(signal ?? said)));
}

describe("a trainer that is killed", { timeout: PATIENCE_MS }, () => {
  it.each(HAND_OVERS)("%s has reached the edge leaves the rest to the next one", async (handOver) => {
    const agent = handOver.replaceAll(" ", "-");
    const { events } = await correctedAgent(agent);
    expect(await train(agent, handOver)).toBe("SIGKILL");
    expect(await train(agent, "never")).toMatch(handOver === "after the version" ? NOTHING : /^published$/);
    expect(await train(agent, "never")).toMatch(NOTHING);

    const { body } = await call(edge, "admin", `GET /api/agents/${agent}/versions`);
    expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([1, 0]);
    const correction = (await events()).filter(({ payload }) => payload.kind === "nextState:arrived").map(({ eventId }) => eventId);
    expect(body.versions[0].events.map(({ eventId }: { eventId: string }) => eventId)).toEqual(correction);
    expect((await events()).filter(({ payload }) => payload.kind === "judgement:made")).toHaveLength(1);
  });

  it.each(["before the cursor", "after the cursor"])("%s has moved accounts for no event twice", async (handOver) => {
    const agent = handOver.replaceAll(" ", "-");
    await correctedAgent(agent);
    // Nothing is learnt, so the cursor is moved without a version.
    await putAgent(edge, agent, { learning: { enabled: false } });
    expect(await train(agent, handOver)).toBe("SIGKILL");
    expect(await train(agent, "never")).toMatch(handOver === "after the cursor" ? NOTHING : /^advanced$/);
    const { body } = await call(edge, "admin", `GET /api/agents/${agent}/audit`);
    const codes = body.audit.flatMap(({ refused }: { refused: { code: string }[] }) => refused.map(({ code }) => code));
    expect(codes).toEqual(["learning/disabled"]);
  });
});
