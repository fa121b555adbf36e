/** When the personal lines of an agent are worked for: as they have news, and as something that waits becomes due. Edge and loops are stand-ins. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import { PersonalLines } from "../../../trainer/personal.ts";
import { Random } from "../../../trainer/random.ts";

const LINE = "u_0000000000000001";
const STEP_MS = 40; // the step that becomes due must outlast some polls
const WATCHED_MS = 600;

/** Names the line once, and has no news from then on. */
function tellingOnce(): Pick<EdgePort, "dueLines"> & { polls: number } {
  const edge = {
    polls: 0,
    dueLines: async ({ waitMs }: { waitMs: number }) => {
      edge.polls += 1;
      if (edge.polls === 1) return { lines: [LINE], cursor: 1 };
      await sleep(Math.max(1, waitMs));
      return { lines: [], cursor: 1 };
    },
  };
  return edge;
}

describe("PersonalLines", () => {
  it("works once for a line that became due by time, and lets it rest where nothing more waits", async () => {
    const stop = new AbortController();
    const edge = tellingOnce();
    let steps = 0;
    const loop = {
      // Told of an event, it waits for a moment; then there is nothing left to wait for.
      get dueInMs(): number | undefined {
        return steps === 1 ? 20 : undefined;
      },
      step: async () => {
        steps += 1;
        await sleep(STEP_MS);
        return "waiting" as const;
      },
    };
    const retry = { random: new Random(1), onRetry: () => undefined };
    const lines = new PersonalLines({ edge, agent: "assistant", openLoop: () => loop, waitMs: 50, retry });
    const running = lines.run(stop.signal);
    await sleep(WATCHED_MS);
    stop.abort();
    await running;
    expect(steps).toBe(2);
    expect(edge.polls).toBeLessThan(WATCHED_MS / STEP_MS);
  });

  it("works for what became due where the machine's clock was set back meanwhile", async () => {
    const stop = new AbortController();
    let steps = 0;
    const loop = {
      get dueInMs(): number | undefined {
        queueMicrotask(() => vi.setSystemTime(new Date(0))); // once it is noted
        return steps === 1 ? 20 : undefined;
      },
      step: async () => ((steps += 1), "waiting" as const),
    };
    const retry = { random: new Random(1), onRetry: () => undefined };
    const lines = new PersonalLines({ edge: tellingOnce(), agent: "assistant", openLoop: () => loop, waitMs: 50, retry });
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const running = lines.run(stop.signal);
      await vi.waitUntil(() => steps === 2, { timeout: 20_000 });
      stop.abort();
      await running;
    } finally {
      vi.useRealTimers();
    }
  });
});
