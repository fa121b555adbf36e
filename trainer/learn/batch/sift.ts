/** What of a batch may be learned now: without what is barred or withdrawn, by enough of those who use the line, and with the others who said the same. */
import type { Audience } from "../../../shared/influence.ts";
import { barredSets, withoutBarred, type Batch, type Judged } from "./batch.ts";
import type { EdgePort } from "../../feed/edge-port.ts";
import { hear, type Hearing } from "./hear.ts";
import { withoutWithdrawn, type Withdrawing } from "./withdrawn.ts";

export type Sifting = Hearing & Omit<Withdrawing, "barred"> & { readonly edge: Pick<EdgePort, "readQuarantine"> };

type Sifted = {
  readonly batch: Batch;
  /** Share of the loss weight by event. */
  readonly shares: ReadonlyMap<string, number>;
  /** Earlier signals that count with the batch's. */
  readonly others: readonly Judged[];
  /** Whom the line serves: what the shares were weighed by. */
  readonly audience: Audience;
  /** What somebody has put in quarantine. */
  readonly barred: ReturnType<typeof barredSets>;
};

export async function sift(batch: Batch, sifting: Sifting): Promise<Sifted> {
  const barred = barredSets(await sifting.edge.readQuarantine(sifting.line));
  // First of all: of what was withdrawn nothing counts with what others say.
  const open = await withoutWithdrawn(withoutBarred(batch, barred.events), { ...sifting, barred: barred.events });
  return { ...(await hear(open, sifting)), barred };
}
