/** What a session still owes while whoever it has to tell is out of reach: nothing is lost, and the alarm is set for it. */
import { describe, expect, it } from "vitest";
import type { Env } from "../../../edge/env.ts";
import { SessionChores } from "../../../edge/session/chores.ts";
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

/** A session of one finished turn, which nobody knows of yet, beside a log that takes everything and a directory that can be out of reach. */
function begun() {
  const now = Date.now();
  const storage = sqliteStorage();
  const store = new SessionStore(storage);
  store.begin(SCOPE, now);
  store.openTurn({ ...TURN, ...POLICY, seed: 1, request: null, createdAt: now });
  store.finishTurn(FINISHED);
  const alarms: number[] = [];
  const lasting = { setAlarm: async (at: number) => void alarms.push(at) };
  const prepare = () => ({ bind: () => ({ raw: async () => [], run: async () => ({}) }) });
  const directory = { register: async () => undefined, forget: (): Promise<void> => Promise.resolve() };
  const env = { DB: { prepare }, DIRECTORY: { getByName: () => directory } } as unknown as Env;
  const chores = new SessionChores({
    ...{ env, store, storage: Object.assign(storage, lasting) },
    ...{ runs: () => false, inOrder: (step: () => Promise<void>) => step() },
  });
  return { chores, store, alarms, directory };
}

describe("a session's chores", () => {
  it("are paid by whoever waits behind an end of the session that fails", async () => {
    const { chores, store, alarms, directory } = begun();
    directory.forget = async () => Promise.reject(new Error("unreachable"));
    const [erased, paid] = [chores.erase(), chores.pay()];
    await expect(erased).rejects.toThrow("unreachable");
    await paid;
    expect([store.unregistered(), alarms.length]).toEqual([[], 1]);
  });
});
