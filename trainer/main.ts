/**
 * The trainer process: `npm run trainer -- --url URL --key K`, on any machine that reaches the edge.
 * `node trainer/main.ts rebuild …` makes one version again instead (rebuild/command.ts).
 * Follows every agent of the edge, one loop each, one update at a time; outlives restarts of the edge, ends on SIGTERM
 * and SIGINT, and when its parent process is gone.
 */
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { z } from "zod";
import { AppError, toErrorRecord } from "../shared/errors.ts";
import { SHARED_LINE } from "../shared/policy.ts";
import { TrainerConfig } from "./config.ts";
import { Random } from "./random.ts";
import { Engine } from "./engine/engine.ts";
import { createEdgeClient } from "./feed/client.ts";
import { connect } from "./feed/connect.ts";
import { retryForever } from "./feed/retry.ts";
import { createPanel } from "./judge/panel.ts";
import { createGate } from "./gate/gate.ts";
import { createLearner } from "./learn/update.ts";
import { LineLoop, type LoopDependencies } from "./loop.ts";
import { createNoteReview } from "./memory/absorption.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { writeAdapterFiles } from "./policy/adapter.ts";
import { createJobSampler } from "./policy/answerer.ts";
import { loadBase } from "./policy/base.ts";
import { createParentLoader } from "./policy/parent.ts";
import { rebuildCommand } from "./rebuild/command.ts";

const AGENTS_REFRESH_MS = 2_000; // a new agent is followed within this
const PARENT_CHECK_MS = 1_000;
const REOPEN_MS = 30_000;
/** The edge serves another base, or knows our key no more: nobody can be taught anything. */
const FATAL: ReadonlySet<string> = new Set(["policy/digest", "auth/forbidden", "auth/missing"]);

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2));
  const metrics = createMetrics(config.state, () => new Date());
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop.abort(signal));
  watchParent(config.parentPid, stop);
  const base = loadBase(config.base);
  const engine = await Engine.start({ config: base.config, threads: config.threads, tokenizer: base.tokenizerFiles });
  // An update under way is given up: nothing of it is published, its events are still beyond the cursor.
  stop.signal.addEventListener("abort", () => void engine.close());
  try {
    await engine.loadWeights(base.weights);
    metrics("trainer:started", { edge: config.edge, base: config.base, threads: config.threads, seed: config.seed });
    const edge = createEdgeClient({ edge: config.edge, key: config.key, signal: stop.signal });
    await connect(edge, {
      url: config.edge,
      random: new Random(process.pid),
      signal: stop.signal,
      onRetry: reportRetry(metrics, "agents"),
    });
    const sampler = createJobSampler(engine, base);
    const learner = createLearner({
      engine,
      base,
      settings: config.update,
      now: () => performance.now(),
      onTaught: (counts) => metrics("update:taught", counts),
    });
    const loadAdapter = createParentLoader(edge, { base, folder: config.base });
    const gate = createGate({ engine, base });
    const inTurn = createQueue();
    const writeAdapter: LoopDependencies["writeAdapter"] = (adapter) => writeAdapterFiles(base.shape, adapter, base.name);
    await followAgents(
      {
        edge,
        judge: createPanel(sampler),
        learner: { update: (request) => inTurn(() => learner.update(request)) },
        metrics,
        config,
        now: () => new Date(),
        loadAdapter,
        gate: (request) => inTurn(() => gate(request)),
        reviewNotes: createNoteReview({ engine, base, loadAdapter }),
        writeAdapter,
        runtime: describeRuntime(config),
      },
      stop,
    );
  } finally {
    await engine.close();
    metrics("trainer:stopped", { reason: String(stop.signal.reason ?? "error") });
  }
}

/** Starts a loop per agent as agents appear; returns when the signal stops them all. @throws what stopped one of them */
async function followAgents(deps: LoopDependencies, stop: AbortController): Promise<void> {
  const { signal } = stop;
  const loops = new Map<string, Promise<void>>();
  const random = new Random(process.pid);
  while (!signal.aborted) {
    const agents = await retryForever(() => deps.edge.listAgents(), { random, signal, onRetry: reportRetry(deps.metrics, "agents") });
    for (const { agent, line } of agents ?? [])
      if (line === SHARED_LINE && !loops.has(agent)) loops.set(agent, followLine(agent, deps, stop));
    await sleep(AGENTS_REFRESH_MS, undefined, { signal }).catch(() => undefined); // an abort ends the sleep
  }
  await Promise.all(loops.values()); // throws what stopped one of them
}

/** What fails in one line is that line's: it begins again, a while later. @throws what no line can go on with */
async function followLine(agent: string, deps: LoopDependencies, stop: AbortController): Promise<void> {
  const { signal } = stop;
  const random = new Random(process.pid + agent.length);
  while (!signal.aborted) {
    const loop = new LineLoop({ agent, line: SHARED_LINE }, deps);
    deps.metrics("line:opened", { agent, line: SHARED_LINE });
    try {
      while (!signal.aborted)
        await retryForever(() => loop.step(deps.config.waitMs), { random, signal, onRetry: reportRetry(deps.metrics, agent) });
    } catch (error) {
      deps.metrics("line:failed", { agent, ...toErrorRecord(error) });
      if (!(error instanceof AppError) || FATAL.has(error.code)) {
        stop.abort("a line failed");
        throw error;
      }
      await sleep(REOPEN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

function reportRetry(metrics: Metrics, agent: string): (error: unknown, delayMs: number) => void {
  return (error, delayMs) => metrics("feed:retried", { agent, ...toErrorRecord(error), delayMs: Math.round(delayMs) });
}

/** Updates and their gates share one engine and two cores: each starts when the one before it has ended. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined); // the caller sees the failure; the queue goes on
    return next;
  };
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
function describeRuntime({ threads, update }: TrainerConfig): Record<string, string> {
  return {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpu: cpus()[0]?.model ?? "unknown",
    threads: String(threads),
    onnxruntime: runtimeVersion(),
    update: JSON.stringify(update),
  };
}

function runtimeVersion(): string {
  const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)("onnxruntime-node/package.json"));
  return version;
}

const USAGE = `npm run trainer -- --url <url> --key <key> [options]
  --url <url>       where the edge is; --edge is the same
  --key <key>       a trainer key; in NEXTSTATE_TRAINER_KEY nobody else on the machine can read it
  --base <folder>   the base checkpoint that the edge serves (base)
  --state <folder>  where metrics.jsonl is written (.nextstate-trainer)
  --threads <n>     threads inside one operator (2)
  --seed <n>        of what an update draws (0)
npm run trainer -- rebuild --agent <name> --version <n> makes a version again`;

function readConfig(argv: readonly string[]): TrainerConfig {
  const names = ["url", "edge", "key", "base", "state", "parent-pid", "threads", "seed", "wait-ms"] as const;
  const { values } = parseArgs({ args: [...argv], options: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])) });
  const fields = Object.entries(values).map(([name, value]) => [
    name === "url" ? "edge" : name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  const defaults = { key: process.env["NEXTSTATE_TRAINER_KEY"], base: "base", state: ".nextstate-trainer" };
  const parsed = TrainerConfig.safeParse({ ...defaults, ...Object.fromEntries(fields) });
  if (parsed.success) return parsed.data;
  throw new AppError("input/invalid", `${z.prettifyError(parsed.error)}\n${USAGE}`);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the exit code. */
async function run([command, ...rest]: readonly string[]): Promise<number> {
  if (command === "rebuild") return rebuildCommand(rest, print);
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
