/**
 * Policy versions: what a version is made of, where it came from, and how one is published.
 * A version is immutable; `(agent, line, version)` names it everywhere.
 */
import { z } from "zod";
import { MOST_CREDITS, TurnCredit } from "./credit.ts";
import { AgentSettings, type LearningSettings } from "./agent.ts";
import { DIGEST } from "./digest.ts";
import { LearnedDefault, MOST_DEFAULTS } from "./learned-defaults.ts";
import { SignalSettings } from "./signal-settings.ts";
import { LearnedCase } from "./suite.ts";
import { GateReport, type VersionStatus } from "./release.ts";
import { Reach } from "./reach.ts";
import { SHARED_LINE } from "./shared-line.ts";
import { asRow, Id, MOST_DETAIL_CHARS, MOST_HINT_CHARS, MOST_SAMPLE_CHARS } from "./wire-limits.ts";

export const Digest = z.string().regex(DIGEST, "must be a lower-case hex SHA-256");
export const Version = z.number().int().min(0);

export { SHARED_LINE };

/** The line that a user's turns teach; a personal line is named by its user, whose id is scoped to an API key. */
export function lineOf({ scope }: Pick<LearningSettings, "scope">, user: string): string {
  return scope === "personal" ? user : SHARED_LINE;
}

/** Larger files are stored in parts of so many bytes, the last one shorter: neither a request nor an isolate holds gigabytes. */
export const PART_BYTES = 8_388_608;

/** A file of an adapter goes to and from the edge in parts of so many bytes, the last one shorter. */
export const ADAPTER_PART_BYTES = 16_777_216;
/** The edge joins them in one request, which may ask its storage 50 times on every plan. */
export const MOST_ADAPTER_PARTS = 40;
export const MOST_ADAPTER_BYTES = MOST_ADAPTER_PARTS * ADAPTER_PART_BYTES;

/** What a file is made of, in order. */
export const PartsRequest = z.object({ parts: z.array(Digest).min(1).max(MOST_ADAPTER_PARTS) });

/** The files of a base checkpoint by name, each with its digest, under which its bytes are stored or its parts are named. */
export const BaseManifest = z.object({
  name: z.string(),
  files: z.record(z.string(), Digest),
  /** By a file's digest, those of its parts in order. */
  parts: z.record(Digest, z.array(Digest)).optional(),
});
export type BaseManifest = z.infer<typeof BaseManifest>;

export const AdapterFiles = z.object({
  /** PEFT `adapter_config.json` and `adapter_model.safetensors`. */
  configDigest: Digest,
  weightsDigest: Digest,
  rank: z.number().int().positive(),
  alpha: z.number().positive(),
});
export type AdapterFiles = z.infer<typeof AdapterFiles>;

/** One event's part in an update: what the judge said, which hint came of it, how far the teacher was ahead. */
export const EventLineage = z.object({
  eventId: z.string(),
  seq: z.number().int(),
  turnId: z.string(),
  user: z.string(),
  reward: z.number().int().min(-1).max(1),
  votes: z.array(z.number().int().min(-1).max(1)),
  judge: z.enum(["verifiable", "embedded", "llm", "feedback"]),
  hint: z.string().optional(),
  /** ln p_teacher − ln p_student of the teacher's own answer, nats; how much the hint changes the answer. */
  liftNats: z.number().optional(),
  /** Its share of the loss weight of what its correction teaches, 0 to 1; absent in versions of before shares were weighed. */
  share: z.number().min(0).max(1).optional(),
  /** Where the engine told no token ids of a turn that it is about: learned from its words, without the tokens that were sampled. */
  reencoded: z.literal(true).optional(),
});
export type EventLineage = z.infer<typeof EventLineage>;

export const UpdateMetrics = z.object({
  objective: z.string(),
  steps: z.number().int(),
  loss: z.number(),
  lossBefore: z.number(),
  /** Mean KL(parent ‖ candidate) per trained token over the update's own contexts, nats. */
  klToParentNats: z.number(),
  klToBaseNats: z.number(),
  contexts: z.number().int(),
  seconds: z.number(),
  /** Versions between the one that answered and the parent, over the exchanges whose reward was learned from. */
  staleness: z.object({ mean: z.number(), max: z.number().int() }).optional(),
});
export type UpdateMetrics = z.infer<typeof UpdateMetrics>;

/** A sentence for people, with the same prompt answered by parent and candidate. */
export const SampleChange = z.object({ prompt: z.string(), before: z.string(), after: z.string() });

/** Of a version that was trained elsewhere: what its trainer was given. Nobody here can make it again. */
export const Origin = z.object({
  /** SHA-256 of the export's manifest that its events are from; null where the adapter came with none. */
  export: Digest.nullable(),
  /** For whom the export was written: verl, slime or tinker. */
  format: z.string().nullable(),
  /** Where the service that trained it keeps what it goes on from; null where there is none. */
  state: z.string().max(500).nullable().default(null),
});
export type Origin = z.infer<typeof Origin>;

