/** What an agent may be set to, and by whom: settings are checked, and made of those that it has when they are put. */
import type { Context } from "hono";
import { z } from "zod";
import { ToolSecret } from "../../shared/agent-tools.ts";
import { type Agent, AgentSettings, LearningSettings } from "../../shared/agent.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { JudgeSettings, judgeServerOf } from "../../shared/judge.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import { CanarySettings, GateBudgets, GateSettings } from "../../shared/release.ts";
import { forgetLineHead } from "../agent/head.ts";
import { agentOf } from "../agent/port.ts";
import { agentDeletionOf } from "../db/agent-deletions.ts";
import { checkRoom, listAgent } from "../db/agents.ts";
import { lastSeq } from "../db/events.ts";
import { readKey } from "../db/keys.ts";
import { checkInstructions } from "../engine/prompt-checks.ts";
import type { AppEnv } from "../env.ts";
import { checkDepth } from "../openai/depth.ts";
import { invalid } from "../openai/refuse.ts";
import { AgentTools, checkTools } from "../openai/tools.ts";
import { checkToolSettings } from "../tools/check.ts";
import { definitionOf } from "../tools/offer.ts";
import { takeUpAgents } from "./agent-deletion.ts";
import { actorOf } from "./params.ts";

const StrictRelease = z
  .strictObject({
    gate: GateSettings.extend({ budgets: GateBudgets.strict().prefault({}) })
      .strict()
      .prefault({}),
    canary: CanarySettings.strict().prefault({}),
  })
  .prefault({});
// Strict at every level: a setting that is misspelt is refused, not ignored.
export const SettingsRequest = AgentSettings.extend({
  tools: AgentTools.default([]),
  mcpServers: AgentSettings.shape.mcpServers
    .unwrap()
    .element.extend({ secret: ToolSecret.strict().optional() })
    .strict()
    .array()
    .max(8, "at most 8 servers expected")
    .default([]),
  learning: LearningSettings.extend({ judge: JudgeSettings.strict().prefault({}) })
    .strict()
    .prefault({}),
  release: StrictRelease,
}).strict();
/** Of whatever members: zod's own records would lose one that is named __proto__, which is refused as any other that is no setting. */
export const SettingsPatch = z.custom<Readonly<Record<string, unknown>>>(isRecord, "body: an object of settings expected");
/** Of a change of settings, each made of what another change left. */
const MOST_ATTEMPTS = 20;

type Change = { readonly settings: AgentSettings; readonly before: AgentSettings | undefined };

/** What becomes of an agent's settings, undefined where it has none yet. */
type Making = (before: AgentSettings | undefined) => Promise<AgentSettings>;

/**
 * Settings made of those that the agent has. Where somebody else changed those meanwhile they are made again of what stands now, so that
 * both changes stand. @throws {agent/conflict} where that goes on and on
 */
export async function changeSettings(context: Context<AppEnv>, name: string, make: Making): Promise<Agent> {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const before = (await agentOf(context.env, name).read())?.settings;
    const agent = await putAgent(context, name, { settings: await make(before), before });
    if (agent !== undefined) return agent;
  }
  throw new AppError(
    "agent/conflict",
    `agent ${name}: settings that stay as they are meanwhile expected, got ${MOST_ATTEMPTS} changes by others`,
  );
}

/** Undefined where the settings are no longer those that they were made of. */
async function putAgent(context: Context<AppEnv>, name: string, { settings, before }: Change): Promise<Agent | undefined> {
  const lastSeqBefore = await lastSeq(context.env);
  if (before === undefined) await checkErased(context, name);
  const actor = actorOf(context);
  const result = await agentOf(context.env, name).put({ name, settings, ...(before && { madeOf: before }), actor, lastSeq: lastSeqBefore });
  if (result.status === "changed") return undefined;
  if (result.status === "refused") throw new AppError("input/invalid", result.reason, { details: { param: "engine" } });
  const { agent } = result;
  await listAgent(context.env.DB, { name, createdAt: Date.parse(agent.createdAt) });
  forgetLineHead(name, SHARED_LINE);
  return agent;
}

