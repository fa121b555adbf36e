/** Rows of before there were limits: a page of them is as many as an object may answer at once, and the next one goes on behind it. */
import { expect, it } from "vitest";
import { AgentStore } from "../../../edge/agent/store.ts";
import { manifestOf } from "../../helpers/call.ts";
import { sqliteStorage } from "../../helpers/sqlite-storage.ts";

const LARGE = "x".repeat(5_000_000);
const DIGEST = "a".repeat(64);

function storeOfFour(): AgentStore {
  const store = new AgentStore(sqliteStorage());
  const createdAt = "2026-01-02T03:04:05.678Z";
  store.create();
  for (const version of [1, 2, 3, 4]) {
    const manifest = { ...manifestOf({ agent: "old", baseDigest: DIGEST }), hints: [LARGE] };
    store.insertVersion({ ...manifest, version, policyDigest: DIGEST, createdAt }, "superseded");
    const refused = [{ eventId: "e1", code: "hint/none", detail: LARGE }];
    const moved = { from: null, to: version, versions: [], cursor: 0, refused, changes: [], createdAt };
    store.insertAudit({ line: "shared", move: "advance", actor: "trainer:k", reason: null, ...moved });
  }
  return store;
}

it("of versions and of the audit trail are read in pages that are no larger", () => {
  const store = storeOfFour();
  const versions = (before?: number) => store.readVersions("shared", { before, limit: 100 }).map(({ version }) => version);
  expect([versions(), versions(3), versions(1)]).toEqual([[4, 3], [2, 1], []]);
  const audit = (before?: number) => store.readAudit({ before, limit: 100, only: "refused" }).map(({ id }) => id);
  const [newest, next] = audit();
  expect(audit(next)).toEqual([Number(next) - 1, Number(next) - 2]);
  expect(Number(newest)).toBe(Number(next) + 1);
});
