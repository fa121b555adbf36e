/** One whole loop with the trainer on a device: `npm start` and, against it, `npm run demo`, which checks every step. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Device } from "../../trainer/onnx/device.ts";
import { say } from "../bench.ts";

const STARTING_MS = 120_000;

type Child = ReturnType<typeof spawn>;

/** Whether the demo went through, and the trainer ran on `device`. */
export async function runLoop(base: string, device: Device): Promise<boolean> {
  const state = await mkdtemp(join(tmpdir(), "nextstate-gpu-"));
  const system = start(["cli/start.ts", "--port", "0", "--state", state, "--base", base], { NEXTSTATE_DEVICE: device });
  try {
    const url = await endpointOf(system);
    const code = await ended(start(["cli/demo.ts", "--url", url, "--state", state, "--base", base]));
    const used = devicesIn(join(state, "metrics.jsonl"));
    say(`  demo ended with ${code}; the trainer ran on ${used.join(", ") || "nothing that it named"}`);
    return code === 0 && used.length > 0 && used.every((each) => each === device);
  } finally {
    const gone = ended(system);
    system.kill("SIGTERM");
    await gone;
    await rm(state, { recursive: true, force: true });
  }
}

function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Child {
  return spawn(process.execPath, [...args], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...environment } });
}

/** The address that a starting system prints. */
async function endpointOf(system: Child): Promise<string> {
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(() => reject(new Error("no endpoint within two minutes")), STARTING_MS);
    system.once("exit", (code) => reject(new Error(`npm start ended with ${code}`)));
    createInterface({ input: system.stdout ?? process.stdin }).on("line", (line) => {
      say(`    ${line}`);
      const [url] = /http:\/\/[\w.:]+(?=\/v1)/.exec(line) ?? [];
      if (url === undefined) return;
      clearTimeout(giveUp);
      resolve(url);
    });
  });
}

function ended(child: Child): Promise<number | null> {
  if (child.stdout !== null && child.stdout.listenerCount("data") === 0)
    child.stdout.on("data", (chunk: Buffer) => say(`    ${chunk.toString().trimEnd()}`));
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

/** Where the trainers that wrote a metrics file ran. */
function devicesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.flatMap((line) => {
    const { name, device } = JSON.parse(line) as { name: string; device?: string };
    return name === "trainer:device" && device !== undefined ? [device] : [];
  });
}
