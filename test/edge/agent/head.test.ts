/** Heads of lines as an isolate knows them, beside an agent whose answers come when the test says so. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { forgetLineHead, getLineHead } from "../../../edge/agent/head.ts";
import { SHARED_LINE, type LineHead } from "../../../shared/policy.ts";

// Outside workerd nothing ends with its request.
vi.mock("cloudflare:workers", () => ({ waitUntil: () => undefined }));
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Env = Parameters<typeof getLineHead>[0];

/** An agent whose head is asked for; every question waits until it is answered. */
function agentOf(name: string) {
  const waiting: ((head: LineHead) => void)[] = [];
  const head = (): Promise<LineHead> => new Promise((resolve) => waiting.push(resolve));
  const env = { AGENTS: { getByName: () => ({ head }) } } as unknown as Env;
  return {
    /** The version that a request would be answered by. */
    stable: async () => (await getLineHead(env, name, SHARED_LINE))?.stable,
    move: () => forgetLineHead(name, SHARED_LINE),
    questions: () => waiting.length,
    /** Answers the question that has waited for longest, or the one at `index`, and lets what follows from it happen. */
    answer: async (stable: number, { revision, index = 0 }: { revision: number; index?: number }) => {
      waiting.splice(index, 1)[0]?.({ stable, revision } as LineHead);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe("the head of a line", () => {
  it("is asked for once while it is fresh, and by the first request after that in the background", async () => {
    const { stable, answer, questions } = agentOf("fresh");
    const [first, second] = [stable(), stable()];
    expect(questions()).toBe(1);
    await answer(2, { revision: 5 });
    expect([await first, await second, await stable(), questions()]).toEqual([2, 2, 2, 0]);
    await vi.advanceTimersByTimeAsync(1_500);
    expect([await stable(), await stable(), questions()]).toEqual([2, 2, 1]);
    await answer(3, { revision: 6 });
    expect(await stable()).toBe(3);
  });

  it("is asked for anew once the line was moved, also by who comes while it is being loaded", async () => {
    const { stable, answer, questions, move } = agentOf("moved");
    const before = stable();
    move();
    const after = stable();
    expect(questions()).toBe(2);
    await answer(2, { revision: 5 });
    await answer(1, { revision: 6 });
    expect([await before, await after, await stable(), questions()]).toEqual([2, 1, 1, 0]);
  });

  it("that was loaded before the line was moved is not remembered after that", async () => {
    const { stable, answer, questions, move } = agentOf("background");
    const first = stable();
    await answer(2, { revision: 5 });
    await first;
    await vi.advanceTimersByTimeAsync(1_500);
    expect([await stable(), questions()]).toEqual([2, 1]);
    move();
    await answer(2, { revision: 5 });
    const after = stable();
    expect(questions()).toBe(1);
    await answer(1, { revision: 6 });
    expect(await after).toBe(1);
  });

  it("is remembered though another line was moved while it was being loaded", async () => {
    const [{ stable, answer, questions }, other] = [agentOf("still"), agentOf("elsewhere")];
    const before = stable();
    other.move();
    await answer(2, { revision: 5 });
    const after = stable();
    expect(questions()).toBe(0);
    expect([await before, await after]).toEqual([2, 2]);
  });

  it("that took long is not remembered where the line was moved meanwhile", async () => {
    const { stable, answer, questions, move } = agentOf("slow");
    const before = stable();
    await vi.advanceTimersByTimeAsync(600);
    move();
    await answer(2, { revision: 5, index: 1 });
    const after = stable();
    expect([await before, questions()]).toEqual([2, 2]);
    await answer(1, { revision: 6, index: 1 });
    expect(await after).toBe(1);
  });

  it("does not go back where an answer is overtaken by a later one", async () => {
    const { stable, answer, questions, move } = agentOf("overtaken");
    const before = stable();
    move();
    const after = stable();
    await answer(1, { revision: 6, index: 1 });
    await answer(2, { revision: 5 });
    expect([await before, await after, await stable(), questions()]).toEqual([2, 1, 1, 0]);
  });
});
