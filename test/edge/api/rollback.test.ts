/** A rollback as it is asked for and answered over HTTP: what a request has to name, and what stays barred however often it is moved. */
import { beforeAll, expect, it } from "vitest";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, fillLog, lineage, manifestOf, putAgent, type Answer } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();
beforeAll(() => fillLog(edge));

const admin = (route: string, body?: unknown): Promise<Answer> => {
  const [method, path] = route.split(" ");
  return call(edge, "admin", `${method} /api/agents/${path}`, body);
};

it("says what to send where a request names no version", async () => {
  await putAgent(edge, "unnamed");
  const said = async (move: string, body: unknown) => (await admin(`POST unnamed/${move}`, body)).body.error.message;
  for (const body of [{ version: 0 }, { to: "0" }, { to: -1 }, { to: 0.5 }])
    expect(await said("rollback", body)).toBe('to: the number of a version expected, as in {"to": 0}');
  expect(await said("promote", { to: 1 })).toBe('version: the number of a version expected, as in {"version": 0}');
  expect(await said("rollback", { to: 0, quarantine: "no" })).toBe("quarantine: boolean expected, got string");
  expect(await said("rollback", [])).toBe("object expected, got array");
});

it("changes nothing where another version came than somebody has seen", async () => {
  await putAgent(edge, "seen", { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, "seen");
  const manifest = manifestOf({ agent: "seen", baseDigest: edge.baseDigest, adapter, toSeq: 1, events: [lineage("s1", 1)] });
  await call(edge, "trainer", "POST /trainer/v1/agents/seen/lines/shared/versions", { parent: 0, manifest });
  const stale = await admin("POST seen/rollback", { to: 0, seen: { stable: 0, latest: 0 } });
  expect([stale.status, stale.body.error.message]).toEqual([
    409,
    "seen: stable 1 and latest 1 expected, which came meanwhile, got 0 and 0; nothing was changed",
  ]);
  expect((await admin("GET seen/release")).body.stable).toBe(1);
  expect((await admin("POST seen/rollback", { to: 0, seen: { stable: 1, latest: 1 } })).body).toMatchObject({ versions: [1] });
});

it("tells of what was barred by an earlier rollback that it stays so, forward and back, until it is let back in", async () => {
  await putAgent(edge, "to-and-fro", { release: { canary: { mode: "off" } } });
  const adapter = await putAdapter(edge, "to and fro");
  const events = [lineage("t1", 1), lineage("t1#2", 1), lineage("t2", 2)];
  const manifest = manifestOf({ agent: "to-and-fro", baseDigest: edge.baseDigest, adapter, toSeq: 2, events });
  const published = await call(edge, "trainer", "POST /trainer/v1/agents/to-and-fro/lines/shared/versions", { parent: 0, manifest });
  expect(published.body).toMatchObject({ version: 1, release: "stable" });
  const rolled = async (body: object) => (await admin("POST to-and-fro/rollback", body)).body;
  expect(await rolled({ to: 0 })).toMatchObject({ versions: [1], quarantined: 2, reopened: 0, barred: 0 });
  expect(await rolled({ to: 1 })).toMatchObject({ versions: [], quarantined: 0, reopened: 0, barred: 2 });
  expect(await rolled({ to: 0, quarantine: false })).toMatchObject({ versions: [1], quarantined: 0, reopened: 0, barred: 2 });
  await admin("POST to-and-fro/quarantine/release", { events: ["t1"] });
  expect(await rolled({ to: 1 })).toMatchObject({ barred: 1 });
  expect(await rolled({ to: 0 })).toMatchObject({ versions: [1], quarantined: 1, barred: 1 });
});
