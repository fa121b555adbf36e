/** `nextstate` as a child process, started as `npx` does, with a system to talk to and without what the caller's environment says of one. */
import { spawn } from "node:child_process";
import { join } from "node:path";

export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
export type RunOptions = { readonly stdin?: string; readonly env?: Record<string, string>; readonly cwd?: string };

/** Absolute, since callers stand in other folders too. */
export const BIN = join(process.cwd(), "cli/nextstate/bin.mjs");

export function runNextstate(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return runCommand(process.execPath, [BIN, ...args], options);
}

export function runCommand(command: string, args: readonly string[], { stdin = "", env = {}, cwd }: RunOptions = {}): Promise<Ended> {
  const { NEXTSTATE_URL: _, NEXTSTATE_KEY: __, NEXTSTATE_ADMIN_KEY: ___, NO_COLOR: ____, ...rest } = process.env;
  const child = spawn(command, args, { env: { ...rest, ...env }, ...(cwd === undefined ? {} : { cwd }) });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => {}); // a command that reads no input may be gone before it is given
  child.stdin.end(stdin);
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
