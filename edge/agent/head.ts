/**
 * The head of a line as an isolate knows it. A swap is seen after `FRESH_MS`, and an isolate that was idle never
 * answers under a head older than `USABLE_MS`, except while the agent cannot be reached: an answer is worth more.
 */
import { waitUntil } from "cloudflare:workers";
import { SHARED_LINE, type LineHead } from "../../shared/policy.ts";
import { Recent } from "../../shared/recent.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { agentOf } from "./port.ts";

const FRESH_MS = 1_000;
const USABLE_MS = 2_000;
/** How long a request waits for a load that another request began; that one may be cancelled, and its load with it. */
const SHARED_LOAD_MS = 500;
const MAX_KNOWN = 1_000;

type Known = { head: LineHead | undefined; loadedAt: number };
type Loading = { head: Promise<LineHead | undefined>; startedAt: number };
type AgentEnv = Pick<Env, "AGENTS">;

const known = new Recent<string, Known>(MAX_KNOWN);
const loading = new Map<string, Loading>();
/** The last move of each line: what was being loaded meanwhile may be of before it, so it is not remembered. */
const moves = new Recent<string, object>(MAX_KNOWN);

/** The head of an agent's line, undefined where there is none. */
export async function getLineHead(env: AgentEnv, agent: string, line: string = SHARED_LINE): Promise<LineHead | undefined> {
  const key = `${agent}/${line}`;
  const entry = known.get(key);
  const ageMs = entry === undefined ? Infinity : Date.now() - entry.loadedAt;
  if (entry !== undefined && ageMs < FRESH_MS) return entry.head;
  if (entry?.head !== undefined && ageMs < USABLE_MS) {
    waitUntil(loadOnce(env, agent, line).catch((thrown: unknown) => logError("head:unreachable", thrown, { agent, line })));
    return entry.head;
  }
  return loadOrKeep(env, agent, line);
}

/** Forgets what is known and what is being loaded, so that the next request loads: for whoever has just moved the line. */
export function forgetLineHead(agent: string, line: string): void {
  const key = `${agent}/${line}`;
  known.delete(key);
  loading.delete(key);
  moves.set(key, {});
}

async function loadOrKeep(env: AgentEnv, agent: string, line: string): Promise<LineHead | undefined> {
  try {
    const shared = await Promise.race([loadOnce(env, agent, line), afterMs(SHARED_LOAD_MS)]).catch(() => "late" as const);
    return shared === "late" ? await load(env, agent, line) : shared;
  } catch (thrown) {
    const head = known.get(`${agent}/${line}`)?.head;
    if (head === undefined) throw thrown;
    logError("head:unreachable", thrown, { agent, line });
    return head;
  }
}

/** Joins a load that runs, unless it has run for so long that the request which began it may be gone. */
function loadOnce(env: AgentEnv, agent: string, line: string): Promise<LineHead | undefined> {
  const key = `${agent}/${line}`;
  const running = loading.get(key);
  if (running !== undefined && Date.now() - running.startedAt < SHARED_LOAD_MS) return running.head;
  const head = load(env, agent, line).finally(() => {
    if (loading.get(key) === started) loading.delete(key);
  });
  const started = { head, startedAt: Date.now() };
  loading.set(key, started);
  return head;
}

async function load(env: AgentEnv, agent: string, line: string): Promise<LineHead | undefined> {
  const key = `${agent}/${line}`;
  const moved = moves.get(key);
  const head = await agentOf(env, agent).head(line);
  if (moves.get(key) === moved) remember(key, head);
  return head;
}

/** A reply that was overtaken by a later one does not bring an old revision back. */
function remember(key: string, head: LineHead | undefined): void {
  const before = known.get(key)?.head;
  const newest = before !== undefined && head !== undefined && before.revision > head.revision ? before : head;
  known.set(key, { head: newest, loadedAt: Date.now() });
}

function afterMs(ms: number): Promise<"late"> {
  return new Promise((resolve) => setTimeout(() => resolve("late"), ms));
}
