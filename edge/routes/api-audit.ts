/** GET /api/audit: who did what to keys and to whole agents. What is done within an agent is told under that agent. */
import type { DeploymentMove } from "../../shared/api.ts";
import { readDeploymentAudit } from "../db/deployment-audit.ts";
import type { App } from "../env.ts";
import { BackwardPage, queryOf } from "./params.ts";

export function mountDeploymentAudit(app: App): void {
  app.get("/api/audit", async (context) => {
    const rows = await readDeploymentAudit(context.env.DB, context.var.key.agents, queryOf(context, BackwardPage));
    const audit = rows.map(({ id, move, actor, subject, detail, createdAt }): DeploymentMove => ({
      ...{ id, move, actor, subject, detail },
      createdAt: new Date(createdAt).toISOString(),
    }));
    return context.json({ audit });
  });
}
