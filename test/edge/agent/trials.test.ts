/** What time does to a canary, and what becomes of an agent that an earlier release has left. */
import { describe, expect, it } from "vitest";
import { Lineage } from "../../../edge/agent/lineage.ts";
import { Lines } from "../../../edge/agent/lines.ts";
import { AgentStore } from "../../../edge/agent/store.ts";
import { Trials } from "../../../edge/agent/trials.ts";
import { baseVersion } from "../../../edge/agent/manifest.ts";
import { AgentSettings } from "../../../shared/agent.ts";
import { lineage, manifestOf } from "../../helpers/call.ts";
import { sqliteStorage } from "../../helpers/sqlite-storage.ts";

const DIGEST = "a".repeat(64);
const DAY_MS = 86_400_000;
const BASE = { agent: "a", line: "shared", baseDigest: DIGEST, createdAt: "2026-01-01T00:00:00.000Z" };

function agentOnTrial() {
  const store = new AgentStore(sqliteStorage());
  const parts = new Lineage(store);
  const lines = new Lines(store, parts);
  store.create();
  store.writeAgent({ name: "a", settings: AgentSettings.parse({ release: { canary: { mode: "on" } } }), createdAt: BASE.createdAt });
  lines.create("shared", baseVersion(BASE), "admin:key");
  // Nobody has to be heard for what learned from nothing.
  const manifest = manifestOf({ agent: "a", baseDigest: DIGEST, toSeq: 1 });
  const busy = (turns: number, at: number): void => {
    for (let turn = 0; turn < turns; turn += 1)
      store.trials.countTurn("shared", { user: `u${turn % 9}`, keyId: "key", createdAt: new Date(at).toISOString() });
  };
  busy(200, Date.now());
  const published = lines.publish(manifest, { policyDigest: DIGEST, actor: "trainer:key", refused: [], rebuild: false });
  expect(published).toEqual({ status: "published", version: 1, release: "canary" });
  const trials = new Trials(store, lines, parts);
  return { store, lines, trials, busy, canary: () => lines.state("shared").canary };
}

describe("a canary that nothing decides", () => {
  it("is given half of the conversations once its line has little traffic", () => {
    const { trials, busy, canary } = agentOnTrial();
    const now = Date.now();
    expect(canary()?.share).toBe(0.1);
    trials.decide("shared", now + DAY_MS / 2);
    expect(canary()?.share).toBe(0.1);
    busy(200, now + 3 * DAY_MS);
    trials.decide("shared", now + 3 * DAY_MS);
    expect(canary()?.share).toBe(0.1);
    trials.decide("shared", now + 6 * DAY_MS);
    expect(canary()?.share).toBe(0.5);
  });

  it("is put to a person after 14 days, once, and goes on meanwhile", () => {
    const { store, trials, canary } = agentOnTrial();
    const now = Date.now();
    trials.decide("shared", now + 13 * DAY_MS);
    expect(canary()?.askedAt).toBeNull();
    for (const days of [15, 16]) trials.decide("shared", now + days * DAY_MS);
    expect(canary()).toMatchObject({ version: 1, askedAt: expect.any(String) });
    const asked = store.readAudit({ limit: 100 }).filter(({ move }) => move === "ask");
    expect(asked).toMatchObject([
      { actor: "edge:canary", reason: expect.stringMatching(/^undecided after 14 days: 0 judged conversations/) },
    ]);
  });
});

it("takes over an object of before releases: what was stable is, and what versions had learned from is known", () => {
  const storage = sqliteStorage();
  storage.sql.exec(`
    CREATE TABLE agent (id INTEGER PRIMARY KEY CHECK (id = 0), record TEXT NOT NULL);
    CREATE TABLE lines (line TEXT PRIMARY KEY, stable INTEGER NOT NULL, latest INTEGER NOT NULL, cursor INTEGER NOT NULL, revision INTEGER NOT NULL);
    CREATE TABLE versions (line TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (line, version)) WITHOUT ROWID;
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, move TEXT NOT NULL, actor TEXT NOT NULL, reason TEXT,
      from_version INTEGER, to_version INTEGER, cursor INTEGER NOT NULL, refused TEXT NOT NULL, created_at TEXT NOT NULL);
    INSERT INTO lines VALUES ('shared', 1, 1, 4, 2);`);
  const { gate: _gate, inputs: _inputs, ...learned } = manifestOf({ agent: "a", baseDigest: DIGEST, toSeq: 4, events: [lineage("e4", 4)] });
  const { gate: _none, inputs: _nothing, ...base } = baseVersion(BASE);
  const first = { ...learned, version: 1, policyDigest: DIGEST, createdAt: BASE.createdAt };
  for (const record of [base, first])
    storage.sql.exec("INSERT INTO versions VALUES ('shared', ?, ?)", record.version, JSON.stringify(record));
  for (const store of [new AgentStore(storage), new AgentStore(storage)]) {
    expect(store.readLine("shared")).toEqual({ stable: 1, canary: null, waiting: [], latest: 1, cursor: 4, revision: 2 });
    expect(store.readVersions("shared", { limit: 9 })).toMatchObject([
      { version: 1, status: "stable", gate: null, inputs: null },
      { version: 0, status: "superseded" },
    ]);
    expect(store.quarantine.uses("shared", { version: 1 })).toEqual([
      { line: "shared", eventId: "e4", version: 1, seq: 4, user: "u1", turnId: "turn-4" },
    ]);
  }
  const store = new AgentStore(storage);
  expect(store.readAudit({ limit: 9, version: 1 })).toEqual([]);
  const back = new Lines(store, new Lineage(store)).rollback("shared", { to: 0 }, "admin:key");
  expect(back).toEqual({ status: "rolledBack", from: 1, to: 0, versions: [1], quarantined: 1, reopened: 0, barred: 0 });
});
