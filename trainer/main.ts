/**
 * The trainer process: `npm run trainer -- --url URL --key K`, on any machine that reaches the edge.
 * `rebuild`, `export`, `import`, `tinker` and `upload` are commands of their own, that end: each has a folder.
 * Follows every agent of the edge, one loop each, one update at a time; outlives restarts of the edge, ends on SIGTERM
 * and SIGINT, and when its parent process is gone.
 */
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createRequire } from "node:module";
import { z } from "zod";
import { type TemplateArguments, templateArgumentsOf } from "../shared/engine.ts";
import { AppError, toErrorRecord } from "../shared/errors.ts";
import { parseOptions } from "./command-line.ts";
import { TrainerConfig, UpdateSettings } from "./config.ts";
import { Engine } from "./engine/engine.ts";
import { exportCommand } from "./export/command.ts";
import { createEdgeClient } from "./feed/client.ts";
import { connect } from "./feed/connect.ts";
import type { EdgePort } from "./feed/edge-port.ts";
import { reportRetry, retryForever } from "./feed/retry.ts";
import { followAgents, type FollowOptions } from "./follow.ts";
import { importCommand } from "./import/command.ts";
import { LlmJudge } from "./judge/llm/judge.ts";
import { createPanel } from "./judge/panel.ts";
import type { LineDependencies } from "./line-dependencies.ts";
import { LineLoop } from "./loop.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { writeAdapterFiles } from "./policy/adapter.ts";
import { lackedForJudging, openJudge } from "./policy/answerer.ts";
import { loadBase } from "./policy/base.ts";
import { fetchBase } from "./policy/fetch-base.ts";
import { createParentLoader, hasBase, readBaseManifest } from "./policy/parent.ts";
import { checkCompute, chooseDevice, type Device } from "./onnx/device.ts";
import { Random } from "./random.ts";
import { rebuildCommand } from "./rebuild/command.ts";
import { tinkerCommand } from "./tinker/command.ts";
import { uploadCommand } from "./upload/command.ts";
import { createWorkQueue } from "./work-queue.ts";
import { createWorkbench } from "./workbench.ts";

const PARENT_CHECK_MS = 1_000;
const TWICE_MS = 500; // within which a signal is the same one
const PREPARE_AFTER_MS = 10_000; // who starts a trainer and corrects at once has their note first
const BARE_JUDGE = "the base by itself, where no judge's server is set";

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2));
  const metrics = createMetrics(config.state, () => new Date());
  const stop = new AbortController();
  stopOnSignals(stop);
  watchParent(config.parentPid, stop);
  const { url, key, name, leaseMs, waitMs, threads, seed, compute } = config;
  const { device, reason } = await chooseDevice(config.device);
  checkCompute(compute, device);
  metrics("trainer:device", { device, reason, compute });
  const edge = createEdgeClient({ edge: url, key, signal: stop.signal });
  const folder = config.base ?? (await fetchServed(edge, config, { metrics, signal: stop.signal }));
  if (folder === undefined) return; // it was told to stop
  const base = loadBase(folder, config.update);
  const engine = await Engine.start({ config: base.config, threads, tokenizer: base.tokenizerFiles, device, compute });
  // An update under way is given up: nothing of it is published, its events are still beyond the cursor.
  stop.signal.addEventListener("abort", () => void engine.close());
  try {
    await engine.loadCheckpoint(base.folder);
    metrics("trainer:started", { url, name, base: folder, rowTokens: base.rowTokens, threads, seed });
    const lacks = lackedForJudging(base);
    // Usual of another base than the shipped one; of that one a fault, which its verdicts alone would not show.
    if (lacks.length > 0) metrics("judge:lacking", { base: folder, lacks, judgedBy: BARE_JUDGE });
    await connect(edge, { url, random: new Random(process.pid), signal: stop.signal, onRetry: reportRetry(metrics, "agents") });
    const sampler = await openJudge(engine, base);
    const loadAdapter = createParentLoader(edge, { base, folder });
    const queued = createWorkQueue();
    const { prepare, ...workbench } = createWorkbench({ engine, base, settings: config.update, queued, metrics, loadAdapter });
    const writeAdapter: LineDependencies["writeAdapter"] = (adapter) => writeAdapterFiles(base.config, adapter, base.name);
    const shared: Omit<LineDependencies, "edge"> = {
      judge: createPanel(sampler, new LlmJudge({ environment: process.env, signal: stop.signal })),
      ...workbench,
      queued,
      metrics,
      config,
      now: () => new Date(),
      loadAdapter,
      writeAdapter,
      runtime: describeRuntime(config, device),
    };
    // What this costs now the first update would wait for; whatever is wrong it meets again, and tells.
    sleep(PREPARE_AFTER_MS, undefined, { signal: stop.signal })
      .then(async () => prepare(await firstArguments(edge, loadAdapter)))
      .catch((thrown: unknown) => {
        if (!stop.signal.aborted) metrics("gate:unprepared", toErrorRecord(thrown));
      });
    const openLoop: FollowOptions["openLoop"] = (line, lease, lost) => {
      const signal = AbortSignal.any([stop.signal, lost]);
      return new LineLoop(line, { ...shared, signal, edge: createEdgeClient({ edge: url, key, signal, lease }) });
    };
    // Leases are given back after the stop, by a client that does not hear of it.
    const unstopped = createEdgeClient({ edge: url, key });
    const leasing = { ...edge, endLease: (agent: string, token: number) => unstopped.endLease(agent, token) };
    const trains = createBaseCheck(edge, { loadAdapter, metrics });
    await followAgents({ edge: leasing, metrics, name, leaseMs, waitMs, trains, openLoop }, stop);
  } catch (error) {
    // So ends what a stop finds under way.
    if (!stop.signal.aborted || !(error instanceof AppError) || error.code !== "engine/closed") throw error;
  } finally {
    await engine.close();
    metrics("trainer:stopped", { reason: String(stop.signal.reason ?? "error") });
  }
}

