/** Several trainers: each agent has one of them at a time, a dead one is replaced when its lease ends, and one that was only thought dead publishes nothing. */
import { SHARED_ONLY } from "./stand-ins.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { AppError } from "../../../shared/errors.ts";
import { createEdgeClient } from "../../../trainer/feed/client.ts";
import { ASK_MS } from "../../../trainer/follower.ts";
import { followAgents } from "../../../trainer/follow.ts";
import { Lease } from "../../../trainer/lease.ts";
import type { Metrics } from "../../../trainer/metrics.ts";
import { Roster } from "../../../trainer/roster.ts";
import { calledAgent, edge, newAgent, put, remove, shape, versionsOf } from "./agents.ts";

/** Short enough to wait for its end, long enough for heartbeats of a process that a busy machine lets wait. */
const LEASE_MS = 4_000;
const SOON = { timeout: 100_000 };
const Taken = z.object({ agent: z.string(), holder: z.string(), unheldMs: z.number().min(0) });

const started: ChildProcess[] = [];
afterEach(() => started.splice(0).forEach((child) => child.kill("SIGKILL")));

/** A trainer in a process of its own; it learns once it is told to. */
function startTrainer(agent: string, name: string, leaseMs = LEASE_MS) {
  const child = spawn(process.execPath, ["test/trainer/loop/leasing-trainer.ts", edge.url, agent, name, String(leaseMs)], {
    env: { ...process.env, NEXTSTATE_TRAINER_KEY: edge.keys.trainer, NEXTSTATE_SHAPE: JSON.stringify(shape) },
    stdio: ["pipe", "pipe", "inherit"],
  });
  started.push(child);
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => void (said += chunk.toString()));
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    learn: () => child.stdin.write("\n"),
    said: () => said,
    saysSoon: (text: string) => expect.poll(() => said, SOON).toContain(text),
  };
}

const numbersOf = async (agent: string): Promise<number[]> => (await versionsOf(agent)).map(({ version }) => version);

describe("two trainers of one agent", { timeout: 300_000 }, () => {
  it("that is killed in the middle of an update is replaced by the other, which learns the same events once", async () => {
    const agent = await calledAgent();
    const first = startTrainer(agent, "first");
    await first.saysSoon("learning");
    const second = startTrainer(agent, "second");
    await second.saysSoon('lease:waiting {"agent":"' + agent + '","holder":"first"}');
    expect(first.kill("SIGKILL")).toBe(true);
    await second.saysSoon("learning");
    // By the clock of the agent's object, which ends the one lease and begins the other.
    const taken = Taken.parse(JSON.parse(/lease:taken (.*)/.exec(second.said())?.[1] ?? "null"));
    expect(taken).toMatchObject({ agent, holder: "first" });
    expect(taken.unheldMs).toBeLessThanOrEqual(ASK_MS);
    second.learn();
    await second.saysSoon("policy:published");
    expect(await numbersOf(agent)).toEqual([1, 0]);
    expect((await versionsOf(agent))[0]?.events).toHaveLength(1);
  });

  it("that was only stopped for a while comes back to find its version refused and another's published", async () => {
    const agent = await calledAgent();
    const first = startTrainer(agent, "first");
    await first.saysSoon("learning");
    const second = startTrainer(agent, "second");
    await second.saysSoon("lease:waiting");
    first.kill("SIGSTOP");
    await second.saysSoon("learning");
    second.learn();
    await second.saysSoon("policy:published");
    first.kill("SIGCONT");
    first.learn();
    await first.saysSoon("lease:lost");
    await first.saysSoon('lease:waiting {"agent":"' + agent + '","holder":"second"}');
    expect(first.said()).not.toContain("policy:");
    expect(await numbersOf(agent)).toEqual([1, 0]);
  });

  it("that comes back under its name works on at once, and its twin leaves it the agent", async () => {
    const agent = await calledAgent();
    const first = startTrainer(agent, "twin", 600_000);
    await first.saysSoon("learning");
    const second = startTrainer(agent, "twin", 600_000);
    await second.saysSoon("learning");
    first.learn();
    await first.saysSoon(`lease:twin {"agent":"${agent}","code":"lease/twin"`);
    expect(first.said()).toContain("--name: one for each trainer expected, got another trainer that runs as twin");
    second.learn();
    await second.saysSoon("policy:published");
    expect(await numbersOf(agent)).toEqual([1, 0]);
    expect(first.said()).not.toContain("policy:");
    // It takes over where its twin ends.
    second.kill("SIGKILL");
    await createEdgeClient({ edge: edge.url, key: edge.keys.trainer }).endLease(agent, 2);
    await first.saysSoon('"lease":4');
  });
});

