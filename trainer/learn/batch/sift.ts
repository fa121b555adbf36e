/** What of a batch may be learned now: without what is barred, by enough of those who use the line, and with the others who said the same. */
import { barredSets, withoutBarred, type Batch, type Judged } from "./batch.ts";
import type { EdgePort } from "../../feed/edge-port.ts";
import { hear, type Hearing } from "./hear.ts";

export type Sifting = Hearing & { readonly edge: Pick<EdgePort, "readQuarantine"> };

export type Sifted = {
  readonly batch: Batch;
  /** Share of the loss weight by event. */
  readonly shares: ReadonlyMap<string, number>;
  /** Earlier signals that count with the batch's. */
  readonly others: readonly Judged[];
  /** Turns that somebody has put in quarantine. */
  readonly barred: ReadonlySet<string>;
};

export async function sift(batch: Batch, sifting: Sifting): Promise<Sifted> {
  const { events, turns } = barredSets(await sifting.edge.readQuarantine(sifting.line));
  return { ...(await hear(withoutBarred(batch, events), sifting)), barred: turns };
}
