/** A version that one trainer process made is made again from the log by another, bit for bit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { says, talkTo, type Message } from "../../edge/session/talk.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { startTestEdge, type TestEdge } from "../../helpers/edge.ts";
import { writeRandomBase } from "../../helpers/random-base.ts";
import { SEARCH } from "../hotel.ts";

const PATIENCE_MS = 300_000;
const AGENT = "rebuilt";
/** The published recipe asks nothing of its teacher, so a random base can learn by it; and no gate would let the result pass. */
const SETTINGS = { learning: { objective: "paper", notes: "off" }, release: { gate: { enabled: false } } };

let folder = "";
let base = "";
let edge: TestEdge;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-rebuild-"));
  base = await writeRandomBase(join(folder, "base"));
  edge = await startTestEdge({ baseFolder: base });
}, PATIENCE_MS);
afterAll(async () => {
  await edge.close();
  await rm(folder, { recursive: true, force: true });
}, PATIENCE_MS);

/** A conversation in which a user corrects a call, and the judgement of it, so that the trainer's own judge is not asked. */
async function correct(name: string): Promise<void> {
  const { ask, events } = talkTo(edge, AGENT);
  const extra = {
    tools: [SEARCH],
    tool_choice: { type: "function", function: { name: "SearchHotel" } },
    temperature: 1.5,
    max_tokens: 500,
  };
  const opening = says(`A hotel in ${name}, please.`);
  const { message, sessionId } = await ask([opening], { extra });
  const held = JSON.stringify(message.tool_calls);
  const rooms = ["2", "3"].find((value) => !held.includes(`number_of_rooms\\": \\"${value}`)) ?? "2";
  const results = (message.tool_calls ?? []).map(({ id }): Message => ({ role: "tool", content: "{}", tool_call_id: id }));
  await ask([opening, message, ...results, says(`No, the number of rooms should be ${rooms}, and with wifi.`)]);
  const find = async () => (await events()).find((event) => event.sessionId === sessionId && event.payload.kind === "nextState:arrived");
  await expect.poll(async () => (await find())?.payload.kind, { timeout: 20_000 }).toBe("nextState:arrived");
  const { seq: _seq, payload: _payload, ...event } = (await find()) ?? { seq: 0, payload: undefined, eventId: "" };
  const further = [{ hint: "has_wifi should be True.", tool: "SearchHotel" }];
  const hint = { hint: `number_of_rooms should be ${rooms}.`, tool: "SearchHotel", further };
  const payload = { kind: "judgement:made", subject: event.eventId, reward: -1, votes: [-1, -1, -1], judge: "embedded", ...hint };
  const judgement = { ...event, eventId: `${event.eventId}/judged`, payload };
  expect((await call(edge, "trainer", "POST /trainer/v1/judgements", { judgements: [judgement] })).status).toBe(200);
}

async function trainUntil(version: number): Promise<void> {
  const args = ["trainer/main.ts", "--url", edge.url, "--name", "t", "--base", base, "--state", folder, "--threads", "1"];
  const child = spawn(process.execPath, args, { env: { ...process.env, NEXTSTATE_TRAINER_KEY: edge.keys.trainer }, stdio: "ignore" });
  const latest = async () => (await call(edge, "admin", `GET /api/agents/${AGENT}/versions`)).body.latest;
  await expect.poll(latest, { timeout: 60_000 }).toBe(version);
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function rebuild(version: number): Promise<{ code: number; said: string }> {
  const args = ["trainer/main.ts", "rebuild", "--agent", AGENT, "--version", String(version), "--url", edge.url, "--base", base];
  const child = spawn(process.execPath, [...args, "--key", edge.keys.trainer], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, said };
}

describe("rebuild", { timeout: PATIENCE_MS }, () => {
  it("gives the bytes of each version again, whatever has happened since", async () => {
    await putAgent(edge, AGENT, SETTINGS);
    await correct("Porto");
    await trainUntil(1);
    await correct("Faro");
    await trainUntil(2);
    const { versions } = (await call(edge, "admin", `GET /api/agents/${AGENT}/versions`)).body;
    for (const { version, adapter } of versions.filter((each: { version: number }) => each.version > 0)) {
      const { code, said } = await rebuild(version);
      expect([code, JSON.parse(said)]).toMatchObject([
        0,
        { version, expected: adapter.weightsDigest, got: adapter.weightsDigest, same: true, madeOn: { threads: "1" } },
      ]);
    }
    const ids = versions[0].events.map(({ eventId }: { eventId: string }) => eventId);
    expect(ids).toEqual([ids[0], `${ids[0]}#2`]);
    expect(versions[0].adapter.weightsDigest).not.toBe(versions[1].adapter.weightsDigest);
  });

  it("says why a version cannot be made again, and what it needs to be told", async () => {
    expect(await rebuild(0)).toMatchObject({ code: 2, said: expect.stringContaining("--version <n>") });
    expect(await rebuild(99)).toMatchObject({ code: 2, said: expect.stringContaining("404") });
  });
});
