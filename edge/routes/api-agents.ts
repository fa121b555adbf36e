/** /api/agents: agents with their settings, their engine, their audit and their log. */
import type { Context } from "hono";
import { z } from "zod";
import { mergePatch } from "../../shared/merge-patch.ts";
import { type LineHead, SHARED_LINE } from "../../shared/policy.ts";
import { agentOf } from "../agent/port.ts";
import { readAgents } from "../db/agents.ts";
import { pageAfter } from "../db/events.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson, parseWith } from "../http-errors.ts";
import { checkDepth } from "../openai/depth.ts";
import { wholeNumber } from "../whole-number.ts";
import { changeSettings, checkedSettings, SettingsPatch, SettingsRequest } from "./agent-settings.ts";
import { agentParam, BackwardPage, Cursor, ForwardPage, found, LineQuery, PageLimit, queryOf } from "./params.ts";

export const AuditQuery = BackwardPage.extend({
  /** What people did and what became of versions, or what was looked at and not learned from; without it everything. */
  only: z.enum(["people", "refused"]).optional(),
  /** Of one line. */
  line: LineQuery.shape.line.unwrap().optional(),
  /** About one version. */
  version: wholeNumber().optional(),
});
export const EventsQuery = z.strictObject({ cursor: Cursor, limit: PageLimit });
async function setLearning(context: Context<AppEnv>, enabled: boolean): Promise<{ learning: boolean }> {
  const name = agentParam(context);
  await changeSettings(context, name, async (before) => {
    const settings = found(before, `agent ${name}`);
    return { ...settings, learning: { ...settings.learning, enabled } };
  });
  return { learning: enabled };
}

export function mountAgents(app: App): void {
  app.get("/api/agents", async (context) => context.json({ agents: await readHeads(context, queryOf(context, ForwardPage)) }));

  app.put("/api/agents/:agent", async (context) => {
    const name = agentParam(context);
    const settings = await parseJson(context.req.raw, SettingsRequest);
    return context.json(await changeSettings(context, name, (before) => checkedSettings(context, { settings, before })));
  });

  app.patch("/api/agents/:agent", async (context) => {
    const name = agentParam(context);
    found(await agentOf(context.env, name).read(), `agent ${name}`);
    const patch = await parseJson(context.req.raw, SettingsPatch);
    checkDepth(patch);
    const agent = await changeSettings(context, name, (before) =>
      checkedSettings(context, { settings: parseWith(SettingsRequest, mergePatch(found(before, `agent ${name}`), patch)), before }),
    );
    return context.json(agent);
  });

  app.post("/api/agents/:agent/pause", async (context) => context.json(await setLearning(context, false)));

  app.post("/api/agents/:agent/resume", async (context) => context.json(await setLearning(context, true)));

  app.get("/api/agents/:agent", async (context) => {
    const name = agentParam(context);
    return context.json(found(await agentOf(context.env, name).read(), `agent ${name}`));
  });

  app.get("/api/agents/:agent/engine", async (context) => {
    const name = agentParam(context);
    return context.json(found(await agentOf(context.env, name).engine(), `agent ${name}`));
  });

  app.get("/api/agents/:agent/audit", async (context) => {
    const name = agentParam(context);
    const page = queryOf(context, AuditQuery);
    found(await agentOf(context.env, name).read(), `agent ${name}`);
    return context.json({ audit: await agentOf(context.env, name).audit(page) });
  });

  app.get("/api/agents/:agent/events", async (context) => {
    const name = agentParam(context);
    const query = queryOf(context, EventsQuery);
    found(await agentOf(context.env, name).read(), `agent ${name}`);
    return context.json(await pageAfter(context.env, { agent: name, ...query }));
  });
}

/** A page of the agents that the key reaches, by name, each with the head of its shared line. Every object that is asked counts among what one request may ask. */
async function readHeads({ env, var: { key } }: Context<AppEnv>, { after = "", limit }: z.infer<typeof ForwardPage>): Promise<LineHead[]> {
  const names = (await readAgents(env.DB, key.agents)).map(({ name }) => name).filter((name) => name > after);
  const heads: LineHead[] = [];
  // One that is being deleted has none, and a page that is not full would be taken for the last.
  while (heads.length < limit && names.length > 0) {
    const page = names.splice(0, limit - heads.length);
    const read = await Promise.all(page.map((name) => agentOf(env, name).head(SHARED_LINE)));
    heads.push(...read.filter((head) => head !== undefined));
  }
  return heads;
}
