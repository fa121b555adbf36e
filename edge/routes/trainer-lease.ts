/** /trainer/v1/agents/:agent/lease: which trainer works for an agent. Asked for again and again, it is the heartbeat, too. */
import { LeaseEnd, LeaseRequest } from "../../shared/lease.ts";
import { agentOf } from "../agent/port.ts";
import type { App } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { actorOf, agentParam, found } from "./params.ts";

export function mountTrainerLease(app: App): void {
  app.post("/trainer/v1/agents/:agent/lease", async (context) => {
    const agent = agentParam(context);
    const request = await parseJson(context.req.raw, LeaseRequest);
    return context.json(found(await agentOf(context.env, agent).lease(request, actorOf(context)), `agent ${agent}`));
  });

  app.post("/trainer/v1/agents/:agent/lease/end", async (context) => {
    const agent = agentParam(context);
    const { token } = await parseJson(context.req.raw, LeaseEnd);
    const ended = found(await agentOf(context.env, agent).endLease(token, actorOf(context)), `agent ${agent}`);
    return context.json({ status: ended ? "ended" : "lost" });
  });
}
