/** Many events are read a page at a time. */
import { expect, it } from "vitest";
import type { LoggedEvent } from "../../../shared/events.ts";
import type { Withdrawn } from "../../../shared/influence.ts";
import { readAll, readAllWithdrawn } from "../../../trainer/feed/read-all.ts";
import { nextState, turn, user } from "../hotel.ts";

it("asks for fifty events at a time, and for nothing where there is none to ask for", async () => {
  const made = turn([user("Hi")], user("Hello"));
  const log = new Map(Array.from({ length: 120 }, (_, at) => [`e${at}`, { ...nextState(made, []), eventId: `e${at}` }]));
  const asked: number[] = [];
  const readEvents = async (_: unknown, ids: readonly string[]): Promise<LoggedEvent[]> => {
    asked.push(ids.length);
    return ids.flatMap((id) => log.get(id) ?? []);
  };
  const line = { agent: "assistant", line: "shared" };
  expect(await readAll({ readEvents }, line, [...log.keys()])).toEqual([...log.values()]);
  expect(asked).toEqual([50, 50, 20]);
  expect(await readAll({ readEvents }, line, [])).toEqual([]);
  expect(asked).toHaveLength(3);
});

it("asks of a hundred corrections at a time whether they were withdrawn", async () => {
  const asked: number[] = [];
  const readWithdrawn = async (_: unknown, ids: readonly string[]): Promise<Withdrawn[]> => {
    asked.push(ids.length);
    return ids.map((eventId) => ({ eventId, kind: "dropped" }));
  };
  const ids = Array.from({ length: 120 }, (_, at) => `e${at}`);
  const withdrawn = await readAllWithdrawn({ readWithdrawn }, { agent: "assistant", line: "shared" }, ids);
  expect([withdrawn.map(({ eventId }) => eventId), asked]).toEqual([ids, [100, 20]]);
});
