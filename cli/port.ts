/** Whether a TCP port can be listened on, and who has it where not. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { describeProcess } from "../trainer/host.ts";

const LISTEN_STATE = "0A"; // TCP_LISTEN in /proc/net/tcp

/** Undefined where the port is free, else the reason as the system names it, such as `EADDRINUSE`. */
export function portProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** A port that nobody listens on just now, on this machine alone. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address === null || typeof address === "string" ? reject(new Error("a port expected")) : resolve(address.port)));
    });
  });
}

/** "process 123 (command)" of whoever listens on the port; undefined where that cannot be seen. */
export function portHolder(port: number): string | undefined {
  const pid = existsSync("/proc/net/tcp") ? holderFromProc(port) : holderFromLsof(port);
  if (pid === undefined) return undefined;
  const command = describeProcess(pid)?.command;
  return command === undefined ? `process ${pid}` : `process ${pid} (${command.slice(0, 100)})`;
}

function holderFromProc(port: number): number | undefined {
  const inodes = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => listeningInodes(file, port)));
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).find((pid) => openSockets(pid).some((inode) => inodes.has(inode)));
}

/** Inodes of listening sockets: columns of /proc/net/tcp are sl, local address:port in hex, remote, state, …, inode as the 10th. */
function listeningInodes(file: string, port: number): string[] {
  if (!existsSync(file)) return [];
  const rows = readFileSync(file, "utf8").trim().split("\n").slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTEN_STATE && Number.parseInt(fields[1]?.split(":")[1] ?? "", 16) === port)
    .map((fields) => fields[9] ?? "");
}

function openSockets(pid: number): string[] {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  } catch {
    return []; // Another user's process, or one that ended while we looked.
  }
}

function holderFromLsof(port: number): number | undefined {
  try {
    const output = execFileSync("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-t"], { encoding: "utf8" });
    return Number(output.split("\n")[0]) || undefined;
  } catch {
    return undefined; // No lsof, or nobody found.
  }
}
