/** Publishes an adapter on an agent's line, whatever base it has and whatever came before, and returns the answer. */
import type { EdgeHost } from "../../cli/edge-host.ts";
import { type AdapterFiles, SHARED_LINE } from "../../shared/policy.ts";
import { call, lineage, manifestOf, type Answer } from "./call.ts";

/** @param options.learned the event that it learned from, as the next one of the log */
export async function publishOn(
  edge: EdgeHost,
  agent: string,
  adapter: AdapterFiles,
  { line = SHARED_LINE, learned }: { line?: string; learned?: string } = {},
): Promise<Answer> {
  const path = `/trainer/v1/agents/${agent}/lines/${line}`;
  const { baseDigest, parent, cursor } = (await call(edge, "trainer", `GET ${path}/head`)).body;
  const toSeq = learned === undefined ? cursor : cursor + 1;
  const events = learned === undefined ? [] : [lineage(learned, toSeq)];
  const manifest = manifestOf({ agent, baseDigest, parent, adapter, fromSeq: cursor, toSeq, events });
  const over = line === SHARED_LINE ? {} : { over: 0 };
  return call(edge, "trainer", `POST ${path}/versions`, { parent, manifest: { ...manifest, line, ...over } });
}
