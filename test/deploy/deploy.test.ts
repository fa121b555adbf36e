/** `npm run deploy` against a server that speaks Cloudflare's API: first, again, and refused; and what it deployed, asked. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { BaseManifest } from "../../shared/policy.ts";
import { sha256 } from "../../shared/digest.ts";
import { readBase } from "../../cli/base-files.ts";
import { readKeys } from "../../cli/keys.ts";
import { bearer } from "../helpers/edge.ts";
import { writeRandomBase } from "../helpers/random-base.ts";
import { ACCOUNT, Cloudflare, TOKEN } from "./cloudflare.ts";
import { callsOf, type Ran, runDeploy, shownIn } from "./run-deploy.ts";

const PATIENCE_MS = 300_000;

let folder = "";
let baseFolder = "";
let state = "";
let calls: string[][] = [];
let secrets: string[] = [];
let cloudflare: Cloudflare;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-deploy-test-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
  state = join(folder, "state");
  cloudflare = await Cloudflare.start();
}, PATIENCE_MS);
afterAll(async () => {
  await cloudflare.close();
  await rm(folder, { recursive: true, force: true });
});

describe("npm run deploy", { timeout: PATIENCE_MS }, () => {
  let first: Ran;
  beforeAll(async () => {
    const secretsFile = join(folder, "secrets.json");
    await writeFile(secretsFile, JSON.stringify({ WEATHER_KEY: "rain" }));
    secrets = ["--secrets", secretsFile];
    const record = join(folder, "calls");
    first = await deploy(secrets, { WRANGLER_OUTPUT_FILE_DIRECTORY: record });
    calls = await callsOf(record, join(state, "wrangler.ndjson"));
  }, PATIENCE_MS);

  it("makes what an empty account lacks, and says where it answers and with which keys", async () => {
    expect(first.output).toContain("Nextstate is deployed.");
    expect(first.code).toBe(0);
    const keys = await readKeys(state);
    for (const text of [`${cloudflare.workerUrl}/v1`, keys.client, keys.admin, keys.trainer]) expect(first.output).toContain(text);
    expect(statSync(join(state, "keys.json")).mode & 0o777).toBe(0o600);
    expect([[...cloudflare.databases.keys()], [...cloudflare.buckets]]).toEqual([["nextstate"], ["nextstate-artifacts"]]);
    expect([...cloudflare.secrets]).toEqual([["WEATHER_KEY", "rain"]]);
  });

  it("needs no call of the API that the server does not speak", () => {
    expect(cloudflare.unknown).toEqual([]);
  });

  it("stores the base under its digests, its manifest last", async () => {
    const { digest } = await readBase(baseFolder);
    const puts = cloudflare.changes.filter((call) => call.startsWith("PUT /r2/"));
    expect(puts.at(-1)).toContain(digest);
    const manifest = BaseManifest.parse(JSON.parse(Buffer.from(await stored(digest)).toString()));
    for (const expected of Object.values(manifest.files)) expect(await sha256(await stored(expected))).toBe(expected);
  });

  it("keeps hashes of the keys and writes wrangler's ledger", async () => {
    const database = await cloudflare.database();
    const { results } = await database.prepare("SELECT kind, hash FROM keys ORDER BY kind").all();
    const keys = await readKeys(state);
    const kinds = ["admin", "client", "trainer"] as const;
    expect(results).toEqual(await Promise.all(kinds.map(async (kind) => ({ kind, hash: await sha256(keys[kind]) }))));
    const ledger = await database.prepare("SELECT count(*) AS applied FROM d1_migrations").first("applied");
    expect(ledger).toBe(first.output.match(/\d{4}_[\w-]+\.sql/g)?.length);
  });

  it("serves what it deployed: an answer by the base, and the dashboard", async () => {
    const { client } = await readKeys(state);
    const answer = await fetch(`${cloudflare.workerUrl}/v1/chat/completions`, {
      method: "POST",
      headers: bearer(client),
      body: JSON.stringify({ model: "assistant", max_tokens: 4, messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(await answer.json()).toMatchObject({ object: "chat.completion", model: "assistant", usage: { completion_tokens: 4 } });
    expect(answer.headers.get("x-policy-digest")).toBe((await readBase(baseFolder)).digest);
    const page = await fetch(cloudflare.workerUrl);
    expect([page.headers.get("content-type"), await page.text()]).toEqual(["text/html; charset=utf-8", expect.stringContaining("<title>")]);
  });

  it("ran the very commands that --dry-run shows, in their order, and others only to look", async () => {
    const shown = shownIn((await deploy(["--dry-run", ...secrets], { CLOUDFLARE_API_BASE_URL: NOWHERE })).output);
    const run = calls.filter((call) => !READS.test(call.join(" ")));
    expect(shown.map(([first, second]) => `${first} ${second}`)).toContain("r2 object");
    expect(run).toEqual(shown.map((command) => command.map((word) => expect.stringMatching(toPattern(word)))));
  });

  it("is followed by a trainer that is given its address and a key", async () => {
    const { trainer } = await readKeys(state);
    const options = ["--url", cloudflare.workerUrl, "--key", trainer, "--base", baseFolder, "--state", join(folder, "trainer")];
    const child = spawn(process.execPath, ["trainer/main.ts", ...options], { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    for await (const chunk of child.stdout) {
      output += String(chunk);
      if (output.includes("line:opened")) child.kill("SIGTERM");
    }
    expect(output).toContain('line:opened agent="assistant"');
  });

  it("writes no account into the repository, and stalls nowhere that tests stall", () => {
    const config = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(state, "wrangler.json"), "utf8")));
    expect(config).not.toHaveProperty("account_id");
    expect(config["vars"]).not.toHaveProperty("FAULT");
    expect(readFileSync("wrangler.toml", "utf8")).toContain('database_id = "00000000-0000-0000-0000-000000000000"');
  });

  it("changes nothing but the Worker when it is run again", async () => {
    const before = cloudflare.changes.length;
    const keys = await readKeys(state);
    const again = await deploy();
    expect([again.code, await readKeys(state)]).toEqual([0, keys]);
    expect(again.output).toMatch(/database nextstate is there\ntables .* are there\nkeys .*\nbucket .* is there\nbase .* is there\n/);
    const changes = cloudflare.changes.slice(before).filter((call) => !call.includes("/workers/"));
    expect(new Set(changes.map((call) => call.replace(/[0-9a-f-]{36}/, "<id>")))).toEqual(new Set(["POST /d1/database/<id>/query"]));
    const database = await cloudflare.database();
    expect(await database.prepare("SELECT count(*) AS keys FROM keys").first("keys")).toBe(3);
    expect(cloudflare.unknown).toEqual([]);
  });

  it("takes an account's id as it is, from a token that may not list accounts", async () => {
    cloudflare.tells = false;
    const [named, unnamed] = [await deploy(["--account", ACCOUNT.id]), await deploy()];
    cloudflare.tells = true;
    expect([named.code, named.output]).toEqual([0, expect.stringContaining(`to the account ${ACCOUNT.id} …`)]);
    expect([unnamed.code, unnamed.output]).toEqual([2, expect.stringContaining("read Account Settings where `--account` names no id")]);
  });

  it("says that the admin key was rotated or revoked, and which file has it", async () => {
    const file = join(state, "keys.json");
    const keys = await readKeys(state);
    const before = cloudflare.changes.length;
    await writeFile(file, JSON.stringify({ ...keys, admin: "nsk_admin_of_before" }));
    const refused = await deploy();
    await writeFile(file, JSON.stringify(keys));
    expect(refused.code).toBe(2);
    expect(refused.output).toMatch(
      /keys\.json: an admin key .* answers with 401, as one that was rotated or revoked; put the present one there as "admin", or, .* --new-keys/,
    );
    expect(cloudflare.changes.length).toBe(before);
  });

  it("refuses another base before it changes anything", async () => {
    const before = cloudflare.changes.length;
    const other = await writeRandomBase(join(folder, "other"), 7);
    const refused = await deploy(["--base", other]);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toContain("agents keep the base that they were made with: deploy this one beside it, with --name nextstate-2");
    expect(cloudflare.changes.length).toBe(before);
  });

  it("refuses another base from another machine, too, with the keys or with new ones", async () => {
    const away = join(folder, "away");
    await mkdir(away);
    await cp(join(state, "keys.json"), join(away, "keys.json"));
    const other = join(folder, "other");
    const before = cloudflare.changes.length;
    const from = (to: string, ...args: string[]) =>
      runDeploy(["--base", other, "--state", to, ...args], { CLOUDFLARE_API_BASE_URL: cloudflare.apiUrl });
    const unknown = await from(away);
    expect([unknown.code, unknown.output]).toEqual([
      2,
      expect.stringMatching(/a word of its agents' base expected, got none, .* with --url/),
    ]);
    const known = await from(away, "--url", cloudflare.workerUrl);
    expect([known.code, known.output]).toEqual([2, expect.stringContaining("deploy this one beside it, with --name nextstate-2")]);
    expect([cloudflare.changes.length, existsSync(join(away, "wrangler.json"))]).toEqual([before, false]);
    const made = await from(join(folder, "keyless"), "--new-keys", "--url", cloudflare.workerUrl);
    expect([made.code, made.output]).toEqual([2, expect.stringContaining("deploy this one beside it, with --name nextstate-2")]);
    expect(cloudflare.changes.slice(before).filter((call) => !call.includes("/d1/database/"))).toEqual([]);
  });

  it("refuses to make keys where another folder holds them", async () => {
    const elsewhere = join(folder, "elsewhere");
    const refused = await deploy(["--state", elsewhere]);
    expect(refused.code).toBe(2);
    expect(refused.output).toContain("database nextstate has keys");
    expect(existsSync(join(elsewhere, "keys.json"))).toBe(false);
  });
});

describe("npm run deploy, refused", { timeout: PATIENCE_MS }, () => {
  it("says how to log in", async () => {
    const refused = await deploy([], { CLOUDFLARE_API_TOKEN: undefined, XDG_CONFIG_HOME: folder, HOME: folder });
    expect(refused.code).toBe(2);
    expect(refused.output).toContain("a login expected, got no login; log in with `npx wrangler login`, or set CLOUDFLARE_API_TOKEN");
  });

  it("says that a token is not taken", async () => {
    const refused = await deploy([], { CLOUDFLARE_API_TOKEN: "wrong" });
    expect([refused.code, refused.output]).toEqual([2, expect.stringContaining("a token that Cloudflare does not take")]);
  });

  it("asks which account where there are several", async () => {
    cloudflare.accounts = [ACCOUNT, { id: "b".repeat(32), name: "Another" }];
    const refused = await deploy();
    cloudflare.accounts = [ACCOUNT];
    expect([refused.code, refused.output]).toEqual([2, expect.stringMatching(/got 0123.* \(Example Ltd\), b+ \(Another\); say which/)]);
  });
});

describe("npm run deploy -- --dry-run", { timeout: PATIENCE_MS }, () => {
  it("needs no account, shows every change, and leaves nothing behind", async () => {
    const shown = await deploy(["--dry-run", "--state", join(folder, "dry")], {
      CLOUDFLARE_API_TOKEN: undefined,
      CLOUDFLARE_API_BASE_URL: NOWHERE,
    });
    expect(shown.code).toBe(0);
    const { digest, manifest } = await readBase(baseFolder);
    for (const file of [digest, ...Object.values(manifest.files)]) expect(shown.output).toContain(`files/${file}`);
    expect(shown.output).toContain(`$ wrangler r2 object put nextstate-artifacts/files/${digest} --file`);
    expect(existsSync(join(folder, "dry"))).toBe(false);
  });
});

/** Commands that look. */
const READS = /^(whoami|d1 list|r2 bucket info|r2 object get|d1 execute .* --command SELECT )/;

/** What a plan leaves open: a word in brackets stands for any, and an ellipsis for the rest. */
function toPattern(word: string): RegExp {
  if (/^<.*>$/.test(word)) return /./;
  const literal = word.replace(/…$/, "").replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(word.endsWith("…") ? `^${literal}` : `^${literal}$`);
}

const NOWHERE = "http://127.0.0.1:9/client/v4"; // whoever asks it is refused

function deploy(args: readonly string[] = [], env: Record<string, string | undefined> = {}): Promise<Ran> {
  return runDeploy(["--base", baseFolder, "--state", state, "--url", cloudflare.workerUrl, ...args], {
    CLOUDFLARE_API_BASE_URL: cloudflare.apiUrl,
    ...env,
  });
}

async function stored(digest: string): Promise<Uint8Array<ArrayBuffer>> {
  const url = `${cloudflare.apiUrl}/accounts/${ACCOUNT.id}/r2/buckets/nextstate-artifacts/objects/files/${digest}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
  return new Uint8Array(await response.arrayBuffer());
}
