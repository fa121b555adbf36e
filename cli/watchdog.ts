/**
 * Sees to it that workerd answers. Miniflare starts a new one when it dies; this ends one that hangs, and gives up,
 * with the reason, when it keeps dying.
 */
import type { EdgeHost } from "./edge-host.ts";

const CHECK_MS = 5_000;
/** A prefill of the whole context holds an isolate for about a second; this is far beyond it. */
const ANSWER_MS = 10_000;
const CHECKS_UNTIL_KILL = 3;
const CHECKS_UNTIL_HOPELESS = 8;

/** Returns the function that stops it. */
export function startWatchdog(
  edge: EdgeHost,
  { say, onHopeless }: { say: (line: string) => void; onHopeless: (reason: string) => void },
): () => void {
  let failures = 0;
  let stopped = false;
  let timer = setTimeout(() => void check(), CHECK_MS);

  async function check(): Promise<void> {
    const problem = await healthProblem(edge.url);
    if (stopped) return;
    failures = problem === undefined ? 0 : failures + 1;
    if (failures === CHECKS_UNTIL_KILL) killHanging(edge, `${problem}`, say);
    if (failures >= CHECKS_UNTIL_HOPELESS) onHopeless(`the edge has not answered ${failures} checks in a row (${problem})`);
    timer = setTimeout(() => void check(), CHECK_MS);
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function killHanging(edge: EdgeHost, problem: string, say: (line: string) => void): void {
  const pid = edge.workerdPid();
  say(`edge     workerd does not answer (${problem}); ${pid === undefined ? "it is gone" : `process ${pid} is ended and started again`}`);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

async function healthProblem(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) });
    await response.arrayBuffer();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