/** The folder of the base that the edge itself serves, as its first agent has it, one without another engine before others; waits for there to be one. Undefined where it is told to stop. */
async function fetchServed(
  edge: EdgePort,
  { state, url }: TrainerConfig,
  { metrics, signal }: { metrics: Metrics; signal: AbortSignal },
): Promise<string | undefined> {
  const fetching = async (): Promise<string> => {
    const heads = await Promise.all((await edge.listAgents()).map((line) => edge.readHead(line)));
    // What an engine serves is stored here only where somebody has uploaded it.
    for (const { baseDigest, onEngine } of heads.toSorted((a, b) => Number(a.onEngine) - Number(b.onEngine))) {
      if (onEngine && Object.keys((await readBaseManifest(edge, baseDigest)).files).length === 0) continue;
      metrics("base:fetching", { digest: baseDigest });
      return fetchBase(edge, { digest: baseDigest, folder: join(state, "bases") });
    }
    throw new AppError(
      "upstream/unreachable",
      "GET /agents: an agent that the key reaches and whose base is stored expected, got none yet",
    );
  };
  await connect(edge, { url, random: new Random(process.pid), signal, onRetry: reportRetry(metrics, "agents") });
  return retryForever(fetching, { random: new Random(process.pid), signal, onRetry: reportRetry(metrics, "agents") });
}

/** Tells of each base that this trainer does not have once. */
function createBaseCheck(
  edge: Pick<EdgePort, "readHead">,
  { loadAdapter, metrics }: Pick<LineDependencies, "loadAdapter" | "metrics">,
): FollowOptions["trains"] {
  const told = new Set<string>();
  return async (line) => {
    const { agent, baseDigest } = await edge.readHead(line);
    const has = await hasBase(loadAdapter, { baseDigest });
    const name = `${agent} ${baseDigest}`;
    if (!has && !told.has(name)) metrics("line:foreign", { agent, base: baseDigest });
    told.add(name);
    return has;
  };
}

/** What the engine of the first agent of this base gives its template: it is most likely corrected first. */
async function firstArguments(
  edge: Pick<EdgePort, "listAgents" | "readHead">,
  loadAdapter: LineDependencies["loadAdapter"],
): Promise<TemplateArguments> {
  for (const line of await edge.listAgents()) {
    const { baseDigest, settings } = await edge.readHead(line);
    if (await hasBase(loadAdapter, { baseDigest })) return templateArgumentsOf(settings.engine);
  }
  return {};
}