describe("a lease", { timeout: 300_000 }, () => {
  it("whose grant was never heard of is waited for, and taken for no twin's", async () => {
    const agent = await newAgent();
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const [said, tokens]: [string[], number[]] = [[], []];
    const stop = new AbortController();
    const lost: AbortSignal[] = [];
    const takeLease: typeof client.takeLease = async (name, request) => {
      // The first lease is lost by its first heartbeat, so that the trainer asks again; the grant that it is given then gets lost.
      if (request.token === 1) await client.endLease(name, 1);
      const answer = await client.takeLease(name, request);
      if (answer.status !== "held" || request.token !== undefined) return answer;
      tokens.push(answer.token);
      if (tokens.length === 2) throw new AppError("upstream/unreachable", "POST lease: an answer expected, got none");
      return answer;
    };
    const ended = followAgents(
      {
        edge: { ...client, takeLease, listAgents: async () => [{ agent, line: "shared" }] },
        metrics: (event) => void said.push(event),
        ...{ name: "forgetful", leaseMs: LEASE_MS, waitMs: 0, trains: async () => true },
        openLoop: (_, __, signal) => {
          lost.push(signal);
          return { ...SHARED_ONLY, step: () => new Promise((resolve) => setTimeout(() => resolve("idle"), 50)) };
        },
      },
      stop,
    );
    await expect.poll(() => said.filter((event) => event === "line:opened"), SOON).toHaveLength(2);
    expect(said).toEqual(["line:opened", "lease:lost", "feed:retried", "lease:taken", "line:opened"]);
    expect(tokens).toEqual([1, 3, 4]);
    // What a loop is told with its token.
    expect(lost.map(({ aborted }) => aborted)).toEqual([true, false]);
    stop.abort();
    await ended;
  });

  it("outlives a heartbeat that fails, and cannot say so", async () => {
    let [beats, told] = [0, 0];
    const lease = new Lease(
      "desk",
      { token: 1, waiting: 0 },
      {
        edge: {
          takeLease: async () => {
            beats += 1;
            if (beats === 1) throw new AppError("upstream/unreachable", "POST lease: an answer expected, got none");
            return { status: "held", token: 1, waiting: 7 };
          },
          endLease: async () => undefined,
        },
        metrics: () => {
          told += 1;
          throw new Error("no space left on device");
        },
        ...{ name: "first", leaseMs: 60 },
      },
    );
    await expect.poll(() => lease.waiting, SOON).toBe(7);
    expect([told, lease.lost.aborted]).toEqual([1, false]);
    await lease.end();
  });
});

