/** What is next on the engine. */
import { expect, it } from "vitest";
import { createWorkQueue } from "../../trainer/work-queue.ts";

it("lets one work at a time, gates before updates that wait, and goes on after a failure", async () => {
  const queued = createWorkQueue();
  const told: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const work = (name: string) => async (): Promise<string> => {
    told.push(`${name} begins`);
    await held;
    told.push(`${name} ends`);
    return name;
  };
  const first = queued(work("update 1"));
  const failing = queued((): Promise<string> => {
    throw new Error("update 2 fails");
  });
  const last = queued(work("update 3"));
  const gate = queued(work("gate"), { first: true });
  expect([queued.idle(), told]).toEqual([false, ["update 1 begins"]]);
  release();
  await expect(failing).rejects.toThrow("update 2 fails");
  expect(await Promise.all([first, gate, last])).toEqual(["update 1", "gate", "update 3"]);
  expect(told).toEqual(["update 1", "gate", "update 3"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  await expect.poll(() => queued.idle()).toBe(true);
});
