/** `npm run adapters` with llama.cpp as a process: what it refuses, and that nothing of it is left when it goes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freePort } from "../../cli/port.ts";
import { describeProcess } from "../../trainer/host.ts";
import { until } from "./llama/beside-llama.ts";
import { type StandIns, writeStandIns } from "./llama/stand-ins.ts";

const PATIENCE_MS = 120_000;
const DIRECT = ["cli/adapters.ts"];
const LAUNCHED = ["cli/bootstrap.mjs", "cli/adapters.ts"]; // as `npm run adapters` does

let folder = "";
let standIns: StandIns;
let child: ChildProcess;
let said = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-adapters-"));
  standIns = await writeStandIns(join(folder, "llama"));
});
afterEach(async () => {
  child.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

function start(command: readonly string[], ...args: readonly string[]): void {
  said = "";
  const env = { ...process.env, NEXTSTATE_ADAPTER_KEY: "secret" };
  child = spawn(process.execPath, [...command, "--folder", join(folder, "adapters"), "--port", "0", ...args], { env });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk.toString()));
}

async function exit(): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

/** Resolves with the process id of llama-server, once all is up. */
async function startWithLlama(command: readonly string[]): Promise<number> {
  const port = await freePort();
  const { llamaServer, model, convert, python } = standIns;
  const files = ["--llama-server", llamaServer, "--model", model, "--convert", convert, "--python", python];
  start(command, ...files, "--llama-port", `${port}`, "--", "-c", "4096");
  await until(() => /adapters {2}http/.test(said) || child.exitCode !== null);
  const started = (await (await fetch(`http://127.0.0.1:${port}/started-with`)).json()) as { pid: number; argv: string[] };
  expect(started.argv.slice(0, 2)).toEqual(["-c", "4096"]);
  return started.pid;
}

it.for(["SIGINT", "SIGTERM"] as const)("ends its server on %s", { timeout: PATIENCE_MS }, async (signal) => {
  const pid = await startWithLlama(LAUNCHED);
  child.kill(signal);
  expect([await exit(), describeProcess(pid)]).toEqual([0, undefined]);
});

it("ends a server that is not up yet", { timeout: PATIENCE_MS }, async () => {
  const { llamaServer, model, convert } = standIns;
  await writeFile(join(folder, "llama", "hold"), "");
  start(LAUNCHED, "--llama-server", llamaServer, "--model", model, "--convert", convert, "--llama-port", "0");
  const ids = join(folder, "adapters", ".llama", "run");
  const recorded = (): string[] => (existsSync(ids) ? readdirSync(ids).filter((name) => name.endsWith(".pid")) : []);
  await until(() => recorded().length === 1);
  const pid = Number(readFileSync(join(ids, recorded()[0] ?? ""), "utf8"));
  expect(describeProcess(pid)?.command).toContain(llamaServer);
  child.kill("SIGTERM");
  expect(await exit()).toBe(0);
  await until(() => describeProcess(pid) === undefined);
});

it.for([
  { who: "itself", command: DIRECT },
  { who: "the launcher that npm knows", command: LAUNCHED },
])("leaves no server when $who is killed without a chance to clean up", { timeout: PATIENCE_MS }, async ({ command }) => {
  const pid = await startWithLlama(command);
  child.kill("SIGKILL");
  await until(() => describeProcess(pid) === undefined);
});

it.for([
  { what: "half of what llama.cpp needs", args: ["--llama-server", "llama-server"] },
  { what: "arguments for no llama-server", args: ["--", "-c", "4096"] },
])("refuses $what", { timeout: PATIENCE_MS }, async ({ args }) => {
  start(DIRECT, ...args);
  expect([await exit(), said]).toEqual([2, expect.stringContaining("--llama-server, --model and --convert together")]);
});

it("ends with what a server said that does not start", { timeout: PATIENCE_MS }, async () => {
  const { llamaServer, model, convert } = standIns;
  const files = ["--llama-server", llamaServer, "--model", model, "--convert", convert];
  start(DIRECT, ...files, "--llama-port", "0", "--", "--lora", "nowhere.gguf");
  expect([await exit(), said]).toEqual([2, expect.stringMatching(/llama-server did not start \(code 1\)[^]*nowhere\.gguf/)]);
});
