/** A workerd that hangs is ended and replaced; an edge beyond help is given up with the reason. */
import { describe, expect, it } from "vitest";
import { startWatchdog } from "../../cli/watchdog.ts";
import { withEdge } from "../helpers/edge.ts";

const QUICKLY = { checkMs: 20, answerMs: 300 };

describe("watchdog", () => {
  let restarted = (_pid: number | undefined): void => undefined;
  const edge = withEdge({ onRestart: (pid) => restarted(pid) });

  it("ends a workerd that hangs, and another one answers", async () => {
    const frozen = edge.workerdPid() ?? 0;
    const said: string[] = [];
    const next = new Promise<number | undefined>((resolve) => (restarted = resolve));
    process.kill(frozen, "SIGSTOP");
    const stop = startWatchdog(edge, { ...QUICKLY, say: (line) => said.push(line), onHopeless: (reason) => said.push(reason) });
    const pid = await next;
    stop();
    expect(pid).not.toBe(frozen);
    expect(said[0]).toContain(`process ${frozen} is ended and started again`);
    expect((await fetch(`${edge.url}/healthz`)).status).toBe(200);
  });

  it("gives up, with the reason, on an edge that cannot be brought back", async () => {
    const nobody = { url: "http://127.0.0.1:1", workerdPid: () => undefined };
    const reason = await new Promise<string>((resolve) => {
      const stop = startWatchdog(nobody, {
        ...QUICKLY,
        say: () => undefined,
        onHopeless: (why) => {
          stop();
          resolve(why);
        },
      });
    });
    expect(reason).toMatch(/has not answered 8 checks/);
  });
});