/** Told again, the process ends at once. Ctrl-C under npm is told twice: by the terminal, and by cli/bootstrap.mjs a moment later. */
function stopOnSignals(stop: AbortController): void {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const stopBy = (signal: NodeJS.Signals): void => stop.abort(signal);
  for (const signal of signals) process.on(signal, stopBy);
  const letGo = (): void => signals.forEach((signal) => process.off(signal, stopBy));
  stop.signal.addEventListener("abort", () => setTimeout(letGo, TWICE_MS).unref());
}

/** A parent that was killed cannot stop its children, so they look. Signal 0 only asks whether the process exists. */
function watchParent(parentPid: number | undefined, stop: AbortController): void {
  if (parentPid === undefined) return;
  setInterval(() => {
    if (!isAlive(parentPid)) stop.abort(`parent ${parentPid} is gone`);
  }, PARENT_CHECK_MS).unref();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** What a rebuild of a version has to be run with and on. */
function describeRuntime({ threads, compute }: TrainerConfig, device: Device): Record<string, string> {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    threads: String(threads),
    device,
    compute,
    onnxruntime: runtimeVersion(),
  };
}

function runtimeVersion(): string {
  const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)("onnxruntime-node/package.json"));
  return version;
}

const USAGE = `npm run trainer -- --url <url> --key <key> [options]
  --url <url>       where the edge is
  --key <key>       a trainer key; in NEXTSTATE_TRAINER_KEY nobody else on the machine can read it
  --base <folder>   a Hugging Face folder of the base that the edge serves (fetched from the edge)
  --state <folder>  where metrics.jsonl is written, and a base that was fetched (.nextstate/trainer); of metrics.jsonl the last 32 MiB and the 32 before
  --name <name>     what its leases run under; no two trainers may have the same (host and process)
  --lease-ms <ms>   how long its agents wait for it before another trainer takes over (30000)
  --acts-on <what>  answers, or everything: plain adapters, for engines that know no activated ones (what the agent's engine can serve)
  --row-tokens <n>  tokens of the longest row that is trained on, where the base's context has more (4096)
  --device <what>   cpu, cuda, webgpu, or auto: CUDA where there is one, else the CPU (NEXTSTATE_DEVICE, auto)
  --compute <type>  what frozen matrices of bases over 100M are multiplied in: float32, or what the device has of float16 and bfloat16 (float32)
  --threads <n>     threads that compute (2)
  --seed <n>        of what an update draws (0)
npm run trainer -- rebuild --agent <name> --version <n> makes a version again
npm run trainer -- export --agent <name> --format <verl|slime> writes what an update would learn from
npm run trainer -- import --agent <name> --adapter <folder> publishes an adapter that was trained elsewhere
npm run trainer -- tinker --agent <name> --model <name> trains such an adapter on Tinker
npm run trainer -- upload --base <folder> stores a base where trainers fetch it`;

const Options = TrainerConfig.omit({ update: true, cacheTurns: true }).extend({
  actsOn: UpdateSettings.shape.actsOn,
  rowTokens: UpdateSettings.shape.rowTokens,
});

function readConfig(argv: readonly string[]): TrainerConfig {
  const { NEXTSTATE_TRAINER_KEY: key, NEXTSTATE_DEVICE: device } = process.env;
  const { actsOn, rowTokens, ...config } = parseOptions(argv, Options, USAGE, { key, device });
  return TrainerConfig.parse({ ...config, update: { actsOn, rowTokens } });
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What runs once instead, by its name. */
const COMMANDS: Readonly<Record<string, (argv: readonly string[], print: (line: string) => void) => Promise<number>>> = {
  rebuild: rebuildCommand,
  export: exportCommand,
  import: importCommand,
  upload: uploadCommand,
  tinker: tinkerCommand,
};

/** Returns the exit code. */
async function run([command, ...rest]: readonly string[]): Promise<number> {
  const own = command === undefined ? undefined : COMMANDS[command];
  if (own !== undefined) return own(rest, print);
  if (command === "--help") print(USAGE);
  else await main();
  return 0;
}

run(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`trainer: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof AppError ? error.exitCode : 1);
  },
);