/** @throws {agent/conflict} while one of the name is being deleted */
async function checkErased({ env }: Context<AppEnv>, name: string): Promise<void> {
  const deletion = await agentDeletionOf(env.DB, name);
  if (deletion === undefined || deletion.finishedAt !== null) return;
  await takeUpAgents(env);
  const since = new Date(deletion.requestedAt).toISOString();
  throw new AppError(
    "agent/conflict",
    `agent ${name}: one of which nothing is left expected, got one that is being deleted since ${since}; try again`,
  );
}

/**
 * Where an engine or a judge is, and what a secret is sent to, decides what the Worker and the trainer reach and in whose name: only a key
 * of every agent may say so. @throws {auth/forbidden}
 */
function checkMayChange({ var: { key } }: Context<AppEnv>, { settings, before }: Change): void {
  if (key.agents === null) return;
  const known = new Set(reachesOf(before ?? AgentSettings.parse({})).map(({ reach }) => reach));
  const changed = reachesOf(settings).find(({ reach }) => !known.has(reach));
  if (changed === undefined) return;
  const { param } = changed;
  throw new AppError("auth/forbidden", `${param}: an admin key that reaches every agent expected, got one of some agents`, {
    details: { param },
  });
}

/** What an agent's settings let be reached, each as text that is the same where it is the same. */
function reachesOf({ engine, learning: { judge }, tools, mcpServers }: AgentSettings): { param: string; reach: string }[] {
  const named = [
    ...tools.map(({ endpoint }, index) => ({ param: `tools.${index}.endpoint.secret`, place: endpoint })),
    ...mcpServers.map((place, index) => ({ param: `mcpServers.${index}.secret`, place })),
  ];
  return [
    { param: "engine", reach: canonicalJson(["engine", engine]) },
    ...(judge.url === null && judge.secret === null
      ? []
      : [{ param: "learning.judge", reach: canonicalJson(["judge", judge.url, judge.secret]) }]),
    ...named.flatMap(({ param, place }) =>
      place?.secret === undefined ? [] : [{ param, reach: canonicalJson(["secret", place.url, place.secret]) }],
    ),
  ];
}

/** @throws {input/invalid} naming a key that is trusted from now on and is no client's */
async function checkTrusted({ env }: Context<AppEnv>, { settings, before }: Change): Promise<void> {
  for (const id of Object.keys(settings.learning.trusted)) {
    if (Object.hasOwn(before?.learning.trusted ?? {}, id) || (await readKey(env.DB, id))?.kind === "client") continue;
    throw invalid(`learning.trusted.${id}`, "the id of a client key expected; GET /api/keys lists them");
  }
}

/** What decides whether a prompt fits the context. */
function promptedBy({ engine, instructions, tools }: AgentSettings): unknown {
  return [engine.kind, instructions, tools.map(definitionOf)];
}

/** The settings, where the agent may have them. */
export async function checkedSettings(context: Context<AppEnv>, { settings, before }: Change): Promise<AgentSettings> {
  checkDepth(settings);
  if (before === undefined) await checkRoom(context.env.DB, context.var.key.id);
  checkMayChange(context, { settings, before }); // before any server is asked
  checkTools(settings.tools);
  await checkTrusted(context, { settings, before });
  judgeServerOf(settings); // throws where nobody could judge
  await checkToolSettings(context.env, settings, before);
  const { engine, instructions, tools } = settings;
  const isPromptedAnew = (): boolean => before === undefined || canonicalJson(promptedBy(settings)) !== canonicalJson(promptedBy(before));
  if (engine.kind === "embedded" && isPromptedAnew())
    await checkInstructions(context.env, { instructions, tools: tools.map(definitionOf) });
  return settings;
}
