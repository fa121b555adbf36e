/** `npm run deploy`: creates what is missing on a Cloudflare account, deploys, and says where it answers and with which keys. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseEnv } from "node:util";
import { failWith, readCommandLine } from "../trainer/command-line.ts";
import { AppError } from "../shared/errors.ts";
import { readBase } from "./base-files.ts";
import { buildDashboard } from "./bundle.ts";
import { findAccount } from "./deploy/account.ts";
import { type Deployed, describeSize, readDeployed } from "./deploy/budgets.ts";
import { deploy, readEndpoint, writeEndpoint } from "./deploy/deployment.ts";
import { deployWorker } from "./deploy/commands.ts";
import { describePlan } from "./deploy/plan.ts";
import { accountConfig, readConfigured, type Target, TargetName, writeAccountConfig } from "./deploy/target.ts";
import { Wrangler } from "./deploy/wrangler.ts";
import { type Advice, seedAgent } from "./first-agent.ts";
import { keysFile, type LocalKeys, readKeys } from "./keys.ts";
import { migrationNames } from "./migrations.ts";

const ROOT = resolve(import.meta.dirname, "..");
const UP_MS = 120_000; // a new name on workers.dev is known everywhere by then
const ASK_MS = 1_000;

const USAGE = `npm run deploy -- [options]
  --dry-run         show every change and the Worker's size; needs no account
  --name <name>     of the Worker and the database; the bucket is <name>-artifacts (nextstate)
  --base <folder>   Hugging Face folder of the base checkpoint (base)
  --state <folder>  where the keys are kept (.nextstate-cloudflare/<name>)
  --account <id>    which account, where a login reaches several
  --url <url>       where the Worker answers, where that is not its first address on workers.dev
  --secrets <file>  secrets of the Worker, as JSON or .env
  --new-keys        make keys where the database has some and the state folder does not`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function readOptions() {
  const { values } = readCommandLine(
    {
      options: {
        "dry-run": { type: "boolean", default: false },
        name: { type: "string", default: "nextstate" },
        base: { type: "string", default: "base" },
        state: { type: "string" },
        account: { type: "string" },
        url: { type: "string" },
        secrets: { type: "string" },
        "new-keys": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    },
    USAGE,
  );
  const name = TargetName.safeParse(values.name);
  if (!name.success) throw new AppError("input/invalid", `--name: ${name.error.issues[0]?.message} expected, got ${values.name}`);
  if (values.url !== undefined && !URL.canParse(values.url))
    throw new AppError("input/invalid", `--url: a URL expected, got ${values.url}`);
  return { ...values, state: values.state ?? `.nextstate-cloudflare/${name.data}` };
}
type Options = ReturnType<typeof readOptions>;

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) return say(USAGE);
  const base = await readBase(options.base);
  const target: Target = {
    name: options.name,
    bucket: `${options.name}-artifacts`,
    folder: resolve(options.state),
    baseDigest: base.digest,
  };
  const secretsFile = options.secrets === undefined ? undefined : resolve(options.secrets);
  const context = { target, base, secretsFile, configured: readConfigured(ROOT), root: ROOT };
  if (options["dry-run"]) return say(await dryRun(context, options));
  const wrangler = new Wrangler({ cwd: ROOT });
  const { CLOUDFLARE_ACCOUNT_ID } = process.env;
  const account = await findAccount(wrangler, options.account ?? CLOUDFLARE_ACCOUNT_ID ?? context.configured.account_id);
  say(`Deploying ${target.name} to the account ${account.name} …`);
  const checkBase = await findCheck(options, target);
  const keysHere = await readKeys(target.folder).catch(() => undefined);
  if (keysHere !== undefined) await checkBase?.(keysHere); // before anything is changed
  const { keys, deployed } = await deploy({
    ...context,
    checkBase,
    wrangler: wrangler.with({ CLOUDFLARE_ACCOUNT_ID: account.id }),
    newKeys: options["new-keys"],
    say: (step, what) => say(`${step.padEnd(9)}${what}`),
  });
  const url = options.url?.replace(/\/+$/, "") ?? firstAddress(deployed);
  if (url === undefined)
    throw new AppError(
      "upstream/invalid",
      "the Worker is deployed under no address that is known here; run again with --url <its address>",
    );
  await waitUntilUp(url);
  await writeEndpoint(target.folder, url);
  const seeded = await seedAgent(
    { url, adminKey: keys.admin, keysFile: keysFile(target.folder), baseDigest: base.digest },
    adviceFor(target),
  );
  say(`agent    assistant ${seeded ? "was made" : "is there"}`);
  say(banner(url, keys, options));
}

/** Of wrangler's targets: names of hosts, custom domains, and routes, which are no addresses. */
function firstAddress({ targets }: Deployed): string | undefined {
  const [host] = targets.flatMap((target) => /^(?:https:\/\/)?([\w.-]+)(?: \(custom domain\b.*)?$/.exec(target)?.slice(1) ?? []);
  return host === undefined ? undefined : `https://${host}`;
}

type Context = Pick<Parameters<typeof deploy>[0], "target" | "base" | "secretsFile" | "configured" | "root">;

/** Bundles for real; writes into a folder that is removed. */
async function dryRun({ target, base, secretsFile, configured }: Context, { state }: Options): Promise<string> {
  await buildDashboard(ROOT);
  const folder = await mkdtemp(join(tmpdir(), "nextstate-deploy-"));
  try {
    const config = await writeAccountConfig(folder, accountConfig(configured, target, { root: ROOT, databaseId: UNKNOWN_ID }));
    const outputFile = join(folder, "wrangler.ndjson");
    const wrangler = new Wrangler({ cwd: ROOT, env: { WRANGLER_OUTPUT_FILE_PATH: outputFile } });
    await wrangler.run([...deployWorker(config, secretsFile), "--dry-run", "--outdir", join(folder, "out")]);
    const assets = await readdir(join(ROOT, configured.assets.directory), { recursive: true, withFileTypes: true });
    return describePlan({
      target: { ...target, folder: state },
      base,
      migrations: await migrationNames(join(ROOT, "migrations")),
      size: describeSize(await readDeployed(outputFile)),
      assets: assets.filter((entry) => entry.isFile()).map(({ name }) => name),
      secretsFile,
      secrets: secretsFile === undefined ? [] : secretNames(await readFile(secretsFile, "utf8")),
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const UNKNOWN_ID = "00000000-0000-0000-0000-000000000000"; // until the database is made

function secretNames(text: string): string[] {
  return Object.keys(text.trimStart().startsWith("{") ? (JSON.parse(text) as object) : parseEnv(text));
}

/** What refuses another base than the deployed agents have, which they keep; undefined where no address is known that answers. */
async function findCheck({ url: named }: Options, target: Target): Promise<((keys: LocalKeys) => Promise<unknown>) | undefined> {
  const url = named ?? (await readEndpoint(target.folder));
  if (url === undefined) return undefined;
  const up = await fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
  const { folder, baseDigest } = target;
  const check = ({ admin }: LocalKeys) => seedAgent({ url, adminKey: admin, keysFile: keysFile(folder), baseDigest }, adviceFor(target));
  return up ? check : undefined;
}

function adviceFor({ name }: Target): Advice {
  return {
    otherBase: `agents keep the base that they were made with: deploy this one beside it, with --name ${name}-2`,
    noKey: "move the file away and run again with --new-keys",
  };
}

async function waitUntilUp(url: string): Promise<void> {
  const started = Date.now();
  for (;;) {
    const got = await fetch(`${url}/healthz`).then(
      ({ status }) => `status ${status}`,
      (error: unknown) => String(error),
    );
    if (got === "status 200") return;
    if (Date.now() - started > UP_MS)
      throw new AppError(
        "upstream/timeout",
        `${url}/healthz: 200 within ${UP_MS / 1000} s expected, got ${got}; run again, it goes on from here`,
      );
    await setTimeout(ASK_MS);
  }
}

function banner(url: string, keys: LocalKeys, { state, base }: Options): string {
  const folder = relative(process.cwd(), resolve(state)) || ".";
  return `
Nextstate is deployed.

  endpoint     ${url}/v1
  client key   ${keys.client}
  admin key    ${keys.admin}
  trainer key  ${keys.trainer}
  dashboard    ${url} (log in with the admin key)
  model        assistant

The keys stand in ${folder}/keys.json, too. Answers come at once; to learn, it needs a trainer, on any machine with this checkout:

  NEXTSTATE_TRAINER_KEY=${keys.trainer} npm run trainer -- --url ${url}${base === "base" ? "" : ` --base ${base}`}

From here: npx nextstate agents --url ${url} --state ${folder}
`;
}

main().catch((error: unknown) => failWith(error, "Nextstate was not deployed: "));
