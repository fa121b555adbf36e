/**
 * What is not taught any more because it was withdrawn before an update began: corrections whose note somebody has dropped, and those
 * that their user has replaced.
 */
import { eventIdOf } from "../../../shared/hint-id.ts";
import { supersededBy, type Evidence, type Withdrawn } from "../../../shared/influence.ts";
import type { Refusal } from "../../data/refusal.ts";
import type { EdgePort, LineName } from "../../feed/edge-port.ts";
import { readAllWithdrawn } from "../../feed/read-all.ts";
import type { Signals } from "../../signals.ts";
import type { Batch, Judged } from "./batch.ts";
import { toEvidence } from "./influence.ts";

export type Withdrawing = {
  readonly edge: Pick<EdgePort, "readWithdrawn">;
  readonly line: LineName;
  readonly signals: Pick<Signals, "judged">;
  /** Events that somebody has put in quarantine: they replace nothing. */
  readonly barred: ReadonlySet<string>;
};

/** The batch without what was withdrawn, which it refuses. */
export async function withoutWithdrawn(batch: Batch, { edge, line, signals, barred }: Withdrawing): Promise<Batch> {
  const hinted = batch.learnable.filter(({ verdict }) => verdict.hint !== undefined);
  const ids = hinted.map(({ signal }) => signal.event.eventId);
  const told = new Map((await readAllWithdrawn(edge, line, ids)).map((each) => [each.eventId, each]));
  const open = signals.judged.filter(({ signal, verdict }) => verdict.hint !== undefined && !barred.has(eventIdOf(signal.event.eventId)));
  const refusals = hinted.flatMap((each): Refusal[] => {
    const { eventId } = each.signal.event;
    const withdrawn = told.get(eventId);
    if (withdrawn?.kind === "dropped")
      return [{ eventId, code: "note/dropped", detail: `the note "${each.verdict.hint?.text}" was dropped before it was learned` }];
    const by = replacing(each, open) ?? (isPending(each, batch, line) ? undefined : earlierWord(withdrawn, open));
    if (by === undefined) return [];
    return [{ eventId, code: "hint/superseded", detail: `"${each.verdict.hint?.text}" was corrected to ${by.value} by the same user` }];
  });
  const out = new Set(refusals.map(({ eventId }) => eventId));
  const learnable = batch.learnable.filter(({ signal }) => !out.has(signal.event.eventId));
  return { ...batch, learnable, refusals: [...batch.refusals, ...refusals] };
}

/** What is open and was said later, by the log: whichever was judged first. */
function replacing(each: Judged, open: readonly Judged[]): Evidence | undefined {
  const later = open.filter(({ signal }) => signal.event.seq > each.signal.event.seq);
  return supersededBy(toEvidence(each), later.map(toEvidence));
}

/** Of what was opened again the agent knows what was said since and is consumed. */
function earlierWord(withdrawn: Withdrawn | undefined, open: readonly Judged[]): Evidence | undefined {
  if (withdrawn?.kind !== "superseded") return undefined;
  const isOpen = open.some(({ signal }) => signal.event.eventId === withdrawn.by.eventId);
  return isOpen ? undefined : withdrawn.by;
}

function isPending({ signal: { event } }: Judged, { head }: Batch, { line }: LineName): boolean {
  return event.line === line && event.seq > head.cursor;
}