describe("many agents", { timeout: 300_000 }, () => {
  it("are worked for on where a twin has one of them", async () => {
    const [shared, own] = [await newAgent(), await newAgent()];
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const stop = new AbortController();
    const said: string[] = [];
    const steps = new Map<string, number>();
    const ended = followAgents(
      {
        edge: { ...client, listAgents: async () => [shared, own].map((agent) => ({ agent, line: "shared" })) },
        metrics: (event, { agent, code }) => void said.push(`${event} ${String(agent)} ${String(code)}`),
        ...{ name: "ops-1", leaseMs: LEASE_MS, waitMs: 0, trains: async () => true },
        openLoop: ({ agent }) => ({
          ...SHARED_ONLY,
          step: async () => {
            steps.set(agent, (steps.get(agent) ?? 0) + 1);
            return new Promise((resolve) => setTimeout(() => resolve("idle"), 50));
          },
        }),
      },
      stop,
    );
    await expect.poll(() => [...steps.keys()].toSorted(), SOON).toEqual([shared, own].toSorted());
    expect(await client.takeLease(shared, { holder: "ops-1", ttlMs: 600_000 })).toMatchObject({ status: "held" });
    await expect.poll(() => said, SOON).toContain(`lease:twin ${shared} lease/twin`);
    const [left, before] = [steps.get(shared), steps.get(own) ?? 0];
    await expect.poll(() => steps.get(own) ?? 0, SOON).toBeGreaterThan(before + 2);
    expect([steps.get(shared), stop.signal.aborted]).toEqual([left, false]);
    stop.abort();
    await ended;
  });

  it("are shared out between the trainers that ask, and taken over from one that stops", async () => {
    const agents = [await newAgent(), await newAgent(), await newAgent(), await newAgent()];
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const ours = { ...client, listAgents: async () => agents.map((agent) => ({ agent, line: "shared" })) };
    const start = (name: string) => {
      const held = new Set<string>();
      const stop = new AbortController();
      const ended = followAgents(
        {
          edge: ours,
          metrics: (event, { agent }) => {
            if (event === "line:opened") held.add(String(agent));
            if (event === "lease:given" || event === "lease:lost") held.delete(String(agent));
          },
          name,
          leaseMs: LEASE_MS,
          waitMs: 0,
          trains: async () => true,
          openLoop: () => ({ ...SHARED_ONLY, step: () => new Promise((resolve) => setTimeout(() => resolve("idle"), 50)) }),
        },
        stop,
      );
      const end = async (): Promise<void> => {
        stop.abort();
        await ended;
      };
      return { held, end };
    };
    const first = start("first");
    await expect.poll(() => first.held.size, SOON).toBe(4);
    const second = start("second");
    await expect.poll(() => [first.held.size, second.held.size], SOON).toEqual([2, 2]);
    expect(new Set([...first.held, ...second.held])).toEqual(new Set(agents));
    await first.end();
    await expect.poll(() => second.held.size, SOON).toBe(4);
    await second.end();
  });

  it("of two bases are each held by the trainer that has its base, whoever asks first", async () => {
    const agents = [await newAgent(), await newAgent()];
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const ours = { ...client, listAgents: async () => agents.map((agent) => ({ agent, line: "shared" })) };
    const start = (name: string, own: string | undefined) => {
      const held: string[] = [];
      const stop = new AbortController();
      const metrics: Metrics = (event, { agent }) => void (event === "line:opened" && held.push(String(agent)));
      const step = () => new Promise<"idle">((resolve) => setTimeout(() => resolve("idle"), 50));
      const trains = async ({ agent }: { agent: string }): Promise<boolean> => agent === own;
      const ended = followAgents(
        { edge: ours, metrics, name, leaseMs: LEASE_MS, waitMs: 0, trains, openLoop: () => ({ ...SHARED_ONLY, step }) },
        stop,
      );
      return { held, end: () => (stop.abort(), ended) };
    };
    const [small, large] = agents;
    const [first, second] = [start("of the small base", small), start("of the large base", large)];
    await expect.poll(() => [first.held, second.held], SOON).toEqual([[small], [large]]);
    await Promise.all([first.end(), second.end()]);
  });

  it("gives an agent back that was moved to a base which it does not have", async () => {
    const agent = await newAgent();
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const stop = new AbortController();
    const said: string[] = [];
    const metrics: Metrics = (event) => void said.push(event);
    const ours = { ...client, listAgents: async () => [{ agent, line: "shared" }] };
    const openLoop = () => ({ ...SHARED_ONLY, step: async () => "foreign" as const });
    const ended = followAgents(
      { edge: ours, metrics, name: "moved", leaseMs: 600_000, waitMs: 0, trains: async () => true, openLoop },
      stop,
    );
    await expect.poll(() => said, SOON).toContain("line:opened");
    const asked = () => client.takeLease(agent, { holder: "another", ttlMs: 1_000 });
    await expect.poll(async () => (await asked()).status, SOON).toBe("held");
    stop.abort();
    await ended;
  });

  it("go on where one of them cannot, whatever it fails with, and end where none can", async () => {
    const [faulty, sound] = [await newAgent(), await newAgent()];
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const stop = new AbortController();
    const failed: string[] = [];
    let [steps, reached] = [0, true];
    const step = async (agent: string): Promise<"idle"> => {
      if (agent === faulty) throw new TypeError("undefined is not a turn");
      if (!reached) throw new AppError("auth/forbidden", "no trainer's key");
      steps += 1;
      return new Promise((resolve) => setTimeout(() => resolve("idle"), 50));
    };
    const ended = followAgents(
      {
        edge: { ...client, listAgents: async () => [faulty, sound].map((agent) => ({ agent, line: "shared" })) },
        metrics: (event, { agent, message }) => void (event === "line:failed" && failed.push(`${String(agent)}: ${String(message)}`)),
        ...{ name: "survivor", leaseMs: LEASE_MS, waitMs: 0, trains: async () => true },
        openLoop: ({ agent }) => ({ ...SHARED_ONLY, step: () => step(agent) }),
      },
      stop,
    );
    await expect.poll(() => failed, SOON).toEqual([`${faulty}: undefined is not a turn`]);
    const before = steps;
    await expect.poll(() => steps, SOON).toBeGreaterThan(before + 2);
    reached = false;
    await expect(ended).rejects.toMatchObject({ code: "auth/forbidden" });
    expect(stop.signal.aborted).toBe(true);
  });

  it("are followed on while the list of them is answered strangely, and given back where the key is taken no more", async () => {
    const [known, added] = [await newAgent(), await newAgent()];
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const stop = new AbortController();
    const said: string[] = [];
    let answer = async (): Promise<string[]> => [known];
    const ended = followAgents(
      {
        edge: { ...client, listAgents: async () => (await answer()).map((agent) => ({ agent, line: "shared" })) },
        metrics: (event, { agent, code }) => void said.push(`${event} ${String(event === "feed:retried" ? code : agent)}`),
        ...{ name: "deployed", leaseMs: 600_000, waitMs: 0, trains: async () => true },
        openLoop: () => ({ ...SHARED_ONLY, step: () => new Promise((resolve) => setTimeout(() => resolve("idle"), 50)) }),
      },
      stop,
    );
    await expect.poll(() => said, SOON).toEqual([`line:opened ${known}`]);
    answer = () => Promise.reject(new AppError("upstream/invalid", "/agents: the contract's shape expected, got <html>"));
    await expect.poll(() => said.slice(1), SOON).toContain("feed:retried upstream/invalid");
    answer = async () => [known, added];
    await expect.poll(() => said, SOON).toContain(`line:opened ${added}`);
    expect(stop.signal.aborted).toBe(false);
    answer = () => Promise.reject(new AppError("auth/forbidden", "no trainer's key"));
    await expect(ended).rejects.toMatchObject({ code: "auth/forbidden" });
    expect(stop.signal.aborted).toBe(true);
    for (const agent of [known, added])
      expect(await client.takeLease(agent, { holder: "another", ttlMs: 1_000 })).toMatchObject({ status: "held" });
  });

  it("are left alone once they are deleted, and followed again where another has the name", async () => {
    const agent = await newAgent();
    const client = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
    const listAgents = async () => (await client.listAgents()).filter((each) => each.agent === agent);
    const stop = new AbortController();
    const [said, opened]: [string[], AbortSignal[]] = [[], []];
    const ended = followAgents(
      {
        edge: { ...client, listAgents },
        metrics: (event) => void said.push(event),
        ...{ name: "loyal", leaseMs: 600_000, waitMs: 0, trains: async () => true },
        openLoop: (_, __, lost) => {
          opened.push(lost);
          return { ...SHARED_ONLY, step: () => new Promise((resolve) => setTimeout(() => resolve("idle"), 50)) };
        },
      },
      stop,
    );
    await expect.poll(() => opened, SOON).toHaveLength(1);
    await remove(`/api/agents/${agent}?confirm=${agent}`);
    await expect.poll(() => opened[0]?.aborted, SOON).toBe(true);
    await put(`/api/agents/${agent}`, {});
    await expect.poll(() => opened.length, SOON).toBe(2);
    expect(opened[1]?.aborted).toBe(false);
    stop.abort();
    await ended;
    expect(said).not.toContain("line:failed");
  });

  it.each([
    { agents: 1, waiting: 1, held: 1, enough: true, many: false },
    { agents: 10, waiting: 0, held: 9, enough: false, many: false },
    { agents: 10, waiting: 1, held: 6, enough: true, many: true },
    { agents: 10, waiting: 3, held: 3, enough: true, many: false },
  ])("of which one trainer holds $held of $agents while $waiting wait", ({ agents, waiting, held, enough, many }) => {
    const roster = new Roster();
    roster.agents = agents;
    for (let count = 0; count < held; count += 1) roster.add({ waiting });
    expect([roster.hasEnough(), roster.hasTooMany()]).toEqual([enough, many]);
  });
});
