/** GET /v1/models: the agents, as models. */
import { AgentName } from "../../shared/agent.ts";
import { AppError } from "../../shared/errors.ts";
import { readAgents } from "../db/agents.ts";
import type { App } from "../env.ts";
import { reaches } from "../scope.ts";

export function mountModels(app: App): void {
  app.get("/v1/models", async (context) => {
    const agents = await readAgents(context.env.DB, context.var.key.agents);
    return context.json({ object: "list", data: agents.map(toModel) });
  });
  app.get("/v1/models/:model", async (context) => {
    const name = context.req.param("model");
    // Where a list of names is read, a name with a star is many.
    const [agent] =
      AgentName.safeParse(name).success && reaches(context.var.key.agents, name) ? await readAgents(context.env.DB, [name]) : [];
    if (agent !== undefined) return context.json(toModel(agent));
    throw new AppError("policy/unknown", `model: the name of an agent expected, got ${name}`, {
      details: { param: "model", code: "model_not_found" },
    });
  });
}

function toModel({ name, createdAt }: { name: string; createdAt: number }) {
  return { id: name, object: "model", created: Math.floor(createdAt / 1000), owned_by: "nextstate" };
}
