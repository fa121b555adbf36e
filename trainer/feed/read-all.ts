/** What the log and the agent say of events by their ids, however many: the edge takes a bounded number at a time. */
import type { LoggedEvent } from "../../shared/events.ts";
import type { Withdrawn } from "../../shared/influence.ts";
import type { EdgePort, LineName } from "./edge-port.ts";

const EVENTS_AT_ONCE = 50; // of one answer, beside their judgements
const ASKED_AT_ONCE = 100;

/** Events with their judgements. */
export function readAll(edge: Pick<EdgePort, "readEvents">, line: LineName, ids: readonly string[]): Promise<LoggedEvent[]> {
  return inPages(ids, EVENTS_AT_ONCE, (some) => edge.readEvents(line, some));
}

/** Those of the corrections that were withdrawn. */
export function readAllWithdrawn(edge: Pick<EdgePort, "readWithdrawn">, line: LineName, ids: readonly string[]): Promise<Withdrawn[]> {
  return inPages(ids, ASKED_AT_ONCE, (some) => edge.readWithdrawn(line, some));
}

async function inPages<Item>(
  ids: readonly string[],
  most: number,
  read: (some: readonly string[]) => Promise<readonly Item[]>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let start = 0; start < ids.length; start += most) items.push(...(await read(ids.slice(start, start + most))));
  return items;
}
