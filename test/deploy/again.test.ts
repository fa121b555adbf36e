/** `npm run deploy` breaks off at each of its steps in turn and is run again on what is there by then: one of everything, and the same keys. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Base, readBase } from "../../cli/base-files.ts";
import { readKeys } from "../../cli/keys.ts";
import { migrationNames } from "../../cli/migrations.ts";
import { sha256 } from "../../shared/digest.ts";
import { call } from "../helpers/call.ts";
import { writeRandomBase } from "../helpers/random-base.ts";
import { Cloudflare, type Fault } from "./cloudflare.ts";
import { type Ran, runDeploy } from "./run-deploy.ts";

const PATIENCE_MS = 300_000; // of one deployment
const QUERY = /^POST \/d1\/database\/[^/]+\/query$/;

let folder = "";
let state = "";
let baseFolder = "";
let base: Base;
let migrations: string[] = [];
let cloudflare: Cloudflare;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-again-"));
  state = join(folder, "state");
  baseFolder = await writeRandomBase(join(folder, "base"));
  base = await readBase(baseFolder);
  migrations = await migrationNames("migrations");
  cloudflare = await Cloudflare.start();
}, PATIENCE_MS);
afterAll(async () => {
  await cloudflare.close();
  await rm(folder, { recursive: true, force: true });
});

function deploy(url = cloudflare.workerUrl): Promise<Ran> {
  return runDeploy(["--base", baseFolder, "--state", state, "--url", url], { CLOUDFLARE_API_BASE_URL: cloudflare.apiUrl });
}

/** A Worker's address that is up once it was asked for, and then makes no agent. */
async function withoutAgents<Result>(use: (url: string) => Promise<Result>): Promise<Result> {
  let asked = 0;
  const server = createServer(
    ({ url }, response) => void response.writeHead(url === "/healthz" && asked++ > 0 ? 200 : 503).end("no agents"),
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

type Step = Fault & { readonly step: string; readonly says: RegExp };
/** A change that was made though its answer was lost is the harder one to find again; in the middle of several it is none. */
const STEPS: readonly Step[] = [
  { step: "the database", when: "after", hits: (called) => called === "POST /d1/database", says: /wrangler d1 create nextstate failed/ },
  {
    ...{ step: "the tables, in the middle", when: "before", says: /wrangler d1 migrations apply .* failed/ },
    hits: (called, body) => QUERY.test(called) && body.includes(`'${migrations[3]}'`),
  },
  {
    ...{ step: "the keys", when: "after", says: /wrangler d1 execute .* failed/ },
    hits: (called, body) => QUERY.test(called) && body.includes("INSERT OR IGNORE INTO keys"),
  },
  { step: "the bucket", when: "after", hits: (called) => called === "POST /r2/buckets", says: /wrangler r2 bucket create .* failed/ },
  {
    ...{ step: "the base's files, in the middle", when: "before", says: /wrangler r2 bulk put .* failed/ },
    hits: (called) => called.endsWith(base.manifest.files["tokenizer.json"] ?? "none"),
  },
  { step: "the base's manifest", when: "before", hits: (called) => called.endsWith(base.digest), says: /wrangler r2 object put .* failed/ },
  { step: "the Worker", when: "after", hits: (called) => called === "PUT /workers/scripts/nextstate", says: /wrangler deploy .* failed/ },
];

const keysText = (): Promise<string | undefined> => readFile(join(state, "keys.json"), "utf8").catch(() => undefined);

describe("npm run deploy, broken off", { timeout: PATIENCE_MS }, () => {
  it.each(STEPS)("at $step keeps the keys that it has made", async ({ says, ...fault }) => {
    const before = await keysText();
    cloudflare.fault = fault;
    const broken = await deploy();
    cloudflare.fault = undefined;
    expect(broken.output).toMatch(says);
    expect(broken.code).not.toBe(0);
    if (before !== undefined) expect(await keysText()).toBe(before);
  });

  it("at the agent, and run once more, leaves one of everything, which answers to the keys of the first run", async () => {
    const before = await keysText();
    const broken = await withoutAgents(deploy);
    expect(broken.code).not.toBe(0);
    expect(broken.output).toMatch(/a 2xx answer expected, got 503 no agents/);
    const whole = await deploy();
    expect([whole.code, whole.output]).toEqual([0, expect.stringContaining("Nextstate is deployed.")]);
    expect([await keysText(), before]).toEqual([before, expect.any(String)]);

    const keys = await readKeys(state);
    expect([[...cloudflare.databases.keys()], [...cloudflare.buckets]]).toEqual([["nextstate"], ["nextstate-artifacts"]]);
    const database = await cloudflare.database();
    const { results: known } = await database.prepare("SELECT kind, hash FROM keys ORDER BY kind").all();
    const kinds = ["admin", "client", "trainer"] as const;
    expect(known).toEqual(await Promise.all(kinds.map(async (kind) => ({ kind, hash: await sha256(keys[kind]) }))));
    const { results: applied } = await database.prepare("SELECT name FROM d1_migrations ORDER BY id").all();
    expect(applied).toEqual(migrations.map((name) => ({ name })));
    const files = [base.digest, ...Object.values(base.manifest.files)].map((digest) => `files/${digest}`);
    expect((await cloudflare.objects("nextstate-artifacts")).toSorted()).toEqual(files.toSorted());
    const { body } = await call({ url: cloudflare.workerUrl, keys }, "admin", "GET /api/agents");
    expect(body.agents.map(({ agent }: { agent: string }) => agent)).toEqual(["assistant"]);
    expect(cloudflare.unknown).toEqual([]);
  });
});
