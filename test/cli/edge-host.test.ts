/** The local edge: keys, base files and migrations as a first start leaves them, and as a second finds them. */
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { describe, expect, it } from "vitest";
import { publicNetwork } from "../../cli/edge-host.ts";
import { applyMigrations } from "../../cli/migrations.ts";
import { keysFile, readKeys } from "../../cli/keys.ts";
import { describeProcess } from "../../trainer/host.ts";
import { sha256 } from "../../shared/digest.ts";
import { BaseManifest } from "../../shared/policy.ts";
import { withEdge } from "../helpers/edge.ts";

describe("the way out for tools", () => {
  it.for([
    [true, "200"],
    [false, "refused"],
  ] as const)(
    "looks a name up before it is asked whether its address may be called: on this machine %s, %s",
    async ([loopback, expected]) => {
      const server = createServer((_, response) => void response.end("reached"));
      await new Promise<void>((resolve) => server.listen(0, resolve));
      const address = server.address();
      const port = typeof address === "object" ? address?.port : undefined;
      const script = `export default { async fetch(_, env) {
      try { return new Response(String((await env.PUBLIC_NETWORK.fetch("http://localhost:${port}/")).status)); } catch { return new Response("refused"); }
    } }`;
      const worker = { modules: true as const, script, serviceBindings: { PUBLIC_NETWORK: publicNetwork(loopback) } };
      const miniflare = new Miniflare(convertV4MiniflareOptions({ cf: false, telemetry: { enabled: false }, workers: [worker] }));
      try {
        const response = await fetch(await miniflare.ready);
        expect(await response.text()).toBe(expected);
      } finally {
        await miniflare.dispose();
        server.close();
      }
    },
  );
});

describe("edge host", () => {
  const edge = withEdge();

  it("answers on its port", async () => {
    const response = await fetch(`${edge.url}/healthz`);
    expect(response.status).toBe(200);
  });

  it("keeps plain keys for their owner only and hashes in the database", async () => {
    const keys = await readKeys(edge.stateFolder);
    expect(keys).toEqual(edge.keys);
    expect(statSync(edge.stateFolder).mode & 0o777).toBe(0o700);
    expect(statSync(keysFile(edge.stateFolder)).mode & 0o777).toBe(0o600);
    const db = await edge.getD1();
    const { results } = await db.prepare("SELECT kind, hash FROM keys ORDER BY kind").all();
    const kinds = ["admin", "client", "trainer"] as const;
    expect(results).toEqual(await Promise.all(kinds.map(async (kind) => ({ kind, hash: await sha256(keys[kind]) }))));
  });

  it("stores the base under the digest of its manifest, every file under its own", async () => {
    const bucket = await edge.getR2();
    const object = await bucket.get(`files/${edge.baseDigest}`);
    const text = (await object?.text()) ?? "";
    expect(await sha256(text)).toBe(edge.baseDigest);
    const { files } = BaseManifest.parse(JSON.parse(text));
    expect(Object.keys(files)).toContain("model.safetensors");
    for (const digest of Object.values(files)) {
      const file = await bucket.get(`files/${digest}`);
      expect(await sha256(new Uint8Array((await file?.arrayBuffer()) ?? []))).toBe(digest);
    }
  });

  it("gives nobody a stored file without a key, whatever Miniflare serves ahead of the Worker", async () => {
    const named = (bucket: string): Promise<number> =>
      fetch(`${edge.url}/cdn-cgi/local/r2/public/${bucket}/files/${edge.baseDigest}`).then(({ status }) => status);
    expect(await named("nextstate-artifacts")).toBe(404);
    const secret = readFileSync(join(edge.stateFolder, "bucket"), "utf8").trim();
    expect(statSync(join(edge.stateFolder, "bucket")).mode & 0o777).toBe(0o600);
    expect([secret, await named(secret)]).toEqual([expect.stringMatching(/^nextstate-artifacts-[0-9a-f]{48}$/), 200]);
  });

  it("records migrations where wrangler looks for them, and applies none twice", async () => {
    const db = await edge.getD1();
    const { results } = await db.prepare("SELECT name FROM d1_migrations ORDER BY id").all<{ name: string }>();
    expect(results.map(({ name }) => name)).toEqual(edge.migrated);
    expect(await applyMigrations(db, "migrations")).toEqual([]);
  });

  it("leaves no trace of a migration that fails half way", async () => {
    const db = await edge.getD1();
    const folder = mkdtempSync(join(tmpdir(), "nextstate-migrations-"));
    writeFileSync(join(folder, "9000_broken.sql"), "CREATE TABLE half_made (id INTEGER);\nINSERT INTO no_such_table VALUES (1);");
    await expect(applyMigrations(db, folder)).rejects.toThrow(/no_such_table/);
    const { results } = await db.prepare("SELECT name FROM sqlite_master WHERE name = 'half_made'").all();
    expect(results).toEqual([]);
  });

  it("writes down which process workerd is", () => {
    const pid = edge.workerdPid() ?? 0;
    expect(describeProcess(pid)?.command).toContain("workerd");
    expect(readFileSync(join(edge.stateFolder, "run/host.json"), "utf8")).toContain(String(process.pid));
  });
});
