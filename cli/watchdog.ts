/**
 * Sees to it that workerd answers. Miniflare starts a new one when it dies; this ends one that hangs, and gives up,
 * with the reason, when it cannot be brought back. One that hundreds wait for answers late, so a check is given long.
 */
import type { EdgeHost } from "./edge-host.ts";

export type WatchdogOptions = {
  say: (line: string) => void;
  onHopeless: (reason: string) => void;
  /** Pause between two checks. */
  checkMs?: number;
  /** A check that takes longer has failed. It waits behind all that the isolate does: three seconds on two fast cores, where as many wait for answers as may. */
  answerMs?: number;
};

const CHECKS_UNTIL_KILL = 2;
const CHECKS_UNTIL_HOPELESS = 8;

/** Returns the function that stops it. */
export function startWatchdog(
  edge: Pick<EdgeHost, "url" | "workerdPid">,
  { say, onHopeless, checkMs = 5_000, answerMs = 30_000 }: WatchdogOptions,
): () => void {
  let failures = 0;
  let stopped = false;
  let timer = setTimeout(() => void check(), checkMs);

  async function check(): Promise<void> {
    const problem = await healthProblem(edge.url, answerMs);
    if (stopped) return;
    failures = problem === undefined ? 0 : failures + 1;
    if (failures === CHECKS_UNTIL_KILL) killHanging(edge, `${problem}`, say);
    if (failures === CHECKS_UNTIL_HOPELESS) onHopeless(`the edge has not answered ${failures} checks in a row (${problem})`);
    timer = setTimeout(() => void check(), checkMs);
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function killHanging(edge: Pick<EdgeHost, "workerdPid">, problem: string, say: (line: string) => void): void {
  const pid = edge.workerdPid();
  say(`edge     workerd does not answer (${problem}); ${pid === undefined ? "it is gone" : `process ${pid} is ended and started again`}`);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

async function healthProblem(url: string, answerMs: number): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(answerMs) });
    await response.arrayBuffer();
    return response.ok ? undefined : `status ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
