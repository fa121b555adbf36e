/** What is read again of a log before a line's cursor: its last events, however far back they are, and not much else. */
import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../../shared/events.ts";
import type { EdgePort } from "../../../trainer/feed/edge-port.ts";
import { EventWindow } from "../../../trainer/feed/window.ts";
import { call, turn, user } from "../hotel.ts";

const LINE = { agent: "desk", line: "shared" };
const WANTED = 1_000;

/** A log in which the line has the events of these numbers. */
function logOf(seqs: readonly number[]) {
  const example = turn([user("a")], call("SearchHotel", { city: "a" }));
  const log = {
    given: [] as number[],
    pull: async ({ cursor, limit }: { cursor: number; limit: number }) => {
      const found = seqs.filter((seq) => seq > cursor).slice(0, limit);
      log.given.push(...found);
      const events = found.map((seq): LoggedEvent => ({
        ...example,
        seq,
        payload: { ...example.payload, completionId: `c${seq}` },
      }));
      return { events, cursor: found.at(-1) ?? cursor };
    },
  };
  return log satisfies Pick<EdgePort, "pull"> & { given: number[] };
}

async function opened(log: ReturnType<typeof logOf>, cursor: number): Promise<number[]> {
  const window = new EventWindow(LINE, { edge: log, cacheTurns: 100_000 });
  await window.open(cursor);
  return window.cache.turns().map(({ seq }) => seq);
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

describe("EventWindow", () => {
  it("has the last events of a line that is quiet since, and reads not much beside them", async () => {
    const log = logOf(upTo(60_000));
    expect(await opened(log, 67_978)).toEqual(upTo(60_000).slice(-WANTED));
    // No further back than the line was quiet, and nothing twice.
    expect(log.given.length).toBeLessThanOrEqual(67_978 - 60_000 + WANTED);
    expect(new Set(log.given).size).toBe(log.given.length);
  });

  it("has them where they are few and far between, and all where there are no more", async () => {
    const sparse = Array.from({ length: 2_000 }, (_, index) => 50 * index + 1);
    expect(await opened(logOf(sparse), 100_000)).toEqual(sparse.slice(-WANTED));
    expect(await opened(logOf([1, 7, 70_000]), 80_000)).toEqual([1, 7, 70_000]);
    expect(await opened(logOf([1]), 0)).toEqual([]);
  });
});
