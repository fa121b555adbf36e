/**
 * The edge on this machine: workerd under Miniflare, on the bindings of `wrangler.toml`, with its state in a folder.
 * `npm start` and every test that needs an edge use this one host.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { D1Database } from "@cloudflare/workers-types";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions as readWranglerConfig } from "wrangler";
import { z } from "zod";
import { readBase, uploadBase, type R2Bucket } from "./base-files.ts";
import { buildDashboard, bundleWorker, type WorkerModule } from "./bundle.ts";
import { ensureKeys, type LocalKeys } from "./keys.ts";
import { applyMigrations } from "./migrations.ts";
import { runFolder } from "../trainer/host.ts";
import { claimStateFolder, readPid, startGuard, writeHost } from "./processes.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

// The package is CommonJS without types; it exports the path of its binary.
const WORKERD = z.object({ default: z.string() }).parse(createRequire(import.meta.url)("workerd")).default;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** By entry; a process that starts several edges bundles once. */
const bundles = new Map<string, WorkerModule[]>();

export type EdgeHostOptions = {
  /** Holds everything that survives a restart: databases, objects, files, keys. Made where it does not exist. */
  stateFolder: string;
  /** 0 takes a free port. */
  port?: number;
  host?: string;
  /** Hugging Face folder of the base checkpoint. */
  baseFolder: string;
  /** Plain-text bindings over those of wrangler.toml. */
  vars?: Record<string, string>;
  /** Another configuration with the same bindings; the repository's own by default. */
  configFile?: string;
  /** Source of a module that stands in for Workers AI, which runs on Cloudflare only: it exports a WorkerEntrypoint `Ai` with `run`. */
  workersAi?: string;
  /** One line that the Worker logged. */
  onLog?: (line: string) => void;
  /** workerd died and a new one answers on the same port. */
  onRestart?: (pid: number | undefined) => void;
};

export type EdgeHost = {
  readonly url: string;
  readonly keys: LocalKeys;
  readonly stateFolder: string;
  readonly baseDigest: string;
  /** Migrations applied by this start. */
  readonly migrated: readonly string[];
  workerdPid(): number | undefined;
  /** Live bindings; ask again after a restart of workerd. */
  getD1(): Promise<D1Database>;
  getR2(): Promise<R2Bucket>;
  close(): Promise<void>;
};

