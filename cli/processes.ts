/**
 * Who runs from a state folder: `run/<name>.pid` per child, `run/host.json` for the process above them, with where it listens.
 * A guard outside the tree kills the children when the host dies without a word, as after `kill -9`.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AppError } from "../shared/errors.ts";

// Waits for its standard input to close, which the kernel does when the host is gone, however it went.
const GUARD = 'read -r line; for file in "$1"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")"; done; rm -rf "$1"';

/** What a host may leave behind, by name, with what its command line holds. */
const CHILDREN = { workerd: "workerd", trainer: "trainer/main" } as const;

const HostRecord = z.object({ pid: z.number().int(), startedAt: z.string(), url: z.string().optional() });

export function runFolder(stateFolder: string): string {
  return join(stateFolder, "run");
}

export type ProcessInfo = { command: string; startedAt: string };

/** Command line and an opaque start time of a living process; undefined for one that does not exist. */
export function describeProcess(pid: number): ProcessInfo | undefined {
  return existsSync("/proc/self/stat") ? fromProc(pid) : fromPs(pid);
}

/** The pid of a child's file, while a process of that pid lives. */
export function readPid(stateFolder: string, name: string): number | undefined {
  const file = join(runFolder(stateFolder), `${name}.pid`);
  const pid = existsSync(file) ? Number(readFileSync(file, "utf8").trim()) : Number.NaN;
  return Number.isInteger(pid) && pid > 0 && describeProcess(pid) !== undefined ? pid : undefined;
}

export function writePid(stateFolder: string, name: string, pid: number): void {
  replaceFile(join(runFolder(stateFolder), `${name}.pid`), `${pid}\n`);
}

/**
 * Takes the state folder for this process, and ends children that an earlier host left behind; only what still
 * looks like the child it was (`marks` by name, found in the command line) is killed. Returns what was killed.
 * @throws {input/invalid} where another living host has the folder
 */
export function claimStateFolder(stateFolder: string, marks: Record<string, string> = CHILDREN): string[] {
  if (existsSync(stateFolder) && !statSync(stateFolder).isDirectory())
    throw new AppError("input/invalid", `--state: a folder expected, got ${stateFolder}, a file`);
  refuseSecondHost(stateFolder);
  const killed = Object.entries(marks).flatMap(([name, mark]) => killStale(stateFolder, name, mark));
  rmSync(runFolder(stateFolder), { recursive: true, force: true });
  mkdirSync(runFolder(stateFolder), { recursive: true, mode: 0o700 });
  writeHost(stateFolder);
  return killed;
}

/** Leaves who has the folder, and where it listens once it does, for commands that are given the folder. */
export function writeHost(stateFolder: string, url?: string): void {
  const record = { pid: process.pid, startedAt: describeProcess(process.pid)?.startedAt ?? "", url };
  replaceFile(hostFile(stateFolder), JSON.stringify(record));
}

/** Others read it meanwhile: they find what was there or what is there now, never a part. */
function replaceFile(file: string, text: string): void {
  const next = `${file}.new`;
  writeFileSync(next, text);
  renameSync(next, file);
}

/** The process that has the folder, or had it and could not clean up; without `url` while it is not up. Undefined where there is none. */
export function hostOf(stateFolder: string): { pid: number; alive: boolean; url: string | undefined } | undefined {
  const file = hostFile(stateFolder);
  if (!existsSync(file)) return undefined;
  const record = readRecord(file);
  if (record === undefined) return undefined;
  const { pid, startedAt, url } = record;
  return { pid, alive: describeProcess(pid)?.startedAt === startedAt, url };
}

/** Undefined where it is no record: a machine that lost power may leave a file without its bytes, and nobody who lives does. */
function readRecord(file: string): z.infer<typeof HostRecord> | undefined {
  try {
    return HostRecord.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) return undefined;
    throw thrown;
  }
}

function hostFile(stateFolder: string): string {
  return join(runFolder(stateFolder), "host.json");
}

/** Starts the guard; calling the returned function ends it, and the children's pid files with it. */
export function startGuard(stateFolder: string): () => Promise<void> {
  const folder = runFolder(stateFolder);
  const guard = spawn("/bin/sh", ["-c", GUARD, "nextstate-guard", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  guard.unref();
  const gone = new Promise<void>((resolve) => guard.once("exit", () => resolve()));
  return async () => {
    for (const name of existsSync(folder) ? readdirSync(folder) : []) rmSync(join(folder, name), { force: true });
    guard.stdin.end();
    guard.ref();
    await gone;
  };
}

function refuseSecondHost(stateFolder: string): void {
  const host = hostOf(stateFolder);
  if (host === undefined || !host.alive || host.pid === process.pid) return;
  throw new AppError(
    "input/invalid",
    `state folder ${stateFolder} is in use by process ${host.pid}; stop it, or choose another with --state`,
  );
}

function killStale(stateFolder: string, name: string, mark: string): string[] {
  const pid = readPid(stateFolder, name);
  if (pid === undefined || !describeProcess(pid)?.command.includes(mark)) return [];
  process.kill(pid, "SIGKILL");
  return [`${name} (process ${pid})`];
}

function fromProc(pid: number): ProcessInfo | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The fields after the parenthesised name: state is the 1st of them, start time the 20th (proc(5), fields 3 and 22).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : { command, startedAt: fields[19] ?? "" };
  } catch {
    return undefined; // No such process.
  }
}

function fromPs(pid: number): ProcessInfo | undefined {
  try {
    const output = execFileSync("ps", ["-p", String(pid), "-o", "lstart=,command="], { encoding: "utf8" });
    return { startedAt: output.slice(0, 24), command: output.slice(24).trim() };
  } catch {
    return undefined; // ps exits with 1 where there is no such process.
  }
}
