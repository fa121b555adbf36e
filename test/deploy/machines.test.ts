/** What runs a trainer on other machines: the container has all that a trainer needs, and the service's command starts one. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nextstate-machines-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Output until it holds the text, or the process ends. */
async function outputOf(cwd: string, command: readonly string[], until: string): Promise<string> {
  return (await run(cwd, command, until)).output;
}

/** What a process says and how it ends, which it is told to once it has said `until`. */
function run(
  cwd: string,
  [program = "", ...args]: readonly string[],
  until?: string,
): Promise<{ readonly output: string; readonly code: number | null }> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env["PATH"], NEXTSTATE_TRAINER_KEY: "nsk_trainer_x" } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (until !== undefined && output.includes(until)) child.kill("SIGTERM");
    });
  return new Promise((done) => child.once("close", (code) => done({ output, code })));
}

describe("deploy/trainer.Dockerfile", () => {
  const file = readFileSync("deploy/trainer.Dockerfile", "utf8");
  const entry = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(file)?.[1] ?? "[]") as string[];
  const copied = [...file.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = ""]) => sources.split(" "));

  it("copies nothing that its ignore file keeps out", () => {
    const kept = readFileSync("deploy/trainer.Dockerfile.dockerignore", "utf8").trim().split("\n");
    expect(kept).toEqual(["*", ...copied.map((path) => `!${path}`)]);
  });

  it("copies all that its entry point needs", async () => {
    for (const path of copied) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(path, join(folder, path), { recursive: true });
    }
    symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
    const said = await outputOf(folder, [...entry, "--url", "http://127.0.0.1:9"], "feed:retried");
    expect(said).toContain("feed:retried"); // its modules are there, and it asks for the base
  });

  it("has the judge of the shipped base for a base that it fetched", async () => {
    const fetched = join(folder, "fetched");
    for (const name of ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"])
      cpSync(join("base", name), join(fetched, name)); // what the edge stores of it
    const said = await outputOf(folder, [...entry, "--url", "http://127.0.0.1:9", "--base", fetched], "feed:retried");
    expect(said).toContain("trainer:started");
    expect(said).not.toContain("judge:lacking");
  });
});

describe("deploy/nextstate-trainer.service", () => {
  const unit = readFileSync("deploy/nextstate-trainer.service", "utf8");
  const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const startOn = (url: string): string[] =>
    valueOf("ExecStart")
      .replaceAll("/opt/nextstate", resolve("."))
      .replace("${NEXTSTATE_URL}", url)
      .replace("/var/lib/nextstate-trainer", join(folder, "service"))
      .split(" ");

  it("starts a trainer", async () => {
    expect(await outputOf(resolve("."), startOn("http://127.0.0.1:9"), "feed:retried")).toContain("feed:retried");
  });

  it("starts it again however often the edge is away, and not with a wrong key", async () => {
    expect([valueOf("Restart"), valueOf("StartLimitIntervalSec")]).toEqual(["on-failure", "0"]);
    const edge = createServer((_, response) => void response.writeHead(401).end("{}"));
    await new Promise<void>((done) => edge.listen(0, "127.0.0.1", done));
    const { code, output } = await run(resolve("."), startOn(`http://127.0.0.1:${(edge.address() as AddressInfo).port}`));
    edge.close();
    expect(output).toContain("does not take this key");
    expect(String(code)).toBe(valueOf("RestartPreventExitStatus"));
  });
});
