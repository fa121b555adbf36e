/** The trainer as a process: it follows the edge's agents, ends when told to, and does not outlive its parent. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeRandomBase } from "../../helpers/random-base.ts";

let folder = "";
let base = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-trainer-"));
  base = await writeRandomBase(join(folder, "base"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Nothing listens on port 9: the trainer has to live with an edge that is away. */
function startTrainer(args: readonly string[]): ChildProcess {
  const fixed = ["trainer/main.ts", "--url", "http://127.0.0.1:9", "--base", base, "--state", folder, "--threads", "1"];
  return spawn(process.execPath, [...fixed, ...args], {
    env: { ...process.env, NEXTSTATE_TRAINER_KEY: "nsk_trainer_x" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function lineWith(child: ChildProcess, text: string): Promise<string> {
  let seen = "";
  for await (const chunk of child.stdout ?? []) {
    seen += String(chunk);
    if (seen.includes(text)) return seen;
  }
  throw new Error(`a line with ${text} expected, got ${seen}`);
}

describe("trainer/main.ts", { timeout: 60_000 }, () => {
  it("keeps asking while the edge is away, and ends cleanly on SIGTERM", async () => {
    const child = startTrainer([]);
    expect(await lineWith(child, "feed:retried")).toContain("upstream/unreachable");
    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  it("ends cleanly on Ctrl-C under npm, where the terminal tells it and bootstrap.mjs once more", async () => {
    const fixed = ["cli/bootstrap.mjs", "trainer/main.ts", "--url", "http://127.0.0.1:9", "--base", base, "--state", folder];
    const child = spawn(process.execPath, fixed, {
      env: { ...process.env, NEXTSTATE_TRAINER_KEY: "nsk_trainer_x" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a group of its own, as a terminal has one
    });
    await lineWith(child, "feed:retried");
    process.kill(-Number(child.pid), "SIGINT");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("says which of the judge's files its base lacks, and who judges then", async () => {
    const child = startTrainer([]);
    const said = await lineWith(child, "feed:retried");
    expect(said).toMatch(
      /judge:lacking .*"judge adapter","wish adapter","reaction model","correction model".* judgedBy="the base by itself/,
    );
    child.kill("SIGTERM");
    await once(child, "exit");
  });

  it("ends by itself when its parent process is gone", async () => {
    const parent = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const child = startTrainer(["--parent-pid", String(parent.pid)]);
    await lineWith(child, "trainer:started");
    parent.kill("SIGKILL");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  it("names every option that is missing or wrong at once and exits with 2", async () => {
    const child = spawn(process.execPath, ["trainer/main.ts", "--url", "nowhere"], { env: { PATH: process.env["PATH"] ?? "" } });
    let said = "";
    child.stderr.on("data", (chunk) => (said += String(chunk)));
    const [code] = await once(child, "close");
    expect(code).toBe(2);
    for (const name of ["url", "key"]) expect(said).toMatch(new RegExp(`→ at ${name}`));
  });
});