/** A default of before that an update kept up, with the turn that its contexts were made from. */
export const Rehearsed = z.object({ turnId: z.string(), tool: z.string(), parameter: z.string() });
export type Rehearsed = z.infer<typeof Rehearsed>;

export const PolicyManifest = z.object({
  agent: z.string(),
  line: z.string(),
  parent: Version,
  /**
   * On a personal line: the version of the shared line that it was learned over. Where the parent was learned over another, it was
   * learned anew from this one's adapter, with all that the parent had learned. Null on the shared line.
   */
  over: Version.nullable().default(null),
  baseDigest: Digest,
  adapter: AdapterFiles.nullable(),
  /** Events after `fromSeq` up to and including `toSeq` were considered; those in `events` were trained on. */
  fromSeq: z.number().int(),
  toSeq: z.number().int(),
  events: z.array(EventLineage),
  hints: z.array(z.string()),
  /** What it uses from now on where the user names nothing, one for each argument; versions of before it was kept have none. */
  defaults: z.array(LearnedDefault).max(MOST_DEFAULTS).default([]),
  /** What it may have changed against its parent: everything in versions of before that was kept. */
  reach: Reach.default(null),
  metrics: UpdateMetrics.nullable(),
  changes: z.array(SampleChange),
  /** What the gate measured; null where the agent's gate is off, and of versions from before there was one. */
  gate: GateReport.nullable().default(null),
  /**
   * What the update was given beside its events: turns by id in log order, the reward baseline, and what it made of each form of
   * signal. Null in versions of before it was kept.
   */
  inputs: z
    .object({
      replay: z.array(z.string()),
      /** Defaults of before that were kept up, and turns by id that had their tools. */
      rehearsed: z.array(Rehearsed).default([]),
      baseline: z.number(),
      signals: SignalSettings.prefault({}),
      /** Turns in quarantine that would have been credited with what their conversation taught later. */
      leftOut: z.array(z.string()).default([]),
    })
    .nullable()
    .default(null),
  /** Null where an update of a trainer of ours made it. */
  imported: Origin.nullable().default(null),
  seed: z.number().int(),
  runtime: z.record(z.string(), z.string()),
});
export type PolicyManifest = z.infer<typeof PolicyManifest>;

/** Every turn that an update was given beside its events, by id. */
export function turnsGiven({ inputs }: Pick<PolicyManifest, "inputs">): string[] {
  return inputs === null ? [] : [...new Set([...inputs.replay, ...inputs.rehearsed.map(({ turnId }) => turnId)])];
}

/** What a manifest says of a version that no update has made. */
export const UNTRAINED = {
  over: null,
  events: [],
  hints: [],
  defaults: [],
  reach: null,
  metrics: null,
  changes: [],
  gate: null,
  inputs: null,
  imported: null,
  seed: 0,
  runtime: {},
} satisfies Partial<PolicyManifest>;

/** A published version as the edge lists it. Version 0 is the bare base and has no adapter. */
export const PolicyVersion = PolicyManifest.extend({
  version: Version,
  /** Digest of base and adapter together; what an answer states and what caches are keyed by. */
  policyDigest: Digest,
  createdAt: z.string(),
});
export type PolicyVersion = z.infer<typeof PolicyVersion>;

/** A signal that was consumed and taught nothing, with the reason. */
export const RefusedEvent = z.object({ eventId: z.string(), code: z.string(), detail: z.string() });

/** Those of one move, as a trainer may write them. */
export const GivenRefusals = asRow(
  z.array(z.object({ eventId: Id, code: z.string().max(100), detail: z.string().max(MOST_DETAIL_CHARS) })),
);

const Shown = z.string().max(MOST_SAMPLE_CHARS);

/** A manifest as a trainer may write it. */
export const GivenManifest = asRow(
  PolicyManifest.extend({
    events: z.array(EventLineage.extend({ eventId: Id, turnId: Id, user: Id, hint: z.string().max(MOST_HINT_CHARS).optional() })),
    hints: z.array(z.string().max(MOST_HINT_CHARS)),
    changes: z.array(z.object({ prompt: Shown, before: Shown, after: Shown })),
  }),
);

/** Of a publish request as JSON: cases hold whole conversations with their tools. */
export const MOST_PUBLISH_BYTES = 8_388_608;
export const MOST_LEARNED_CASES = 200;

