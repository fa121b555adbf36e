/** Events of the log by their ids, however many: the edge takes a bounded number at a time. */
import type { LoggedEvent } from "../../shared/events.ts";
import type { EdgePort, LineName } from "./edge-port.ts";

const AT_ONCE = 50; // events of one answer, beside their judgements

/** Events with their judgements. */
export async function readAll(edge: Pick<EdgePort, "readEvents">, line: LineName, ids: readonly string[]): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let start = 0; start < ids.length; start += AT_ONCE)
    events.push(...(await edge.readEvents(line, ids.slice(start, start + AT_ONCE))));
  return events;
}
