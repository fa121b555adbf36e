/**
 * Kills workerd with SIGKILL wherever a turn changes hands, and at random moments, while users who do not give up go
 * on talking. Afterwards the event log must hold every acknowledged turn once, with what the user saw, and no other.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEdgeHost, type EdgeHost } from "../../cli/edge-host.ts";
import { FAULT_POINTS } from "../../edge/faults.ts";
import { EventPayload, type TurnFinished } from "../../shared/events.ts";
import { says, talkTo } from "../edge/session/talk.ts";
import { bearer } from "../helpers/edge.ts";
import { PersistentUser } from "../helpers/persistent-user.ts";
import { writeRandomBase } from "../helpers/random-base.ts";

const RANDOM_KILLS = 20;
const SEED = 20_260_301;
const LOG_MS = 60_000;
// A machine of two busy cores starts an edge in a minute rather than a second.
const PATIENCE_MS = 300_000;

let folder = "";
let baseFolder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-crash-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a turn survives kill -9 of workerd", () => {
  it.for(FAULT_POINTS)("at %s", { timeout: PATIENCE_MS }, async (point) => {
    const stateFolder = join(folder, point.replace(":", "-"));
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const stalled = await startEdgeHost({
      stateFolder,
      baseFolder,
      vars: { FAULT: point },
      onLog: (line) => line.includes(`fault ${point}`) && reach(),
    });
    await createAgent(stalled);
    let url = stalled.url;
    const user = new PersistentUser({ url: () => url, key: stalled.keys.client, name: "ann" });
    const talk = user.say("hello").then(() => user.say("and now?"));
    await reached;
    process.kill(stalled.workerdPid() ?? 0, "SIGKILL");
    await stalled.close();

    const edge = await startEdgeHost({ stateFolder, baseFolder });
    url = edge.url;
    try {
      await talk;
      expect(user.acknowledged).toHaveLength(2);
      await expectLogToHold(edge, [user]);
    } finally {
      await edge.close();
    }
  });

  it(`at ${RANDOM_KILLS} random moments`, { timeout: PATIENCE_MS }, async () => {
    const random = seeded(SEED);
    const nextKill = (): number => 1 + Math.floor(random() * 40); // chunks, over all users
    let kills = 0;
    let chunksLeft = nextKill();
    const edge = await startEdgeHost({ stateFolder: join(folder, "random"), baseFolder, onRestart: () => void (chunksLeft = nextKill()) });
    const onChunk = (): void => {
      if (--chunksLeft !== 0 || kills >= RANDOM_KILLS) return;
      kills++;
      process.kill(edge.workerdPid() ?? 0, "SIGKILL");
    };
    try {
      await createAgent(edge);
      const users = ["ann", "ben", "eve"].map((name) => new PersistentUser({ url: () => edge.url, key: edge.keys.client, name, onChunk }));
      // Conversations of four turns each, one after the other, until all kills are done.
      await Promise.all(
        users.map(async (user) => {
          for (let turn = 0; kills < RANDOM_KILLS || turn % 4 !== 0; turn++) await user.say(`turn ${turn} of mine`);
        }),
      );
      expect(kills).toBe(RANDOM_KILLS);
      await expectLogToHold(edge, users);
    } finally {
      await edge.close();
    }
  });
});

it("kill -9 leaves nothing in the log of a turn that nothing may be kept of", { timeout: PATIENCE_MS }, async () => {
  const stateFolder = join(folder, "unstored");
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const onLog = (line: string): void => void (line.includes("fault token:first") && reach());
  const stalled = await startEdgeHost({ stateFolder, baseFolder, vars: { FAULT: "token:first" }, onLog });
  await createAgent(stalled);
  const asked = { extra: { store: false } };
  const lost = talkTo(stalled, "assistant")
    .post([says("hello")], asked)
    .catch(() => undefined);
  await reached;
  process.kill(stalled.workerdPid() ?? 0, "SIGKILL");
  await stalled.close();
  await lost;

  const edge = await startEdgeHost({ stateFolder, baseFolder });
  try {
    const { ask, counted, events } = talkTo(edge, "assistant");
    // The retry wakes the session that was cut off.
    expect((await ask([says("hello")], asked)).status).toBe(200);
    await counted({ aborted: 1, generations: 2 });
    expect(await events()).toEqual([]);
  } finally {
    await edge.close();
  }
});

/** Every acknowledged turn once, with its words; nothing else finished; one next state for each turn that was followed. */
async function expectLogToHold(edge: EdgeHost, users: readonly PersistentUser[]): Promise<void> {
  const acknowledged = users.flatMap((user) => user.acknowledged);
  const followed = users.flatMap((user) => user.acknowledged.slice(0, -1));
  const log = await readLog(edge, acknowledged.length, followed.length);
  const finished = log.filter((payload): payload is TurnFinished => payload.kind === "turn:finished");
  const seen = finished.map(({ completionId, answer }) => ({ completionId, content: answer.content ?? "" }));
  expect(seen.toSorted(byId)).toEqual(acknowledged.toSorted(byId));
  const next = log.flatMap((payload) => (payload.kind === "nextState:arrived" ? [payload.completionId] : []));
  expect(next.toSorted()).toEqual(followed.map(({ completionId }) => completionId).toSorted());
}

/** The log's payloads, once it has as many turns and next states as there must be. */
async function readLog(edge: EdgeHost, turns: number, nextStates: number): Promise<EventPayload[]> {
  const started = Date.now();
  for (;;) {
    const db = await edge.getD1();
    const { results } = await db.prepare("SELECT payload FROM events ORDER BY seq").all<{ payload: string }>();
    const payloads = results.map(({ payload }) => EventPayload.parse(JSON.parse(payload)));
    const count = (kind: EventPayload["kind"]): number => payloads.filter((payload) => payload.kind === kind).length;
    const complete = count("turn:finished") >= turns && count("nextState:arrived") >= nextStates;
    if (complete || Date.now() - started > LOG_MS) return payloads;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function createAgent({ url, keys }: EdgeHost): Promise<void> {
  const response = await fetch(`${url}/api/agents/assistant`, { method: "PUT", headers: bearer(keys.admin), body: "{}" });
  expect(response.status).toBe(200);
}

function byId(left: { completionId: string }, right: { completionId: string }): number {
  return left.completionId < right.completionId ? -1 : 1;
}

/** Numbers in [0, 1): mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
