/** `npm start` as a process: what it says, what it refuses, and that nothing of it is left when it goes. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readKeys } from "../../cli/keys.ts";
import { readPid } from "../../cli/processes.ts";
import { describeProcess } from "../../trainer/host.ts";
import { bearer } from "../helpers/edge.ts";
import { writeRandomBase } from "../helpers/random-base.ts";
import { runCommand, runNextstate } from "./run-nextstate.ts";

const PATIENCE_MS = 300_000;
const DIRECT = ["cli/start.ts"];
const LAUNCHED = ["cli/bootstrap.mjs", "cli/start.ts"]; // as `npm start` does

let folder = "";
let baseFolder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-start-"));
  baseFolder = await writeRandomBase(join(folder, "base"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("npm start, running", { timeout: PATIENCE_MS }, () => {
  let run: Run;
  let url = "";
  beforeAll(async () => {
    run = start("running", 0, LAUNCHED);
    url = await run.endpoint();
  }, PATIENCE_MS);
  afterAll(() => run.process.kill("SIGKILL"));

  it("prints the endpoint and a key that work", async () => {
    const { client } = await readKeys(run.state);
    expect(run.output()).toContain(client);
    const models = await fetch(`${url}/models`, { headers: bearer(client) });
    expect(await models.json()).toMatchObject({ data: [{ id: "assistant" }] });
  });

  it("prints a request that works as it stands", async () => {
    const [, body = ""] = /-d '(.*?)'\n/s.exec(run.output()) ?? [];
    const { client } = await readKeys(run.state);
    const answer = await fetch(`${url}/chat/completions`, { method: "POST", headers: bearer(client), body });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ object: "chat.completion", model: "assistant" });
  });

  it("is found by the demo and the command line, on whatever port it is", async () => {
    const demo = await runCommand(process.execPath, ["cli/demo.ts", "--agent", "nobody", "--state", run.state]);
    expect(demo).toMatchObject({ code: 1, stdout: expect.stringContaining(`agent nobody: ${url.replace("/v1", "")}/agents/nobody\n`) });
    expect(await runNextstate(["agents", "--state", run.state])).toMatchObject({ code: 0, stdout: expect.stringContaining("assistant") });
  });

  it("refuses a second run on the same state folder", async () => {
    const second = start("running");
    expect(await second.exit()).not.toBe(0);
    expect(second.output()).toMatch(/state folder .* is in use by process \d+; stop it, or choose another/);
  });

  it("keeps serving when workerd is killed, and says so", async () => {
    const { client } = await readKeys(run.state);
    process.kill(readPid(run.state, "workerd") ?? 0, "SIGKILL");
    await until(() => run.output().includes("workerd died and was started again"));
    const models = await fetch(`${url}/models`, { headers: bearer(client) });
    expect(models.status).toBe(200);
  });

  it("starts the trainer again when it is killed, and says so", async () => {
    const first = readPid(run.state, "trainer") ?? 0;
    process.kill(first, "SIGKILL");
    await until(() => run.output().includes("trainer  ended (SIGKILL)"));
    await until(() => ![undefined, first].includes(readPid(run.state, "trainer")));
  });

  it("leaves nothing behind on Ctrl-C, and takes none of it for a crash", async () => {
    const children = run.children();
    const before = run.output();
    // What a terminal does: the signal goes to the whole process group.
    process.kill(-(run.process.pid ?? 0), "SIGINT");
    expect(await run.exit()).toBe(0);
    expect(children.map(describeProcess)).toEqual([undefined, undefined]);
    expect(run.output().slice(before.length)).not.toMatch(/died|ended/);
  });
});

describe("npm start, killed", { timeout: PATIENCE_MS }, () => {
  it.for([
    { who: "itself", command: DIRECT },
    { who: "the launcher that npm knows", command: LAUNCHED },
  ])("leaves nothing behind when $who is killed without a chance to clean up", async ({ who, command }) => {
    const run = start(who.replaceAll(" ", "-"), 0, command);
    await run.endpoint();
    const children = run.children();
    run.process.kill("SIGKILL");
    await until(() => children.every((pid) => describeProcess(pid) === undefined));
  });
});

describe("npm start, after one that left workerd behind", { timeout: PATIENCE_MS }, () => {
  it("ends it, says so, and takes its port", async () => {
    const first = start("left", 0);
    const { port } = new URL(await first.endpoint());
    const [workerd = 0] = first.children();
    // Host and guard at once, as when a machine runs out of memory.
    process.kill(guardOf(first), "SIGKILL");
    first.process.kill("SIGKILL");
    await first.exit();
    expect(describeProcess(workerd)?.command).toContain("workerd");
    const second = start("left", Number(port));
    expect(await second.endpoint()).toContain(`:${port}/`);
    expect(second.output()).toContain(`an earlier run had left workerd (process ${workerd}) behind; it was ended`);
    second.process.kill("SIGINT");
    expect(await second.exit()).toBe(0);
  });
});

describe("npm start, after its keys were rotated", { timeout: PATIENCE_MS }, () => {
  it("goes on without an admin key, and its trainer once the file has the new one", async () => {
    const run = start("rotated", 0);
    const base = (await run.endpoint()).replace("/v1", "");
    const { admin } = await readKeys(run.state);
    const rotate = async (kind: string): Promise<string> => {
      const headers = bearer(admin);
      const { keys } = (await (await fetch(`${base}/api/keys`, { headers })).json()) as { keys: { id: string; kind: string }[] };
      const id = keys.find((key) => key.kind === kind)?.id;
      return ((await (await fetch(`${base}/api/keys/${id}/rotate`, { method: "POST", headers })).json()) as { key: string }).key;
    };
    await until(() => run.output().includes("trainer:started"));
    const trainer = await rotate("trainer");
    await until(() => run.output().includes(`A trainer key that was rotated goes into ${join(run.state, "keys.json")}`));
    const path = join(run.state, "keys.json");
    await writeFile(path, JSON.stringify({ ...(await readKeys(run.state)), trainer }));
    const seen = run.output().length;
    await until(() => run.output().slice(seen).includes("trainer line:opened"));
    await rotate("admin");
    run.process.kill("SIGINT");
    expect(await run.exit()).toBe(0);
    const again = start("rotated", 0);
    const { client } = await readKeys(run.state);
    expect((await fetch(`${await again.endpoint()}/models`, { headers: bearer(client) })).status).toBe(200);
    expect(again.output()).toMatch(
      /^keys {5}.*keys\.json: an admin key .* rotated or revoked; put the present one there as "admin".* Serving goes on\.$/m,
    );
    again.process.kill("SIGINT");
    expect(await again.exit()).toBe(0);
  });
});

describe("npm start, refused", { timeout: PATIENCE_MS }, () => {
  it("says what is wrong with an option", async () => {
    const run = start("wrong", 70_000, LAUNCHED);
    expect(await run.exit()).toBe(2);
    expect(run.output()).toContain("--port: 0 to 65535 expected, got 70000");
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
});

type Run = {
  process: ChildProcess;
  state: string;
  output: () => string;
  endpoint: () => Promise<string>;
  children: () => number[];
  exit: () => Promise<number | null>;
};

function start(name: string, port = 0, command: readonly string[] = DIRECT): Run {
  const state = join(folder, name);
  const child = spawn(process.execPath, [...command, "--port", String(port), "--state", state, "--base", baseFolder], { detached: true });
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

/** The guard is started by the host, so its process id is one of the next. */
function guardOf({ process: { pid = 0 }, state }: Run): number {
  for (let candidate = pid + 1; candidate < pid + 2_000; candidate += 1) {
    const command = describeProcess(candidate)?.command ?? "";
    if (command.includes("nextstate-guard") && command.includes(state)) return candidate;
  }
  throw new Error(`a guard of ${state} expected among the processes after ${pid}`);
}

async function until(condition: () => boolean): Promise<void> {
  const started = Date.now();
  while (!condition()) {
    if (Date.now() - started > PATIENCE_MS) throw new Error(`condition expected within ${PATIENCE_MS} ms: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
