/** DELETE /api/agents/:agent, and whether that is done. */
import { z } from "zod";
import { count } from "../../shared/count.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { agentOf } from "../agent/port.ts";
import { agentDeletionOf, recordAgentDeletion } from "../db/agent-deletions.ts";
import type { App } from "../env.ts";
import { invalid } from "../openai/refuse.ts";
import { carryOutAgent, takeUpAgents } from "./agent-deletion.ts";
import { actorOf, agentParam, found, queryOf } from "./params.ts";

/** The agent's name once more: nothing of it can be had back. */
export const AgentDeletionQuery = z.strictObject({ confirm: z.string().max(100).optional() });

export function mountAgentDeletion(app: App): void {
  app.delete("/api/agents/:agent", async (context) => {
    const { env } = context;
    const agent = agentParam(context);
    const { confirm } = queryOf(context, AgentDeletionQuery);
    const known = await agentDeletionOf(env.DB, agent);
    const isErasing = known !== undefined && known.finishedAt === null;
    const head = isErasing ? undefined : found(await agentOf(env, agent).head(SHARED_LINE), `agent ${agent}`);
    if (confirm !== agent) {
      const lost =
        head === undefined
          ? "what is left of it"
          : `its ${count(head.latest + 1, "version")}, all that was said to it, its notes, suite and settings`;
      throw invalid("confirm", `${agent} expected, got ${confirm ?? "nothing"}; ${lost} would be gone for good`);
    }
    const requestedAt = Date.now();
    const deletion = isErasing ? known : { agent, requestedAt, actor: actorOf(context) };
    const detail = `agent ${agent}, of which ${count(head?.latest ?? 0, "version")} had been made`;
    const audit = {
      move: "deleteAgent" as const,
      actor: actorOf(context),
      subject: agent,
      detail,
      agents: [agent],
      createdAt: requestedAt,
    };
    if (!isErasing) await recordAgentDeletion(env.DB, deletion, audit);
    return context.json(await carryOutAgent(env, deletion));
  });

  app.get("/api/agents/:agent/deletion", async (context) => {
    const agent = agentParam(context);
    await takeUpAgents(context.env);
    const { requestedAt, actor, finishedAt } = found(await agentDeletionOf(context.env.DB, agent), `deletion of agent ${agent}`);
    const state = finishedAt === null ? "erasing" : "done";
    return context.json({ agent, state, actor, requestedAt: new Date(requestedAt).toISOString() });
  });
}
