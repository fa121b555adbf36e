/** A key of one kind opens no door of another: every route with every kind of key. */
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../shared/digest.ts";
import { call, type Answer, type KeyHolder } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";

const edge = withEdge();

const ROUTES: Record<KeyHolder, string[]> = {
  client: ["POST /v1/chat/completions", "GET /v1/models", "POST /v1/feedback"],
  admin: [
    "GET /api/agents",
    "PUT /api/agents/a",
    "GET /api/agents/a",
    "GET /api/agents/a/versions",
    "GET /api/agents/a/versions/0",
    "GET /api/agents/a/audit",
    "POST /api/agents/a/rollback",
    "GET /api/agents/a/events",
    "GET /api/agents/a/notes",
    "DELETE /api/agents/a/notes/n_1",
    "GET /api/stats",
  ],
  trainer: [
    "GET /trainer/v1/feed?agent=a",
    "GET /trainer/v1/agents",
    "GET /trainer/v1/agents/a/lines/shared/head",
    "GET /trainer/v1/agents/a/lines/shared/versions/0",
    "POST /trainer/v1/agents/a/lines/shared/versions",
    "POST /trainer/v1/agents/a/lines/shared/cursor",
    "GET /trainer/v1/agents/a/lines/shared/notes",
    "POST /trainer/v1/agents/a/lines/shared/notes/n_1/absorbed",
    "GET /trainer/v1/turns?agent=a&session=s",
    `PUT /trainer/v1/files/${"0".repeat(64)}`,
    `GET /trainer/v1/files/${"0".repeat(64)}`,
    "POST /trainer/v1/judgements",
  ],
};
const HOLDERS: KeyHolder[] = ["client", "admin", "trainer"];
const TABLE = HOLDERS.flatMap((owner) => ROUTES[owner].map((route) => ({ route, owner })));
const bodyFor = (route: string): string | undefined => (route.startsWith("GET") ? undefined : "{}");

async function withAuthorization(route: string, authorization: string | undefined): Promise<Omit<Answer, "headers">> {
  const [method, path] = route.split(" ");
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const response = await fetch(`${edge.url}${path}`, { method: method ?? "GET", headers });
  return { status: response.status, body: await response.json() };
}

describe("keys", () => {
  it.each(TABLE)("$route opens to a $owner key and to no other", async ({ route, owner }) => {
    for (const holder of HOLDERS) {
      const { status, body } = await call(edge, holder, route, bodyFor(route));
      if (holder === owner) expect([401, 403]).not.toContain(status);
      else {
        expect(status).toBe(403);
        expect(body.error).toMatchObject({ type: "permission_error", param: null, code: "wrong_key_kind" });
        expect(body.error.message).toContain(`a key of kind ${owner} expected, got one of kind ${holder}`);
      }
    }
  });

  it.each(TABLE)("$route answers 401 without a key and to a key it does not know", async ({ route, owner }) => {
    const without = await withAuthorization(route, undefined);
    expect(without.status).toBe(401);
    expect(without.body.error.message).toContain(`"Bearer <${owner} key>" expected, got none`);
    for (const wrong of ["Bearer nsk_client_guess", `Basic ${edge.keys[owner]}`, `Bearer ${edge.keys[owner]}x`, "Bearer"])
      expect((await withAuthorization(route, wrong)).status).toBe(401);
  });

  it("refuses a revoked key", async () => {
    const db = await edge.getD1();
    const insert = db.prepare("INSERT INTO keys (id, kind, hash, name, created_at, revoked_at) VALUES (?, 'admin', ?, ?, 1, ?)");
    await insert.bind("k1", await sha256("nsk_admin_live"), "live", null).run();
    await insert.bind("k2", await sha256("nsk_admin_dead"), "dead", 2).run();
    expect((await withAuthorization("GET /api/stats", "Bearer nsk_admin_live")).status).toBe(200);
    const dead = await withAuthorization("GET /api/stats", "Bearer nsk_admin_dead");
    expect([dead.status, dead.body.error.code]).toEqual([401, "invalid_api_key"]);
  });

  it("that were seen go on working while the database is down; others are asked to come again", async () => {
    const db = await edge.getD1();
    await withAuthorization("GET /trainer/v1/feed", `Bearer ${edge.keys.trainer}`);
    await db.prepare("ALTER TABLE keys RENAME TO keys_away").run();
    const known = await withAuthorization("GET /trainer/v1/feed", `Bearer ${edge.keys.trainer}`);
    const unknown = await withAuthorization("GET /trainer/v1/feed", "Bearer nsk_trainer_not_seen_yet");
    await db.prepare("ALTER TABLE keys_away RENAME TO keys").run();
    expect(known.status).toBe(400); // past the key, at the query that names no agent
    expect([unknown.status, unknown.body.error.code]).toEqual([502, "upstream/unreachable"]);
    expect((await withAuthorization("GET /trainer/v1/feed", "Bearer nsk_trainer_not_seen_yet")).status).toBe(401);
  });

  it("asks for none at /healthz", async () => {
    expect(await withAuthorization("GET /healthz", undefined)).toEqual({ status: 200, body: { status: "ok" } });
  });
});
