/** An agent: a named endpoint. The OpenAI `model` field of a request names it. */
import { z } from "zod";
import { AGENT_NAME } from "./agent-name.ts";
import { AgentTool, McpServer } from "./agent-tools.ts";
import { EMBEDDED, EngineSettings } from "./engine.ts";
import { JudgeSettings } from "./judge.ts";
import { ReleaseSettings } from "./release.ts";
import { SamplingSettings } from "./sampling.ts";
import { SignalSettings } from "./signal-settings.ts";

export const AgentName = z.string().regex(AGENT_NAME, "must be lower-case letters, digits and hyphens, at most 63");

export const OBJECTIVE_NAMES = ["distillation", "hybrid", "paper"] as const;
export type ObjectiveName = (typeof OBJECTIVE_NAMES)[number];

export const LearningSettings = z.object({
  enabled: z.boolean().default(true),
  /** What a user's turns teach: the policy of everybody, or one of the user's own, over the shared one. */
  scope: z.enum(["shared", "personal"]).default("shared"),
  /** With scope `personal`: what this many users' own lines have learned alike, the shared line may learn, too; null: nothing. */
  sharedFrom: z.number().int().min(2).max(10_000).nullable().default(null),
  /** An update runs when this many corrected turns wait … */
  minSignals: z.number().int().min(1).default(1),
  /** … or when one has waited this long. */
  maxWaitMs: z.number().int().min(0).default(60_000),
  /** What corrections in words are learned by: distillation, that and the reward of what was corrected, or the published recipe, for comparison. */
  objective: z.enum(OBJECTIVE_NAMES).default("distillation"),
  signals: SignalSettings.prefault({}),
  /** Whose next turns a correction is put before as a note until the weights have taken it up: the same user's, everybody's, or nobody's. */
  notes: z.enum(["off", "user", "agent"]).default("user"),
  /** Votes per judgement; odd, so that ties are rare. */
  votes: z.number().int().min(1).max(9).default(3),
  judge: JudgeSettings.prefault({}),
  /** Client keys of people who are trusted, by id: the share of an update's loss weight that they may have. 1 teaches everybody's policy alone. */
  trusted: z
    .record(z.string().min(1).max(64), z.number().min(0).max(1))
    .refine((keys) => Object.keys(keys).length <= 100, "at most 100 keys")
    .default({}),
});
export type LearningSettings = z.infer<typeof LearningSettings>;

export const AgentSettings = z.object({
  /** Put before the client's own system message. */
  instructions: z.string().default(""),
  /** A request's own tools stand in for those that the client runs; those with an endpoint are the edge's to run, and stay. */
  tools: z.array(AgentTool).default([]),
  /** Whose tools the edge runs too. */
  mcpServers: z.array(McpServer).max(8, "at most 8 servers expected").default([]),
  /** How often in one answer the policy may call tools that the edge runs; then it has to answer. */
  maxToolSteps: z.number().int().min(1).max(16).default(6),
  /** Where answers are made. Another base begins another lineage: see the `rebase` moves of the audit. */
  engine: EngineSettings.default(EMBEDDED),
  /** Of requests that do not say. */
  sampling: SamplingSettings.prefault({}),
  /** Whether turns are kept and may be learned from where a request does not say; `store` of a request goes before it. */
  store: z.boolean().default(true),
  learning: LearningSettings.prefault({}),
  release: ReleaseSettings.prefault({}),
});
export type AgentSettings = z.infer<typeof AgentSettings>;

export const Agent = z.object({ name: AgentName, settings: AgentSettings, createdAt: z.string() });
export type Agent = z.infer<typeof Agent>;
