/** What is not taught any more because it was withdrawn before an update began: corrections whose note somebody has dropped. */
import type { Withdrawn } from "../../../shared/influence.ts";
import type { Refusal } from "../../data/refusal.ts";
import type { EdgePort, LineName } from "../../feed/edge-port.ts";
import type { Batch, Judged } from "./batch.ts";

export type Withdrawing = { readonly edge: Pick<EdgePort, "readWithdrawn">; readonly line: LineName };

const MOST_ASKED = 100; // of one request

/** The batch without what was withdrawn, which it refuses. */
export async function withoutWithdrawn(batch: Batch, { edge, line }: Withdrawing): Promise<Batch> {
  const hinted = batch.learnable.filter(({ verdict }) => verdict.hint !== undefined);
  const ids = hinted.map(({ signal }) => signal.event.eventId);
  const dropped = new Set((await readAllWithdrawn(edge, line, ids)).map(({ eventId }) => eventId));
  const out = hinted.filter(({ signal }) => dropped.has(signal.event.eventId));
  return {
    ...batch,
    learnable: batch.learnable.filter((each) => !out.includes(each)),
    refusals: [...batch.refusals, ...out.map(toDropped)],
  };
}

/** Those of the corrections that were withdrawn, however many are asked about. */
export async function readAllWithdrawn(edge: Withdrawing["edge"], line: LineName, ids: readonly string[]): Promise<Withdrawn[]> {
  const withdrawn: Withdrawn[] = [];
  for (let start = 0; start < ids.length; start += MOST_ASKED)
    withdrawn.push(...(await edge.readWithdrawn(line, ids.slice(start, start + MOST_ASKED))));
  return withdrawn;
}

function toDropped({ signal, verdict }: Judged): Refusal {
  const detail = `the note "${verdict.hint?.text}" was dropped before it was learned`;
  return { eventId: signal.event.eventId, code: "note/dropped", detail };
}
