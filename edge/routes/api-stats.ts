import { readCounters } from "../db/counters.ts";
import type { App } from "../env.ts";
import { reaches } from "../scope.ts";

/** GET /api/stats: what sessions counted, per agent. A session reports with its next outbox run, so figures lag a little. */
export function mountStats(app: App): void {
  app.get("/api/stats", async (context) => {
    const agents = await readCounters(context.env.DB);
    return context.json({ agents: agents.filter(({ agent }) => reaches(context.var.key.agents, agent)) });
  });
}