/** `refused`: the events of the same batch that the version was not trained on. `cases`: what it must do from now on. */
export const PublishRequest = z.object({
  parent: Version,
  manifest: GivenManifest,
  refused: GivenRefusals.default([]),
  cases: z.array(LearnedCase).max(MOST_LEARNED_CASES).default([]),
  /** What the update said about the tokens of the turns that it learned from. */
  credits: z.array(TurnCredit).max(MOST_CREDITS).default([]),
  /** Whether it takes the place of what a deleted user had a part in; its parent is then the head's `rebuild.from`. */
  rebuild: z.boolean().default(false),
});
export type PublishRequest = z.infer<typeof PublishRequest>;

export type PublishResult =
  | { status: "published"; version: number; release: VersionStatus }
  | { status: "stale"; latest: number; cursor: number }
  | { status: "missing"; digests: string[] };

/** A version that may be asked beside the one that is bound. */
export const VersionFiles = z.object({ line: z.string(), version: Version, policyDigest: Digest, adapter: AdapterFiles.nullable() });
export type VersionFiles = z.infer<typeof VersionFiles>;

/** A default of a version, its own or inherited, with the last version before that knew nothing of it and can be asked. */
export const ServedDefault = LearnedDefault.extend({
  /** What the policy had made up in its place. */
  corrected: z.array(z.string()),
  /** What the base makes up there; absent where that is not known of every correction. */
  byBase: z.array(z.string()).optional(),
  before: VersionFiles,
});
export type ServedDefault = z.infer<typeof ServedDefault>;

/** What a version has learned with all that it descends from, newest first, and who answers beside it; null where it answers for everything. */
export const KeptDefaults = z.object({
  defaults: z.array(ServedDefault).default([]),
  answering: z
    .object({ outside: VersionFiles, tools: z.array(z.object({ tool: z.string(), by: VersionFiles })) })
    .nullable()
    .default(null),
});
export type KeptDefaults = z.infer<typeof KeptDefaults>;

/** A version as an isolate needs it to answer. */
export const ServedPolicy = z.object({
  line: z.string().default(SHARED_LINE),
  version: Version,
  policyDigest: Digest,
  baseDigest: Digest,
  adapter: AdapterFiles.nullable(),
  /** Its base is one that an engine serves, not the embedded policy. */
  onEngine: z.boolean().default(false),
  ...KeptDefaults.shape,
});
export type ServedPolicy = z.infer<typeof ServedPolicy>;

/** What a request needs to know of an agent's line; cached by isolates for a second. */
export const LineHead = z.object({
  agent: z.string(),
  line: z.string(),
  stable: Version,
  stablePolicyDigest: Digest,
  baseDigest: Digest,
  adapter: AdapterFiles.nullable(),
  /** Whether the stable version's base is one that an engine serves. */
  onEngine: z.boolean().default(false),
  /** Of the stable version. */
  ...KeptDefaults.shape,
  /** The base that the agent's engine serves; null where the embedded policy answers. */
  engineBase: Digest.nullable().default(null),
  /** The version that the next candidate must name as its parent: the last one in flight, else the stable one. */
  parent: Version,
  parentAdapter: AdapterFiles.nullable(),
  /** Of the parent, or of `rebuild.from` where one is due; null where that is the stable version. */
  parentKept: KeptDefaults.nullable().default(null),
  /**
   * Of a personal line: the shared line's stable version, over which the next candidate is learned, and the one that the parent was
   * learned over, null where it is bare; `kept` is of the shared version, where it is another. Null on the shared line.
   */
  over: z
    .object({
      version: Version,
      adapter: AdapterFiles.nullable(),
      parentOver: Version.nullable(),
      kept: KeptDefaults.nullable().default(null),
    })
    .nullable()
    .default(null),
  /** What answers a share of the new conversations, if anything does. */
  canary: ServedPolicy.extend({ share: z.number() }).nullable(),
  /** Versions that were taken back: a conversation that began on one goes on with the stable version. */
  rolledBack: z.array(Version),
  /** A user was deleted whom versions in use had learned from: the version to learn the others' events from again. */
  rebuild: z.object({ from: Version, adapter: AdapterFiles.nullable() }).nullable(),
  /** Whether consumed events wait to be learned from again. */
  reopened: z.boolean(),
  /** Highest version ever given out on this line. */
  latest: Version,
  /** Highest event `seq` that any version or refusal of this line has consumed; never goes back. */
  cursor: z.number().int(),
  /** Counts every change of the line; a reader with an older one knows that it is behind. */
  revision: z.number().int(),
  /** Null where the line has no notes; changes whenever others may be in force. */
  notesEpoch: z.string().nullable(),
  settings: AgentSettings,
});
export type LineHead = z.infer<typeof LineHead>;

/** The digest that names base + adapter; the base alone is named by its own digest. */
export function policyDigestInput(baseDigest: string, adapter: AdapterFiles | null): string {
  return adapter === null ? baseDigest : `${baseDigest}\n${adapter.configDigest}\n${adapter.weightsDigest}`;
}
