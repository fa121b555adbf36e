/** Publishes an adapter on an agent's line, whatever base it has, and returns the answer. */
import type { EdgeHost } from "../../../cli/edge-host.ts";
import type { AdapterFiles } from "../../../shared/policy.ts";
import { call, manifestOf, type Answer } from "../../helpers/call.ts";

export async function publishOn(edge: EdgeHost, agent: string, adapter: AdapterFiles): Promise<Answer> {
  const line = `/trainer/v1/agents/${agent}/lines/shared`;
  const { body: head } = await call(edge, "trainer", `GET ${line}/head`);
  const manifest = manifestOf({ agent, baseDigest: head.baseDigest, parent: head.parent, adapter, fromSeq: head.cursor });
  return call(edge, "trainer", `POST ${line}/versions`, { parent: head.parent, manifest });
}
