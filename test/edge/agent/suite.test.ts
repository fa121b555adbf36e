/** Which learned cases a suite has while versions come, go and come back, and what is kept of the others. */
import { describe, expect, it } from "vitest";
import { Lineage } from "../../../edge/agent/lineage.ts";
import { Lines } from "../../../edge/agent/lines.ts";
import { baseVersion } from "../../../edge/agent/manifest.ts";
import { tipOf } from "../../../edge/agent/release.ts";
import { AgentStore } from "../../../edge/agent/store.ts";
import { Suite } from "../../../edge/agent/suite.ts";
import { SuiteStore } from "../../../edge/agent/suite-store.ts";
import { AgentSettings } from "../../../shared/agent.ts";
import type { SuiteCase } from "../../../shared/suite.ts";
import { manifestOf } from "../../helpers/call.ts";
import { sqliteStorage } from "../../helpers/sqlite-storage.ts";

const DIGEST = "a".repeat(64);
const CREATED = "2026-01-01T00:00:00.000Z";
const LINE = "shared";

/** A case by its name: the argument and its value. */
const named = (name: string, user = "u1") => {
  const [parameter = "", value = ""] = name.split(" ");
  const expectation = { tool: "SearchHotel", arguments: { [parameter]: value } };
  const messages = [{ role: "user" as const, content: "A hotel in Faro." }];
  return { caseId: `case_${name}`, name, messages, tools: [], expect: expectation, user, eventId: `e ${name}` };
};
const written = (name: string): SuiteCase => ({
  ...named(name),
  ...{ source: "person", user: null, eventId: null, version: null, createdAt: CREATED },
});
const many = (parameter: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${parameter}${index} x`);

function learningAgent() {
  const store = new AgentStore(sqliteStorage());
  const lineage = new Lineage(store);
  const lines = new Lines(store, lineage);
  const suite = new Suite(store, lines);
  store.create();
  const settings = (mode: "on" | "off"): void =>
    store.writeAgent({ name: "a", settings: AgentSettings.parse({ release: { canary: { mode } } }), createdAt: CREATED });
  settings("off");
  lines.create(LINE, baseVersion({ agent: "a", line: LINE, baseDigest: DIGEST, createdAt: CREATED }), "admin:key");
  let seq = 0;
  /** Publishes a version that has learned the cases. */
  const learn = (names: readonly string[], { mode = "off", user }: { mode?: "on" | "off"; user?: string } = {}): number => {
    settings(mode);
    const parent = tipOf(lines.state(LINE));
    const manifest = manifestOf({ agent: "a", baseDigest: DIGEST, parent, fromSeq: seq, toSeq: (seq += 1) });
    const published = lines.publish(manifest, { policyDigest: DIGEST, actor: "trainer:key", refused: [], rebuild: false });
    if (published.status !== "published") throw new Error(`a version expected, got ${published.status}`);
    suite.learn(
      LINE,
      published.version,
      names.map((name) => named(name, user)),
    );
    return published.version;
  };
  const cases = (version = tipOf(lines.state(LINE))): SuiteCase[] => suite.read(LINE, store.readAncestry(LINE, version));
  const names = (version?: number): string[] => cases(version).map(({ name }) => name);
  const rollBack = (to: number): void => void lines.rollback(LINE, { to }, "admin:key");
  return { store, lines, suite, learn, cases, names, rollBack };
}

describe("a case that a person writes", () => {
  it("takes a new name where there is room for no more", () => {
    const { suite, names } = learningAgent();
    for (const name of many("a", 100)) expect(suite.add(LINE, written(name), "admin:key")).toBe("added");
    expect(suite.add(LINE, written("b x"), "admin:key")).toBe("full");
    expect(suite.add(LINE, { ...written("a0 x"), name: "renamed" }, "admin:key")).toBe("added");
    expect([names().length, names().at(-1)]).toEqual([100, "renamed"]);
  });
});

describe("the suite of a line", () => {
  it("has the latest of each argument that the versions in use have learned, whichever these are", () => {
    const { learn, names, rollBack } = learningAgent();
    learn(["rooms 2", "view sea"]);
    learn(["rooms 3"]);
    expect(names()).toEqual(["view sea", "rooms 3"]);
    rollBack(1);
    expect(names()).toEqual(["rooms 2", "view sea"]);
    learn(["view city"]);
    expect(names()).toEqual(["rooms 2", "view city"]);
    rollBack(2);
    expect(names()).toEqual(["view sea", "rooms 3"]);
  });

  it("leaves the stable version's as it is while a canary runs that overrules it, and once that is taken back", () => {
    const { lines, learn, names } = learningAgent();
    const stable = learn(["rooms 2"]);
    learn(["rooms 3"], { mode: "on" });
    learn(["rooms 4"], { mode: "on" });
    expect(lines.state(LINE)).toMatchObject({ stable, canary: { version: 2 }, waiting: [3] });
    // The next candidate descends from what waits, and must keep what that does.
    expect([names(stable), names()]).toEqual([["rooms 2"], ["rooms 4"]]);
    lines.rollbackCanary(LINE, "worse", "edge:canary");
    expect([names(stable), names()]).toEqual([["rooms 2"], ["rooms 2"]]);
  });

  it("has a case that was learned again as the newest, and as the first version's", () => {
    const { learn, cases, rollBack } = learningAgent();
    const shown = () => cases().map(({ name, version }) => [name, version]);
    for (const name of ["rooms 2", "view sea", "rooms 2"]) learn([name]);
    expect(shown()).toEqual([
      ["view sea", 2],
      ["rooms 2", 1],
    ]);
    rollBack(1);
    expect(shown()).toEqual([["rooms 2", 1]]);
  });

  it("has what a person wrote once, whatever is learned and taken back, until it is deleted", () => {
    const { suite, learn, names, rollBack } = learningAgent();
    suite.add(LINE, written("rooms 2"), "admin:key");
    learn(["rooms 2"]);
    learn(["rooms 3"]);
    expect(names()).toEqual(["rooms 2", "rooms 3"]);
    rollBack(0);
    expect(names()).toEqual(["rooms 2"]);
    rollBack(2);
    expect(suite.drop(LINE, "case_rooms 2", "admin:key")).toBe(true);
    expect(names()).toEqual(["rooms 3"]);
    rollBack(1);
    expect(names()).toEqual([]);
  });

  it("has again what a deleted user had overruled, and nothing of the user's", () => {
    const { store, learn, names } = learningAgent();
    learn(["rooms 2"]);
    for (const name of ["rooms 3", "rooms 4", "rooms 3"]) learn([name], { user: "u2" });
    expect(store.suite.eraseUser(LINE, "u2")).toBe(2);
    expect(names()).toEqual(["rooms 2"]);
  });
});

describe("what is kept", () => {
  it("are the cases in use, however many versions have learned that were rolled back", () => {
    const { learn, names, rollBack } = learningAgent();
    learn(["rooms 2"]);
    for (const parameter of ["a", "b", "c", "d"]) {
      learn(many(parameter, 150));
      expect(names()).toHaveLength(100);
      rollBack(1);
      expect(names()).toEqual(["rooms 2"]);
    }
    learn(["view sea"]);
    expect(names()).toEqual(["rooms 2", "view sea"]);
  });

  it("is bounded, and of what is overruled goes first what it takes the longest way back to", () => {
    const { store, learn, names, rollBack } = learningAgent();
    learn(["rooms 2"]);
    const cities = Array.from({ length: 320 }, (_, index) => `city ${index}`);
    for (let start = 0; start < cities.length; start += 20) learn(cities.slice(start, start + 20));
    const last = learn(["rooms 3"]);
    expect(names()).toEqual(["city 319", "rooms 3"]);
    expect(store.suite.count(LINE, "correction")).toBe(300);
    rollBack(last - 1);
    expect(names()).toEqual(["rooms 2", "city 319"]);
  });

  it("is nothing of versions that no call brings back", () => {
    const { store, learn } = learningAgent();
    learn(["rooms 2"]);
    store.setStatus(LINE, learn(["rooms 3"], { mode: "on" }), "deleted");
    store.writeLine(LINE, { ...(store.readLine(LINE) ?? expect.fail("a line")), canary: null });
    learn(["view sea"]);
    expect(store.suite.count(LINE, "correction")).toBe(2);
  });

  it("takes over the table of an earlier release, which knew of a case one version alone", () => {
    const storage = sqliteStorage();
    storage.sql.exec(`CREATE TABLE suite (
      position INTEGER PRIMARY KEY AUTOINCREMENT, line TEXT NOT NULL, case_id TEXT NOT NULL, source TEXT NOT NULL, user TEXT,
      version INTEGER, record TEXT NOT NULL, UNIQUE (line, case_id));
      CREATE INDEX suite_user ON suite (line, user) WHERE user IS NOT NULL;`);
    const learned: SuiteCase = { ...named("rooms 2"), source: "correction", version: 1, createdAt: CREATED };
    for (const each of [learned, written("view sea")]) {
      const { caseId, source, user, version } = each;
      const values = [LINE, caseId, source, user, version, JSON.stringify(each)];
      storage.sql.exec("INSERT INTO suite (line, case_id, source, user, version, record) VALUES (?, ?, ?, ?, ?, ?)", ...values);
    }
    // An object wakes more than once.
    for (const store of [new SuiteStore(storage.sql), new SuiteStore(storage.sql)]) {
      store.create();
      expect(store.read(LINE, new Set([1]))).toEqual([learned, written("view sea")]);
    }
    const store = new SuiteStore(storage.sql);
    store.put(LINE, { ...learned, version: 2 });
    expect(store.read(LINE, new Set([1, 2])).map(({ version }) => version)).toEqual([1, null, 2]);
  });
});
