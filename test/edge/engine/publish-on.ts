/** Publishes an adapter on an agent's line, whatever base it has, and returns the answer. */
import type { EdgeHost } from "../../../cli/edge-host.ts";
import { type AdapterFiles, SHARED_LINE } from "../../../shared/policy.ts";
import { call, manifestOf, type Answer } from "../../helpers/call.ts";

export async function publishOn(edge: EdgeHost, agent: string, adapter: AdapterFiles, line = SHARED_LINE): Promise<Answer> {
  const path = `/trainer/v1/agents/${agent}/lines/${line}`;
  const { body: head } = await call(edge, "trainer", `GET ${path}/head`);
  const manifest = manifestOf({ agent, baseDigest: head.baseDigest, parent: head.parent, adapter, fromSeq: head.cursor });
  const over = line === SHARED_LINE ? {} : { over: 0 };
  return call(edge, "trainer", `POST ${path}/versions`, { parent: head.parent, manifest: { ...manifest, line, ...over } });
}
