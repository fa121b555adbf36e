/** What runs a trainer on other machines: the container has all that a trainer needs, and the service's command starts one. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let folder = "";
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "nextstate-machines-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Output until it holds the text, or the process ends. */
function outputOf(cwd: string, [program = "", ...args]: readonly string[], until?: string): Promise<string> {
  const child = spawn(program, args, { cwd, env: { PATH: process.env["PATH"], NEXTSTATE_TRAINER_KEY: "nsk_trainer_x" } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (until !== undefined && output.includes(until)) child.kill("SIGTERM");
    });
  return new Promise((done) => child.once("close", () => done(output)));
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
  it("starts a trainer", async () => {
    const [, line = ""] = /^ExecStart=(.+)$/m.exec(readFileSync("deploy/nextstate-trainer.service", "utf8")) ?? [];
    const here = line
      .replaceAll("/opt/nextstate", resolve("."))
      .replace("${NEXTSTATE_URL}", "http://127.0.0.1:9")
      .replace("/var/lib/nextstate-trainer", join(folder, "service"));
    expect(await outputOf(resolve("."), here.split(" "), "feed:retried")).toContain("feed:retried");
  });
});