/** Starts workerd and returns once the Worker answers. @throws where the port, the bundle or the base is unusable */
export async function startEdgeHost(options: EdgeHostOptions): Promise<EdgeHost> {
  const stateFolder = resolve(options.stateFolder);
  // Everything that users said is in it.
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
  claimStateFolder(stateFolder);
  const base = await readBase(options.baseFolder);
  const configured = await workerOptions(options.configFile ?? join(ROOT, "wrangler.toml"), { ...options.vars, BASE_DIGEST: base.digest });
  const ai = options.workersAi === undefined ? {} : { ...SIGNALLED, serviceBindings: { AI: { name: "workers-ai", entrypoint: "Ai" } } };
  const secret = { ...configured, ...ai, r2Buckets: { ARTIFACTS: { id: bucketName(stateFolder) } } };
  const miniflare = withoutSignalHandlers(() => createMiniflare(stateFolder, secret, options));
  const endGuard = startGuard(stateFolder);
  const close = async (): Promise<void> => {
    await miniflare.dispose();
    await endGuard();
  };
  try {
    const url = (await miniflare.ready).origin;
    const getD1 = (): Promise<D1Database> => miniflare.getD1Database("DB");
    const getR2 = (): Promise<R2Bucket> => miniflare.getR2Bucket("ARTIFACTS");
    const migrated = await applyMigrations(await getD1(), join(ROOT, "migrations"));
    const keys = await ensureKeys(stateFolder, await getD1());
    await uploadBase(await getR2(), base);
    writeHost(stateFolder, url);
    const workerdPid = (): number | undefined => readPid(stateFolder, "workerd");
    return { url, keys, stateFolder, baseDigest: base.digest, migrated, workerdPid, getD1, getR2, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Miniflare serves every bucket to whoever knows its name and an object's, without a key and ahead of the Worker
 * (`/cdn-cgi/local/r2/public/<bucket>/<object>`), and has no switch for it. So the name is a secret of the state folder. A folder of
 * before there was one keeps the bucket that its files are in.
 */
function bucketName(stateFolder: string): string {
  const file = join(stateFolder, "bucket");
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const name = existsSync(join(stateFolder, "edge")) ? "nextstate-artifacts" : `nextstate-artifacts-${randomBytes(24).toString("hex")}`;
  writeFileSync(file, `${name}\n`, { mode: 0o600 });
  return name;
}

async function workerOptions(configFile: string, vars: Record<string, string>): Promise<V4WorkerOptions> {
  // Before the configuration is read, which names its folder.
  await buildDashboard(ROOT);
  const { workerOptions: options, main, define } = readWranglerConfig(configFile);
  if (main === undefined) throw new Error(`${configFile}: main expected, got none`);
  const modules = bundles.get(main) ?? (await bundleWorker(ROOT, main, define));
  bundles.set(main, modules);
  const bindings = Object.assign({}, options["bindings"], vars);
  const serviceBindings = { PUBLIC_NETWORK: publicNetwork(vars["TOOLS_ON_LOOPBACK"] === "1") };
  return { ...options, modules, bindings, serviceBindings };
}

/**
 * The way out for tools that the edge runs. workerd checks each address that it connects to after it has looked the name up, so a name that
 * leads to a private address does not lead there.
 */
export function publicNetwork(loopback: boolean): { network: { allow: string[]; tlsOptions: { trustBrowserCas: boolean } } } {
  return { network: { allow: loopback ? ["public", "local"] : ["public"], tlsOptions: { trustBrowserCas: true } } };
}

function createMiniflare(
  stateFolder: string,
  worker: V4WorkerOptions,
  { host = "127.0.0.1", port = 0, workersAi, onLog, onRestart }: EdgeHostOptions,
) {
  // Miniflare reads the binary to run from the environment; the launcher leaves workerd's process id in the state folder. Whatever else
  // starts workerd from this environment has no such folder, and gets workerd alone.
  Object.assign(process.env, { MINIFLARE_WORKERD_PATH: join(ROOT, "cli/workerd-launcher.sh"), NEXTSTATE_WORKERD: WORKERD });
  return new Miniflare(
    convertV4MiniflareOptions({
      host,
      port,
      log: new Log(LogLevel.ERROR),
      cf: false,
      telemetry: { enabled: false },
      resourcePersistencePath: join(stateFolder, "edge"),
      unsafeRuntimeEnv: { NEXTSTATE_RUN_FOLDER: runFolder(stateFolder) },
      handleStructuredLogs: ({ message }) => onLog?.(message),
      unsafeHandleRuntimeRestart: () => onRestart?.(readPid(stateFolder, "workerd")),
      workers: [worker, ...(workersAi === undefined ? [] : [aiWorker(workersAi)])],
    }),
  );
}

/** Cloudflare's own binding runs in the Worker; one that stands in for it is another, to which an AbortSignal goes under this flag alone. */
const SIGNALLED = { compatibilityFlags: ["enable_abortsignal_rpc"] };

function aiWorker(source: string): V4WorkerOptions {
  return {
    name: "workers-ai",
    compatibilityDate: "2026-11-01",
    ...SIGNALLED,
    modules: [{ type: "ESModule", path: "ai.mjs", contents: source }],
  };
}

/** Miniflare ends the whole process on a signal; here that is up to the caller, and the guard ends workerd in any case. */
function withoutSignalHandlers<Result>(make: () => Result): Result {
  const before = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  const made = make();
  for (const [index, signal] of SIGNALS.entries())
    for (const listener of process.listeners(signal)) if (!before[index]?.has(listener)) process.off(signal, listener);
  return made;
}
