/** A deployment step by step. Each looks first and does what is missing, so it can be run again, whatever broke off before. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { type Base, writeUploadList } from "../base-files.ts";
import { keysFile, keyStatements, type LocalKeys, readOrCreateKeys } from "../keys.ts";
import { migrationNames } from "../migrations.ts";
import { type Deployed, readDeployed } from "./budgets.ts";
import * as commands from "./commands.ts";
import { accountConfig, type Configured, type Target, writeAccountConfig } from "./target.ts";
import { said, type Wrangler } from "./wrangler.ts";

const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const Counted = z.tuple([z.looseObject({ results: z.tuple([z.object({ keys: z.number() })]) })]);

export type DeploymentOptions = {
  readonly wrangler: Wrangler;
  readonly root: string;
  readonly configured: Configured;
  readonly target: Target;
  readonly base: Base;
  /** JSON or .env file with the Worker's secrets. */
  readonly secretsFile: string | undefined;
  /** Makes keys where the database has some that are not in the target's folder. */
  readonly newKeys: boolean;
  /** Asks the deployed Worker whether its agents have this base; undefined where no address is known that answers. */
  readonly checkBase: ((keys: LocalKeys) => Promise<unknown>) | undefined;
  readonly say: (step: string, what: string) => void;
};

export type Deployment = { readonly keys: LocalKeys; readonly deployed: Deployed };

/** @throws {upstream/failed} with what wrangler said; what was done until then stays and is found by the next run */
export async function deploy(options: DeploymentOptions): Promise<Deployment> {
  const { root, configured, target } = options;
  const databaseId = await ensureDatabase(options);
  const config = await writeAccountConfig(target.folder, accountConfig(configured, target, { root, databaseId }));
  await migrate(options, config);
  const keys = await ensureKeys(options, config);
  await recordBase(target);
  await ensureBase(options);
  return { keys, deployed: await uploadWorker(options, config) };
}

async function ensureDatabase({ wrangler, target, checkBase, say }: DeploymentOptions): Promise<string> {
  const databases = await wrangler.json(Databases, ["d1", "list", "--json"]);
  const found = databases.find(({ name }) => name === target.name);
  if (found !== undefined) {
    // Agents keep the base that they were made with, so another machine has to know which that is.
    if (checkBase === undefined && (await recordedBase(target)) !== target.baseDigest) throw unknownBase(target);
    say("database", `${target.name} is there`);
    return found.uuid;
  }
  await recordBase(target); // before there is anything that the next run would find and know nothing of
  const output = await wrangler.run(commands.createDatabase(target));
  const [uuid] = UUID.exec(output) ?? [];
  if (uuid === undefined) throw new AppError("upstream/invalid", `wrangler d1 create: the database's id expected, got ${output}`);
  say("database", `${target.name} was made`);
  return uuid;
}

/** The bucket, and in it the base under the digests of its files. */
async function ensureBase(options: DeploymentOptions): Promise<void> {
  const { wrangler, target, base, say } = options;
  const made = await ensureBucket(options);
  const manifest = made
    ? undefined
    : await wrangler.try(["r2", "object", "get", `${target.bucket}/files/${base.digest}`, "--pipe", "--remote"]);
  if (manifest?.output === base.manifestJson) return say("base", `${base.digest.slice(0, 12)} is there`);
  const folder = await mkdtemp(join(tmpdir(), "nextstate-deploy-"));
  try {
    const { list, manifestFile } = await writeUploadList(base, folder);
    await wrangler.run(commands.uploadFiles(target, list));
    await wrangler.run(commands.uploadManifest(target, manifestFile));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  say("base", `${base.digest.slice(0, 12)} was uploaded, ${base.files.size} files`);
}

async function ensureBucket({ wrangler, target, say }: DeploymentOptions): Promise<boolean> {
  const command = ["r2", "bucket", "info", target.bucket, "--json"];
  const found = await wrangler.try(command);
  if (found.code === 0) {
    say("bucket", `${target.bucket} is there`);
    return false;
  }
  // https://developers.cloudflare.com/r2/api/error-codes/: no such bucket.
  if (!/\[code: 10006\]/.test(found.errors)) throw new AppError("upstream/failed", `wrangler ${command.join(" ")} failed:\n${said(found)}`);
  await wrangler.run(commands.createBucket(target));
  say("bucket", `${target.bucket} was made`);
  return true;
}

async function migrate({ wrangler, root, target, say }: DeploymentOptions, config: string): Promise<void> {
  const output = await wrangler.run(commands.applyMigrations(target, config));
  const names = await migrationNames(join(root, "migrations"));
  const applied = names.filter((name) => output.includes(name));
  say("tables", applied.length === 0 ? `all ${names.length} migrations are there` : `migrated: ${applied.join(", ")}`);
}

/** Plain in the target's folder, hashed in the database. @throws {input/invalid} where others hold the keys */
async function ensureKeys({ wrangler, target, newKeys, checkBase, say }: DeploymentOptions, config: string): Promise<LocalKeys> {
  const file = keysFile(target.folder);
  const here = existsSync(file);
  const select = "SELECT count(*) AS keys FROM keys WHERE kind = 'admin' AND revoked_at IS NULL";
  if (!here && !newKeys) {
    const [{ results }] = await wrangler.json(Counted, [...commands.runSql(target, config, select), "--json"]);
    if (results[0].keys > 0)
      throw new AppError(
        "input/invalid",
        `database ${target.name} has keys, and ${file} is not here; bring that file from where it was deployed first, or make further keys with --new-keys`,
      );
  }
  const keys = await readOrCreateKeys(target.folder);
  await wrangler.run(commands.runSql(target, config, await keyStatements(keys, { name: "deploy", at: Date.now() })));
  if (!here) await checkBase?.(keys); // of a folder that had them it was asked before
  say("keys", here ? `of ${file}` : `were made, plain in ${file}, hashed in the database`);
  return keys;
}

async function uploadWorker({ wrangler, target, secretsFile, say }: DeploymentOptions, config: string): Promise<Deployed> {
  const outputFile = join(target.folder, "wrangler.ndjson");
  await rm(outputFile, { force: true });
  await wrangler.with({ WRANGLER_OUTPUT_FILE_PATH: outputFile }).run(commands.deployWorker(config, secretsFile));
  say("worker", `${target.name} was deployed`);
  return readDeployed(outputFile);
}

function unknownBase({ name, folder }: Target): AppError {
  return new AppError(
    "input/invalid",
    `database ${name} is there: a word of its agents' base expected, got none, as ${folder} has not deployed this base there and no address is known that answers; ` +
      "name the Worker's with --url, bring the whole folder from where it was deployed, or take another --name",
  );
}

/** Which base was deployed from the folder last; undefined before the first. */
function recordedBase({ folder }: Target): Promise<string | undefined> {
  return readLine(join(folder, "base"));
}

async function recordBase({ folder, baseDigest }: Target): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "base"), `${baseDigest}\n`);
}

/** Where a deployment answered last time; undefined before the first. */
export function readEndpoint(folder: string): Promise<string | undefined> {
  return readLine(join(folder, "endpoint"));
}

function readLine(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}

export function writeEndpoint(folder: string, url: string): Promise<void> {
  return writeFile(join(folder, "endpoint"), `${url}\n`);
}
