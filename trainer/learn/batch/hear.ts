/** Whom a batch has to be heard with: the signals that enough have given, and those of others that count with them. */
import type { Audience } from "../../../shared/influence.ts";
import type { EdgePort, LineName } from "../../feed/edge-port.ts";
import type { Signals } from "../../signals.ts";
import type { Batch, Judged } from "./batch.ts";
import { hearOthers } from "./influence.ts";

export type Hearing = {
  readonly edge: Pick<EdgePort, "readInfluence">;
  readonly line: LineName;
  readonly signals: Pick<Signals, "recall">;
};

export async function hear(
  batch: Batch,
  { edge, line, signals }: Hearing,
): Promise<{ batch: Batch; shares: ReadonlyMap<string, number>; others: Judged[]; audience: Audience }> {
  const influence = await edge.readInfluence(line);
  const { audience } = influence;
  const heard = hearOthers(batch, influence);
  // What was judged since the batch was made is the next one's.
  const recalled = await signals.recall(batch.head, heard.others);
  const others = recalled.filter(({ signal: { event } }) => event.line !== line.line || event.seq <= batch.toSeq);
  if (others.length === heard.others.length) return { ...heard, others, audience };
  // Nor can be learned from what the log no longer tells of, so neither counts.
  const lost = new Set(heard.others.filter((id) => others.every(({ signal }) => signal.event.eventId !== id)));
  const again = hearOthers(batch, { ...influence, evidence: influence.evidence.filter(({ eventId }) => !lost.has(eventId)) });
  return { ...again, audience, others: others.filter(({ signal }) => again.others.includes(signal.event.eventId)) };
}
