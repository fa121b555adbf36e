/** A thread of the engine that is gone ends the trainer: nothing that it waits for would bring the thread back. One that is closed is waited for. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { AppError } from "../../shared/errors.ts";
import { Follower } from "../../trainer/follower.ts";
import { Roster } from "../../trainer/roster.ts";
import { Caller } from "../../trainer/threads/caller.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nextstate-crashed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function callerOf(name: string, script: string): Promise<Caller<{ work(): Promise<number> }>> {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${script} });`);
  return new Caller(name, pathToFileURL(file), {});
}

describe("a thread that is closed", () => {
  it("rejects the call that it is at, and lets it finish however long that takes", async () => {
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const file = join(folder, "served.mjs");
    // As a long run of onnxruntime: nothing else happens on the thread meanwhile.
    const work = "async work() { Atomics.store(at, 1, 1); Atomics.wait(at, 0, 0); Atomics.store(at, 1, 2); }";
    await writeFile(
      file,
      `import { workerData as at } from "node:worker_threads";
       import { serve } from ${JSON.stringify(new URL("../../trainer/threads/serve.ts", import.meta.url).href)};
       serve({ ${work}, async close() { Atomics.store(at, 1, 3); } });`,
    );
    const caller = new Caller<{ work(): Promise<void> }>("served", pathToFileURL(file), shared);
    const called = expect(caller.call("work")).rejects.toMatchObject({ code: "engine/closed" });
    await expect.poll(() => Atomics.load(shared, 1), { timeout: 30_000 }).toBe(1);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const closed = caller.close();
    await called;
    await vi.advanceTimersByTimeAsync(3_600_000);
    vi.useRealTimers();
    expect(Atomics.load(shared, 1)).toBe(1);
    Atomics.store(shared, 0, 1);
    Atomics.notify(shared, 0);
    await closed;
    expect(Atomics.load(shared, 1)).toBe(3);
  });
});

describe("a thread that ends", () => {
  it.each([
    ["throws", "throw new Error('out of memory')", "got a crash"],
    ["exits", "process.exit(3)", "got exit code 3"],
  ])("%s: calls under way and after it are told so", async (name, script, said) => {
    const caller = await callerOf(name, script);
    for (let call = 0; call < 2; call += 1)
      await expect(caller.call("work")).rejects.toMatchObject({ code: "engine/crashed", message: expect.stringContaining(said) });
  });

  it("ends whoever follows an agent with it, where a call that failed does not", async () => {
    const steps = [new AppError("internal", "one graph run failed"), new AppError("engine/crashed", "engine: a living worker expected")];
    const failed: unknown[] = [];
    const stop = new AbortController();
    const follower = new Follower(
      "a",
      {
        edge: {
          takeLease: async () => ({ status: "held", token: 1, waiting: 0, endsInMs: 1_000 }),
          endLease: async () => undefined,
          dueLines: async () => ({ lines: [], cursor: 0 }),
        },
        metrics: (event, fields) => {
          if (event === "line:failed") failed.push(fields["code"]);
          // The first failure is waited out; here nobody has the time.
          if (failed.length === 1) steps.shift();
        },
        name: "trainer",
        leaseMs: 60_000,
        waitMs: 10,
        trains: async () => true,
        openLoop: () => ({ scope: "shared", dueInMs: 0, step: () => Promise.reject(steps.at(-1)) }),
      },
      { roster: new Roster(), gone: new AbortController().signal },
    );
    await expect(follower.run(stop)).rejects.toMatchObject({ code: "engine/crashed" });
    expect(stop.signal.aborted).toBe(true);
    expect(failed).toEqual(["engine/crashed"]);
  });
});
