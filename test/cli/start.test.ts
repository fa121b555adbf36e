/** `npm start` as a process: what it says, what it refuses, and that nothing of it is left when it goes. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readKeys } from "../../cli/keys.ts";
import { describeProcess, readPid } from "../../cli/processes.ts";
import { bearer } from "../helpers/edge.ts";
import { writeRandomBase } from "../helpers/random-base.ts";

const START_MS = 60_000;

let folder = "";
let baseFolder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-start-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("npm start", { timeout: START_MS }, () => {
  it("prints the endpoint and a key that work, and leaves nothing behind on SIGTERM", async () => {
    const run = start("orderly");
    const url = await run.endpoint();
    const { client } = await readKeys(run.state);
    expect(run.output()).toContain(client);
    const models = await fetch(`${url}/models`, { headers: bearer(client) });
    expect(await models.json()).toMatchObject({ data: [{ id: "assistant" }] });
    const children = run.children();
    run.process.kill("SIGTERM");
    expect(await run.exit()).toBe(0);
    expect(children.map(describeProcess)).toEqual([undefined, undefined]);
  });

  it("leaves nothing behind when it is killed without a chance to clean up", async () => {
    const run = start("killed");
    await run.endpoint();
    const children = run.children();
    run.process.kill("SIGKILL");
    await run.exit();
    await until(() => children.every((pid) => describeProcess(pid) === undefined));
  });

  it("goes when the launcher that npm knows is killed", async () => {
    const run = start("launched", 0, ["cli/bootstrap.mjs", "cli/start.ts"]);
    await run.endpoint();
    const children = run.children();
    run.process.kill("SIGKILL");
    await until(() => children.every((pid) => describeProcess(pid) === undefined));
  });

  it("says what is wrong with an option", async () => {
    const run = start("wrong", 70_000, ["cli/bootstrap.mjs", "cli/start.ts"]);
    expect(await run.exit()).toBe(2);
    expect(run.output()).toContain("--port: 0 to 65535 expected, got 70000");
  });

  it("keeps serving when workerd is killed, and says so", async () => {
    const run = start("crashed");
    const url = await run.endpoint();
    const { client } = await readKeys(run.state);
    process.kill(readPid(run.state, "workerd") ?? 0, "SIGKILL");
    await until(() => run.output().includes("workerd died and was started again"));
    const models = await fetch(`${url}/models`, { headers: bearer(client) });
    expect(models.status).toBe(200);
    run.process.kill("SIGTERM");
    await run.exit();
  });

  it("starts the trainer again when it is killed, and says so", async () => {
    const run = start("trainerless");
    await run.endpoint();
    const first = readPid(run.state, "trainer") ?? 0;
    process.kill(first, "SIGKILL");
    await until(() => run.output().includes("trainer  ended (SIGKILL)"));
    await until(() => ![undefined, first].includes(readPid(run.state, "trainer")));
    run.process.kill("SIGTERM");
    await run.exit();
  });

  it("names who has the port and what to do, and exits with an error", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await until(() => server.listening);
    const { port } = server.address() as AddressInfo;
    const run = start("taken", port);
    expect(await run.exit()).not.toBe(0);
    expect(run.output()).toContain(`port ${port} on 127.0.0.1 is taken by process ${process.pid}`);
    expect(run.output()).toContain(`--port ${port + 1}`);
    server.close();
  });

  it("refuses a state folder that another run has", async () => {
    const first = start("shared");
    await first.endpoint();
    const second = start("shared");
    expect(await second.exit()).not.toBe(0);
    expect(second.output()).toContain(`is in use by process ${first.process.pid}`);
    first.process.kill("SIGTERM");
    await first.exit();
  });
});

type Run = {
  process: ChildProcess;
  state: string;
  output: () => string;
  endpoint: () => Promise<string>;
  children: () => number[];
  exit: () => Promise<number | null>;
};

function start(name: string, port = 0, command = ["cli/start.ts"]): Run {
  const state = join(folder, name);
  const child = spawn(process.execPath, [...command, "--port", String(port), "--state", state, "--base", baseFolder]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  return {
    process: child,
    state,
    output: () => output,
    endpoint: async () => {
      await until(() => /endpoint +http/.test(output) || child.exitCode !== null);
      return /endpoint +(\S+)/.exec(output)?.[1] ?? `no endpoint in: ${output}`;
    },
    children: () => [readPid(state, "workerd") ?? 0, readPid(state, "trainer") ?? 0],
    exit: () => exit,
  };
}

async function until(condition: () => boolean): Promise<void> {
  const started = Date.now();
  while (!condition()) {
    if (Date.now() - started > START_MS) throw new Error(`condition expected within ${START_MS} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
