/**
 * What it costs that a user's adapter is not resident: the first token of users drawn from many who each have a version of their own,
 * asked once when their adapter lies in storage and once when it is in memory, through the product's Worker in a real workerd.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEdgeHost, type EdgeHost } from "../cli/edge-host.ts";
import { UNTRAINED } from "../shared/policy.ts";
import { createEdgeClient } from "../trainer/feed/client.ts";
import type { EdgePort } from "../trainer/feed/edge-port.ts";
import { writeAdapterFiles } from "../trainer/policy/adapter.ts";
import { loadBase, type Base } from "../trainer/policy/base.ts";
import { publishVersion } from "../trainer/policy/publish.ts";
import { Random } from "../trainer/random.ts";
import { noiseAdapter } from "./attack/drilled.ts";
import { median, say } from "./bench.ts";

const AGENT = "personal";
const SCALE = 0.01; // of the noise that an adapter holds: its content does not matter
const LINES_AT_ONCE = 100; // that the edge tells of
const ROUND = 8; // users that come to have a version at the same time

export type UserSwap = {
  readonly users: number;
  readonly drawn: number;
  /** First token of a new conversation, ms. */
  readonly absentMs: number;
  readonly residentMs: number;
  /** Of one user's two, ms. */
  readonly swapMs: number;
  readonly swapMs95: number;
};

export async function userSwap(
  baseFolder: string,
  { seed, users, drawn }: { seed: number; users: number; drawn: number },
): Promise<UserSwap> {
  const folder = await mkdtemp(join(tmpdir(), "nextstate-bench-"));
  const edge = await startEdgeHost({ stateFolder: join(folder, "state"), baseFolder });
  try {
    const settings = { learning: { scope: "personal" }, release: { gate: { enabled: false } } };
    await send(edge, "admin", "PUT", `/api/agents/${AGENT}`, settings);
    const random = new Random(seed);
    const names = Array.from({ length: users }, (_, index) => `user ${index}`);
    await inRounds(names, (name) => ask(edge, name).then(() => undefined));
    await giveVersions(edge, { base: loadBase(baseFolder), users, random });
    const differences: number[] = [];
    const [absent, resident]: [number[], number[]] = [[], []];
    for (const name of random.shuffled(names).slice(0, drawn)) {
      const [first, second] = [await ask(edge, name), await ask(edge, name)];
      if (first.line !== second.line || first.version !== 1)
        throw new Error(`version 1 of ${name}'s own line expected twice, got ${JSON.stringify([first, second])}`);
      absent.push(first.ms);
      resident.push(second.ms);
      differences.push(first.ms - second.ms);
    }
    const sorted = differences.toSorted((a, b) => a - b);
    return {
      ...{ users, drawn, absentMs: median(absent), residentMs: median(resident), swapMs: median(differences) },
      swapMs95: sorted[Math.ceil(0.95 * sorted.length) - 1] ?? NaN,
    };
  } finally {
    await edge.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A version for each line that the log knows of. */
async function giveVersions(edge: EdgeHost, { base, users, random }: { base: Base; users: number; random: Random }): Promise<void> {
  const port = createEdgeClient({ edge: edge.url, key: edge.keys.trainer });
  const lines = new Set<string>();
  for (let cursor = 0; lines.size < users;) {
    const due = await port.dueLines({ agent: AGENT, cursor, waitMs: 1_000 });
    const fresh = due.lines.filter((line) => !lines.has(line));
    await inRounds(fresh, (line) => publish(port, line, { base, random }));
    fresh.forEach((line) => lines.add(line));
    cursor = due.lines.length < LINES_AT_ONCE ? 0 : due.cursor; // the log is filled a moment after an answer
    say(`${lines.size} of ${users} users have a version of their own`);
  }
}

async function publish(port: EdgePort, line: string, { base, random }: { base: Base; random: Random }): Promise<void> {
  const head = await port.readHead({ agent: AGENT, line });
  const { parent, baseDigest, cursor } = head;
  const adapter = writeAdapterFiles(base.config, noiseAdapter(base, { scale: SCALE, random }), base.name);
  const place = { agent: AGENT, line, parent, baseDigest, fromSeq: cursor, toSeq: cursor };
  const manifest = { ...UNTRAINED, ...place, over: head.over?.version ?? null };
  const { status } = await publishVersion(port, adapter, { manifest, refused: [], cases: [], rebuild: false });
  if (status !== "published") throw new Error(`a published version of line ${line} expected, got ${status}`);
}

let asked = 0;

/** One token of a conversation that begins. */
async function ask(edge: EdgeHost, name: string): Promise<{ ms: number; line: string | null; version: number }> {
  asked += 1;
  const messages = [{ role: "user", content: "Good morning, can you help me?" }];
  const body = JSON.stringify({ model: AGENT, user: name, max_tokens: 1, messages });
  const headers = { authorization: `Bearer ${edge.keys.client}`, "content-type": "application/json", "x-session-id": `bench-${asked}` };
  const started = performance.now();
  const response = await fetch(`${edge.url}/v1/chat/completions`, { method: "POST", headers, body });
  const text = await response.text();
  const ms = performance.now() - started;
  if (!response.ok) throw new Error(`an answer expected, got ${response.status} ${text}`);
  return { ms, line: response.headers.get("x-policy-line"), version: Number(response.headers.get("x-policy-version")) };
}

async function send(edge: EdgeHost, key: "admin", method: string, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${edge.keys[key]}`, "content-type": "application/json" };
  const response = await fetch(`${edge.url}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: 2xx expected, got ${response.status} ${await response.text()}`);
}

async function inRounds<Value>(values: readonly Value[], work: (value: Value) => Promise<void>): Promise<void> {
  for (let start = 0; start < values.length; start += ROUND) await Promise.all(values.slice(start, start + ROUND).map(work));
}
