/** The process that has a state folder: who it is, whether it lives, and where its system listens. It writes that down itself (cli/processes.ts). */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const HostRecord = z.object({ pid: z.number().int(), startedAt: z.string(), url: z.string().optional() });

export function runFolder(stateFolder: string): string {
  return join(stateFolder, "run");
}

export function hostFile(stateFolder: string): string {
  return join(runFolder(stateFolder), "host.json");
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

export type ProcessInfo = { command: string; startedAt: string };

/** Command line and an opaque start time of a living process; undefined for one that does not exist. */
export function describeProcess(pid: number): ProcessInfo | undefined {
  return existsSync("/proc/self/stat") ? fromProc(pid) : fromPs(pid);
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
