/** GET /api/agents/:agent/trainer: what the trainer is doing, and what is missing until it learns again. */
import type { NextUpdate, TrainerView } from "../../shared/api.ts";
import { type Audience, type Evidence, isOfRewards, weigh } from "../../shared/influence.ts";
import { agentOf } from "../agent/port.ts";
import type { App } from "../env.ts";
import { agentParam, found, lineQuery } from "./params.ts";

export function mountTrainer(app: App): void {
  app.get("/api/agents/:agent/trainer", async (context) => {
    const [name, line] = [agentParam(context), lineQuery(context)];
    const agent = agentOf(context.env, name);
    const { settings } = found(await agent.read(), `agent ${name}`);
    // A user who has said nothing yet has no line, and a trainer may be about to begin it.
    const influence = await agent.influence(line);
    const { enabled, minSignals, maxWaitMs } = settings.learning;
    const next = { learning: enabled, minSignals, maxWaitMs, unheard: influence === undefined ? [] : unheardIn(influence) };
    const view: TrainerView = { trainer: await agent.trainer(line), next };
    return context.json(view);
  });
}

/** What too few have said, by argument and value. Who approved has corrected nothing. */
function unheardIn({ audience, evidence }: { audience: Audience; evidence: readonly Evidence[] }): NextUpdate["unheard"] {
  const groups = new Map<string, Evidence[]>();
  for (const said of evidence.filter((each) => !isOfRewards(each))) {
    const key = JSON.stringify([said.tool, said.parameter, said.value]);
    groups.set(key, [...(groups.get(key) ?? []), said]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const weighed = weigh(group, audience);
    if (first === undefined || weighed.status === "enough") return [];
    const { tool, parameter, value } = first;
    return [{ tool, parameter, value, users: new Set(group.map(({ user }) => user)).size, detail: weighed.detail }];
  });
}
