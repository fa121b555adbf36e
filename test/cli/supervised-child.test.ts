/** What a supervised child is started with, and when it is not started again. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { SupervisedChild } from "../../cli/supervised-child.ts";

const ignore = (): void => undefined;

describe("a supervised child", () => {
  afterEach(() => void vi.useRealTimers());

  it("that dies is started with the arguments of that moment", async () => {
    let starts = 0;
    const heard: string[] = [];
    const args = (): string[] => ["-c", `echo start ${(starts += 1)}`];
    await new Promise<void>((resolve) => {
      const onLine = (line: string): void => (heard.push(line) === 2 ? void child.stop().then(resolve) : undefined);
      const child = new SupervisedChild({ command: "/bin/sh", args, onLine, onDeath: ignore });
    });
    expect(heard).toEqual(["start 1", "start 2"]);
  });

  it("that is stopped as it dies is not started again", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let starts = 0;
    const onStart = (): void => void (starts += 1);
    await new Promise<void>((resolve) => {
      const onDeath = (): void => void child.stop().then(resolve);
      const child = new SupervisedChild({ command: "/bin/sh", args: ["-c", "exit 1"], onStart, onLine: ignore, onDeath });
    });
    vi.runAllTimers();
    expect(starts).toBe(1);
  });
});
