import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { cookieOf } from "../../../edge/middleware/login.ts";
import { bearer, withEdge } from "../../helpers/edge.ts";

const Made = z.object({ id: z.string(), key: z.string() });
const Answer = z.object({ csrf: z.string(), key: z.object({ id: z.string(), name: z.string() }), expiresAt: z.iso.datetime() });

describe("/api/login", () => {
  const edge = withEdge();
  let admin: z.infer<typeof Made>;

  const makeKey = async (kind: string, more: object = {}): Promise<z.infer<typeof Made>> => {
    const body = JSON.stringify({ kind, name: `a ${kind}`, ...more });
    const response = await fetch(`${edge.url}/api/keys`, { method: "POST", headers: bearer(edge.keys.admin), body });
    return Made.parse(await response.json());
  };
  const logIn = (key: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${edge.url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ key }),
    });
  const begin = async (key: string): Promise<{ cookie: string; csrf: string; set: string }> => {
    const response = await logIn(key);
    const set = response.headers.get("set-cookie") ?? "";
    return { set, cookie: set.split(";")[0] ?? "", csrf: Answer.parse(await response.json()).csrf };
  };
  const status = async (path: string, init: RequestInit = {}): Promise<number> => (await fetch(`${edge.url}${path}`, init)).status;
  const codeOf = async (response: Response): Promise<unknown> =>
    z.object({ error: z.object({ code: z.string() }) }).parse(await response.json()).error.code;

  beforeAll(async () => void (admin = await makeKey("admin")));

  it("names the cookie over https so that no other host can have set it", () => {
    expect(cookieOf("https://desk.example/api/login")).toMatchObject({ name: "__Host-nextstate_login", secure: true, path: "/" });
    expect(cookieOf("http://127.0.0.1:8787/api/login")).toMatchObject({ name: "nextstate_login", secure: false });
  });

  it("lets nothing that it tells be kept, and says of a file that is not there that it is not", async () => {
    const cacheOf = async (path: string, headers = {}): Promise<string | null> =>
      (await fetch(`${edge.url}${path}`, { headers })).headers.get("cache-control");
    expect(await cacheOf("/api/login")).toBe("no-store");
    expect(await cacheOf("/api/agents")).toBe("no-store");
    expect(await cacheOf("/api/agents", bearer(admin.key))).toBe("no-store");
    expect(await cacheOf("/v1/models", bearer(edge.keys.client))).toBe("no-store");
    expect(await cacheOf("/trainer/v1/agents", bearer(edge.keys.trainer))).toBe("no-store");
    const page = async (path: string) => {
      const response = await fetch(`${edge.url}${path}`);
      return [response.status, (await response.text()).includes('<div id="app">'), response.headers.has("content-security-policy")];
    };
    expect([await page("/assets/gone.js"), await cacheOf("/assets/gone.js")]).toEqual([[404, false, false], null]);
    const [script = ""] = /\/assets\/[^"]+\.js/.exec(await (await fetch(edge.url)).text()) ?? [];
    expect(await cacheOf(script)).toContain("immutable");
    for (const path of ["/", "/keys", "/agents/desk/versions/3"]) expect(await page(path)).toEqual([200, true, true]);
    expect((await page("/nowhere"))[0]).toBe(404);
  });

  it("turns an admin key into a cookie that scripts and other sites do not get", async () => {
    const { set, cookie } = await begin(admin.key);
    expect(set).toMatch(/^nextstate_login=[0-9a-f]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await status("/api/agents", { headers: { cookie } })).toBe(200);
    const told = await fetch(`${edge.url}/api/login`, { headers: { cookie } });
    expect(z.object({ login: Answer }).parse(await told.json()).login.key).toMatchObject({ id: admin.id, name: "a admin" });
  });

  it("keeps no token that could be read from the database", async () => {
    const { cookie } = await begin(admin.key);
    const { results } = await (await edge.getD1()).prepare("SELECT * FROM logins").all();
    expect(results.length).toBeGreaterThan(0);
    expect(JSON.stringify(results)).not.toContain(cookie.split("=")[1]);
  });

  it("lets nothing be changed without the token that only its own pages can read", async () => {
    const { cookie, csrf } = await begin(admin.key);
    const put = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${edge.url}/api/agents/by-cookie`, { method: "PUT", headers: { cookie, ...headers }, body: "{}" });
    const refused = await put({});
    expect([refused.status, await codeOf(refused)]).toEqual([403, "csrf"]);
    expect((await put({ "x-csrf-token": "0".repeat(64) })).status).toBe(403);
    expect(await status("/api/agents/by-cookie", { headers: { cookie } })).toBe(404);
    expect((await put({ "x-csrf-token": csrf })).status).toBe(200);
  });

  it("refuses keys that are wrong, or of another kind, and pages of another origin", async () => {
    const wrong = await logIn("nsk_admin_wrong");
    expect([wrong.status, await codeOf(wrong), wrong.headers.get("set-cookie")]).toEqual([401, "invalid_api_key", null]);
    const client = await logIn(edge.keys.client);
    expect([client.status, await codeOf(client)]).toEqual([403, "wrong_key_kind"]);
    expect((await logIn(admin.key, { origin: "https://elsewhere.example" })).status).toBe(403);
    expect((await logIn(admin.key, { origin: edge.url })).status).toBe(200);
  });

  it("opens no route of clients and trainers", async () => {
    const { cookie, csrf } = await begin(admin.key);
    const headers = { cookie, "x-csrf-token": csrf };
    expect(await status("/v1/models", { headers })).toBe(401);
    expect(await status("/trainer/v1/lines", { headers })).toBe(401);
  });

  it("says that nobody is logged in, and ends where it is asked to", async () => {
    expect(await (await fetch(`${edge.url}/api/login`)).json()).toEqual({ login: null });
    const { cookie, csrf } = await begin(admin.key);
    expect(await status("/api/login", { method: "DELETE", headers: { cookie } })).toBe(403);
    expect(await status("/api/login", { method: "DELETE", headers: { cookie, "x-csrf-token": csrf } })).toBe(200);
    const ended = await fetch(`${edge.url}/api/agents`, { headers: { cookie } });
    expect([ended.status, await codeOf(ended)]).toEqual([401, "login_ended"]);
  });

  it.each(["rotate", "revoke"])("is worth nothing once somebody does %s its key", async (move) => {
    const key = await makeKey("admin");
    const { cookie, csrf } = await begin(key.key);
    expect(await status("/api/agents", { headers: { cookie } })).toBe(200);
    const [path, method] = move === "rotate" ? [`/api/keys/${key.id}/rotate`, "POST"] : [`/api/keys/${key.id}`, "DELETE"];
    expect(await status(path, { method, headers: bearer(edge.keys.admin) })).toBe(200);
    expect(await status("/api/agents", { headers: { cookie } })).toBe(401);
    expect(await status("/api/login", { headers: { cookie } })).toBe(401);
    // Logging out of what has ended ends the cookie.
    const out = await fetch(`${edge.url}/api/login`, { method: "DELETE", headers: { cookie, "x-csrf-token": csrf } });
    expect([out.status, out.headers.get("set-cookie")]).toEqual([200, expect.stringMatching(/^nextstate_login=; Max-Age=0/)]);
  });

  it("is no way around the limit of its key", async () => {
    const limited = await makeKey("admin", { requestsPerMinute: 2 });
    const statuses = [];
    for (let tries = 0; tries < 3; tries += 1) statuses.push((await logIn(limited.key)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("reaches what its key reaches", async () => {
    const scoped = await makeKey("admin", { agents: ["acme-*"] });
    const { cookie, csrf } = await begin(scoped.key);
    const put = (agent: string): Promise<number> =>
      status(`/api/agents/${agent}`, { method: "PUT", headers: { cookie, "x-csrf-token": csrf }, body: "{}" });
    expect([await put("acme-desk"), await put("other-desk")]).toEqual([200, 404]);
  });
});
