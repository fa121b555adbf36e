/** What a session still owes while whoever it has to tell is out of reach: nothing is lost, and the alarm is set for it. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../edge/env.ts";
import { SessionChores } from "../../../edge/session/chores.ts";
import { sessionClosed } from "../../../edge/session/events.ts";
import { owes } from "../../../edge/session/outbox.ts";
import { SessionStore } from "../../../edge/session/store.ts";
import { sqliteStorage } from "../../helpers/sqlite-storage.ts";

const SCOPE = { sessionId: "s", agent: "hotel", line: "shared", keyId: "k", user: "u", name: "n" };
const TURN = {
  turnIndex: 0,
  turnId: "s/0",
  turnKind: "main",
  origin: "opening",
  retry: { requestDigest: "r", idempotencyKey: undefined, retryCount: 0 },
  transcriptDigest: "t",
} as const;
const POLICY = { policyLine: "shared", policyVersion: 0, policyDigest: "p" };
const FINISHED = { turnId: "s/0", answerDigest: "00a0", messageDigest: "m", deltas: [], register: true, recallable: false };

afterEach(() => void vi.restoreAllMocks());

/** A session of one finished turn, which nobody knows of yet, beside a log that takes everything and a directory that can be out of reach. */
function begun() {
  const logged = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const now = Date.now();
  const storage = sqliteStorage();
  const store = new SessionStore(storage);
  store.begin(SCOPE, now);
  store.openTurn({ ...TURN, ...POLICY, seed: 1, request: null, createdAt: now });
  store.finishTurn(FINISHED);
  store.enqueue(sessionClosed({ session: SCOPE, turnId: TURN.turnId, now }, "done"));
  const alarms: number[] = [];
  const alarm = { setAlarm: async (at: number) => void alarms.push(at), deleteAlarm: async () => undefined };
  const deleteAll = async (): Promise<void> => {
    const tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    for (const { name } of storage.sql.exec<{ name: string }>(tables).toArray()) storage.sql.exec(`DROP TABLE ${name}`);
  };
  const turn = { runs: false, behind: [] as (() => Promise<void>)[] };
  const inOrder = (step: () => Promise<void>): Promise<void> =>
    turn.runs ? new Promise((resolve, reject) => turn.behind.push(() => step().then(resolve, reject))) : step();
  const user = { isDeleted: false };
  const asked: string[] = [];
  const appended: unknown[] = [];
  const rows = (query: string): string[][] => (query.includes('from "deletions"') && user.isDeleted ? [["u"]] : []);
  const raw = async (query: string) => (asked.push(query), rows(query));
  const prepare = (query: string) => ({ bind: () => ({ raw: async () => raw(query), run: async () => ({}) }) });
  const batch = async (statements: unknown[]) => (appended.push(...statements), statements.map(() => ({ results: [] })));
  const directory = { register: async () => undefined, forget: (): Promise<void> => Promise.resolve() };
  const agent = { eventsAppended: async () => undefined };
  const env = { DB: { prepare, batch }, DIRECTORY: { getByName: () => directory }, AGENTS: { getByName: () => agent } } as unknown as Env;
  const chores = new SessionChores({
    ...{ env, store, storage: Object.assign(storage, alarm, { deleteAll }) },
    ...{ runs: () => false, inOrder },
  });
  return { chores, storage, store, alarms, user, directory, turn, asked, appended, logged };
}

describe("a session's chores", () => {
  it("ask the log once whether the user was deleted, before they append", async () => {
    const { chores, store, asked, appended } = begun();
    await chores.pay();
    expect([asked.length, appended.length > 0, owes(store)]).toEqual([1, true, false]);
  });

  it("are paid by whoever waits behind an end of the session that fails", async () => {
    const { chores, store, alarms, directory } = begun();
    directory.forget = async () => Promise.reject(new Error("unreachable"));
    const [erased, paid] = [chores.erase(), chores.pay()];
    await expect(erased).rejects.toThrow("unreachable");
    await paid;
    expect([store.unregistered(), alarms.length]).toEqual([[], 1]);
  });

  it("end the session of a deleted user by the alarm, where the directory cannot be reached before", async () => {
    const { chores, store, alarms, user, directory, appended } = begun();
    user.isDeleted = true;
    directory.forget = async () => Promise.reject(new Error("unreachable"));
    await chores.pay();
    expect([store.state()?.user, alarms.length > 0, appended]).toEqual(["u", true, []]);
    directory.forget = async () => undefined;
    await chores.ring();
    expect(store.state()).toBeUndefined();
  });

  it("end the session of a deleted user also where the log is to have nothing of it", async () => {
    const { chores, store, user } = begun();
    store.dequeue(store.outbox(1).last);
    user.isDeleted = true;
    await chores.pay();
    expect(store.state()).toBeUndefined();
  });

  it("tell the log of a session that owes events and has no turn", async () => {
    const { chores, storage, store, appended, logged } = begun();
    storage.sql.exec("DELETE FROM turns");
    await chores.pay();
    expect([logged.mock.calls.length, owes(store), appended]).toEqual([1, true, []]);
  });

  it("are planned whatever the outbox has, and what the log would not take never comes into it", async () => {
    const { chores, storage, store, alarms, logged } = begun();
    const closed = sessionClosed({ session: SCOPE, turnId: TURN.turnId, now: Date.now() }, "done");
    expect(() => store.enqueue({ ...closed, payload: { kind: "none" } as never })).toThrow("kind");
    storage.sql.exec("UPDATE outbox SET event = '{}'");
    await chores.pay();
    expect([owes(store), alarms.length, logged.mock.calls.length]).toEqual([true, 1, 1]);
  });

  it("set the alarm before the session of a deleted user waits for its turn to end", async () => {
    const { chores, alarms, user, turn } = begun();
    user.isDeleted = true;
    turn.runs = true;
    void chores.pay();
    await vi.waitFor(() => expect(alarms).toHaveLength(1));
  });

  it("end no session that has begun since the deleted user's ended", async () => {
    const { chores, store, user, turn } = begun();
    user.isDeleted = true;
    turn.runs = true;
    void chores.pay();
    void chores.pay();
    await vi.waitFor(() => expect(turn.behind).toHaveLength(2));
    const [first, second] = turn.behind;
    await first?.();
    expect(store.state()).toBeUndefined();
    const later = Date.now() + 1000;
    store.begin(SCOPE, later);
    store.openTurn({ ...TURN, ...POLICY, seed: 2, request: null, createdAt: later });
    await second?.();
    expect(store.begunAt()).toBe(later);
  });
});
