/**
 * Who runs from a state folder: `run/<name>.pid` per child, `run/host.json` for the process above them, with where it listens.
 * A guard outside the tree kills the children when the host dies without a word, as after `kill -9`.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../shared/errors.ts";
import { describeProcess, hostFile, hostOf, runFolder } from "../trainer/host.ts";

// Waits for its standard input to close, which the kernel does when the host is gone, however it went.
const GUARD = 'read -r line; for file in "$1"/*.pid; do [ -f "$file" ] && kill -9 "$(cat "$file")"; done; rm -rf "$1"';

/** What a host may leave behind, by name, with what its command line holds. */
const CHILDREN = { workerd: "workerd", trainer: "trainer/main" } as const;

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
