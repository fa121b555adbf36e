/**
 * Kills the trainer with SIGKILL again and again while conversations go on. Afterwards every event has been consumed
 * once: the cursor only ever moved forward, up to the last signal, no signal was accounted for twice or judged twice.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { SupervisedChild } from "../../cli/supervised-child.ts";
import { bearer, startTestEdge, type TestEdge } from "../helpers/edge.ts";
import { PersistentUser } from "../helpers/persistent-user.ts";
import { writeRandomBase } from "../helpers/random-base.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The n-th line that a trainer says is the last one of its life: it says one at every step that it takes. */
const LINES_OF_LIFE = [2, 4, 3, 6, 5];
const CONSUMED_MS = 120_000;
// A machine of two busy cores starts an edge in a minute rather than a second.
const PATIENCE_MS = 300_000;

const Move = z.object({ id: z.number(), move: z.string(), cursor: z.number(), refused: z.array(z.object({ eventId: z.string() })) });
const Audit = z.object({ audit: z.array(Move) });
const Head = z.object({ cursor: z.number() });

describe("the trainer", () => {
  let folder = "";
  let edge: TestEdge;
  let trainer: SupervisedChild;
  let deaths = 0;
  let lines = 0; // of the living trainer
  let linesEver = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nextstate-crash-trainer-"));
    const baseFolder = await writeRandomBase(join(folder, "base"));
    edge = await startTestEdge({ baseFolder });
    const made = await fetch(`${edge.url}/api/agents/assistant`, { method: "PUT", headers: bearer(edge.keys.admin), body: "{}" });
    expect(made.status).toBe(200);
    trainer = new SupervisedChild({
      command: process.execPath,
      args: [
        "trainer/main.ts",
        "--url",
        edge.url,
        "--name",
        "t",
        "--base",
        baseFolder,
        "--state",
        folder,
        "--threads",
        "1",
        "--wait-ms",
        "1000",
      ],
      env: { NEXTSTATE_TRAINER_KEY: edge.keys.trainer },
      onStart: () => void (lines = 0),
      onLine: () => {
        linesEver++;
        if (++lines === LINES_OF_LIFE[deaths]) process.kill(trainer.pid ?? 0, "SIGKILL");
      },
      onDeath: () => void deaths++,
    });
  }, PATIENCE_MS);

  afterAll(async () => {
    await trainer.stop();
    await edge.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("consumes every event once though it is killed again and again", { timeout: PATIENCE_MS }, async () => {
    const user = new PersistentUser({ url: () => edge.url, key: edge.keys.client, name: "ann" });
    for (let talk = 0; deaths < LINES_OF_LIFE.length; talk++) {
      const heard = linesEver;
      user.startOver();
      for (const text of ["book it", "no, it should be two", "thanks"]) await user.say(`${text} (${talk})`);
      await until(() => linesEver > heard);
    }

    const db = await edge.getD1();
    const signals = "SELECT max(seq) AS seq FROM events WHERE kind = 'nextState:arrived'";
    const last = await db.prepare(signals).first<number>("seq");
    await until(async () => (await readHead(edge)).cursor >= (last ?? 0));

    const { audit } = Audit.parse(await readApi(edge, "/api/agents/assistant/audit?limit=100"));
    const moves = audit.filter(({ move }) => move === "advance" || move === "publish").toSorted((left, right) => left.id - right.id);
    expect(moves.length).toBeGreaterThan(0);
    const cursors = moves.map(({ cursor }) => cursor);
    expect(cursors).toEqual([...new Set(cursors)].toSorted((left, right) => left - right));
    const accounted = moves.flatMap(({ refused }) => refused.map(({ eventId }) => eventId));
    expect(new Set(accounted).size).toBe(accounted.length);

    const subjects = "SELECT json_extract(payload, '$.subject') AS subject FROM events WHERE kind = 'judgement:made'";
    const { results } = await db.prepare(subjects).all<{ subject: string }>();
    expect(results.length).toBeGreaterThan(0);
    expect(new Set(results.map(({ subject }) => subject)).size).toBe(results.length);
  });
});

async function readHead(edge: TestEdge): Promise<z.infer<typeof Head>> {
  const response = await fetch(`${edge.url}/trainer/v1/agents/assistant/lines/shared/head`, { headers: bearer(edge.keys.trainer) });
  return Head.parse(await response.json());
}

async function readApi(edge: TestEdge, path: string): Promise<unknown> {
  const response = await fetch(`${edge.url}${path}`, { headers: bearer(edge.keys.admin) });
  return response.json();
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const started = Date.now();
  while (!(await condition())) {
    if (Date.now() - started > CONSUMED_MS) throw new Error(`condition expected within ${CONSUMED_MS} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
