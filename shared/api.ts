/** What `/api` answers where it is not a record of its own: for people's tools, and for the dashboard. */
import type { ChatMessage } from "./chat.ts";
import type { TurnCredit } from "./credit.ts";
import type { EngineCapabilities, EngineSettings } from "./engine.ts";
import type { CursorAdvance, EventPayload } from "./events.ts";
import type { Audience } from "./influence.ts";
import type { HeldDefault } from "./learned-defaults.ts";
import type { PromptNote } from "./note.ts";
import type { PolicyVersion } from "./policy.ts";
import type { TrainerStatus } from "./trainer-status.ts";
import type { VersionStatus } from "./release.ts";

/** An agent's engine as it is now. */
export type EngineState = {
  engine: EngineSettings;
  capabilities: EngineCapabilities;
  /** What the agent had loaded and nobody has unloaded; `failure` says why the last attempt to unload it failed. */
  adapters: {
    name: string;
    engine: string;
    line: string;
    version: number;
    needed: boolean;
    loadedAt: string;
    usedAt: string;
    failure: string | null;
  }[];
  /** Adapters of ours that the engine itself lists. */
  listed: string[];
  /** How many more it can ever take, where that is limited. */
  slotsLeft: number | null;
  /** Why the engine could not be asked. */
  error: string | null;
};

/** Who asked for a move, for the audit trail: a key's kind and id, or `edge:canary`. */
export type Actor = string;

/** One move of a line. `to` is the version or the cursor that it led to. */
export type AuditRow = {
  id: number;
  line: string;
  move: string;
  actor: Actor;
  reason: string | null;
  /** Stable version before and after. */
  from: number | null;
  to: number | null;
  /** Those that it was about: whose status it changed, or on whose trial something was decided. */
  versions: number[];
  cursor: number;
  /** What was refused, for moves of the cursor. */
  refused: CursorAdvance["refused"];
  /** What a change of the settings changed; empty for other moves, and for those of before it was kept. */
  changes: SettingChange[];
  createdAt: string;
};

/** A setting by its path, and excerpts of what it was and is as JSON; null where there was or is none. */
export type SettingChange = { setting: string; before: string | null; after: string | null };

/** Of the audit trail: what people did and what became of versions, or what was looked at and not learned from. */
export type AuditPart = "people" | "refused";

/** A line as it is listed. A personal one has its user's name. */
export type ListedLine = {
  line: string;
  stable: number;
  latest: number;
  cursor: number;
  /** The shared line's version that the stable one was learned over; null where it is bare, and on the shared line. */
  over: number | null;
  /** Whether its stable version answers; else the shared line's does. */
  answers: boolean;
};

/** A version as it is listed: with its part in the release. */
export type ListedVersion = PolicyVersion & { status: VersionStatus };

/** A page of a line's versions, newest first. */
export type VersionPage = { stable: number; latest: number; cursor: number; versions: ListedVersion[] };

/** The stable version and the highest one, of which somebody was told what a rollback would take back. */
export type Seen = Pick<VersionPage, "stable" | "latest">;

/** One version, with the users whose events it was trained on. */
export type ShownVersion = ListedVersion & { users: string[] };

/** An event that is not learned from until somebody lets it back in. */
export type BarredEvent = { eventId: string; turnId: string; seq: number };
export type QuarantinedEvent = BarredEvent & {
  reason: string | null;
  actor: Actor;
  createdAt: string;
  /** Nobody can let it back in: its user was deleted. */
  forGood: boolean;
};

export type Canary = {
  readonly version: number;
  /** Share of new conversations, above 0 and at most 1. */
  readonly share: number;
  /** Since when it answers. */
  readonly since: string;
  /** Since when a person is asked to decide; null while the test runs by itself. */
  readonly askedAt: string | null;
};

/** Over conversations: how many, the mean of what was measured in each, and its variance. */
export type Sample = { readonly count: number; readonly mean: number; readonly variance: number };

/** What one version did in the conversations that began while the canary answered. */
export type Arm = {
  /** Mean reward of a conversation's judged turns, from −1…1 onto 0…1; conversations without a judged turn are not in it. */
  readonly score: Sample;
  /** Share of a conversation's turns that ended in an error of ours. */
  readonly failed: Sample;
  /** Share of a conversation's turns whose call was cut short or does not fit its tool. */
  readonly invalid: Sample;
  /** Mean tokens of an answer. */
  readonly tokens: Sample;
};

export type CanaryVerdict = { readonly decision: "promote" | "rollBack" | "wait"; readonly reason: string };

/** What answers on a line, and how the trial of its canary stands. */
export type Release = {
  stable: number;
  canary: (Canary & { arms: { canary: Arm; stable: Arm }; verdict: CanaryVerdict }) | null;
  waiting: readonly number[];
  audience: Audience;
  turnsPerDay: number;
  /** What the stable version or the canary lacks of its files in storage, in words, as of a minute ago at most; empty where each could answer. */
  faults: readonly string[];
};

/** What a trainer said last, and when. */
export type TrainerReport = TrainerStatus & { readonly seenAt: string };

/** What has to happen before a line's next update. */
export type NextUpdate = {
  readonly learning: boolean;
  readonly minSignals: number;
  readonly maxWaitMs: number;
  /** Corrections that are in force as notes, and supplied answers (influence.ts, `topicOf`), until more users say the same. */
  readonly unheard: readonly {
    readonly tool: string;
    readonly parameter: string;
    readonly value: string;
    readonly users: number;
    readonly detail: string;
  }[];
};

/** GET /api/agents/:agent/trainer. `trainer` is null while none was heard of. */
export type TrainerView = { readonly trainer: TrainerReport | null; readonly next: NextUpdate };

/**
 * `versions`: those taken back. Of what they alone had learned from so many events were `quarantined`, or `reopened`. `barred`: so many of theirs, and of what versions
 * that answer again had learned from, were quarantined before and stay so.
 */
export type RolledBack = {
  status: "rolledBack";
  from: number;
  to: number;
  versions: number[];
  quarantined: number;
  reopened: number;
  barred: number;
};
export type Promoted = { status: "promoted"; from: number; to: number };
export type Unchanged = { status: "unchanged"; stable: number };

type Judged = Omit<Extract<EventPayload, { kind: "judgement:made" }>, "kind">;
type Payload<Kind extends EventPayload["kind"]> = Omit<Extract<EventPayload, { kind: Kind }>, "kind" | "completionId">;

/** A version that learned from a turn, and what its update said about the answer's tokens. */
export type TrainedOn = Pick<TurnCredit, "eventId" | "pieces"> & { readonly line: string; readonly version: number };

export type ListedTurn = {
  readonly turnId: string;
  readonly sessionId: string;
  readonly user: string;
  readonly keyId: string | null;
  readonly createdAt: string;
  /** The turn's place in the log; the page before it is asked for with it. */
  readonly seq: number;
  readonly completionId: string;
  /** What it teaches: `shared`, or its user's own line. */
  readonly line: string;
  /** Whose version answered. */
  readonly policyLine: string;
  readonly policyVersion: number;
  /** Another version whose answer went out: it answers for the tool, or the user had said otherwise than a default that was learned; null where none did. */
  readonly yieldedTo: { readonly line: string; readonly version: number } | null;
  /** What the answer was held to: defaults that its version has learned, what was said in their place, and what the user had just put right. */
  readonly heldTo: readonly HeldDefault[];
  /** The policy's own question, which nobody was to be asked: it was answered as if they had said yes; null where none was. */
  readonly agreedTo: string | null;
  /** Notes that stood for the answer, and which of them it was held to. */
  readonly notes: readonly PromptNote[];
  /** The last message that the policy answered, and the answer; null where it was given up. */
  readonly prompt: ChatMessage | null;
  readonly answer: ChatMessage | null;
  /** Why it ended, as the client was told; `aborted: …` where it was given up. */
  readonly finishReason: string;
  readonly next: readonly ({ readonly eventId: string } & Payload<"nextState:arrived">)[];
  readonly feedback: readonly ({ readonly eventId: string } & Payload<"feedback:given">)[];
  /** `subject` is the event that was judged. */
  readonly judgements: readonly Judged[];
  /** There is older feedback than is listed: the newest 50 are, fewer where they are large. */
  readonly more: boolean;
  /** Oldest version first; an event that is learned from again has several. */
  readonly trained: readonly TrainedOn[];
};

export type SeriesPoint = {
  /** Begin of the interval. */
  readonly at: string;
  readonly turns: number;
  readonly aborted: number;
  /** Judged turns that say something; a call that merely ran says nothing. */
  readonly judged: number;
  /** Mean reward of those, −1 to 1; null where there are none. */
  readonly reward: number | null;
  /** Rejected answers of which the judge could tell what should have been different. */
  readonly corrections: number;
};

/** A key as it is listed; the key itself is shown once, when it is made or rotated. */
export type ListedKey = {
  readonly id: string;
  readonly kind: "client" | "admin" | "trainer";
  readonly name: string;
  /** Names of agents and prefixes of names; null: every agent. */
  readonly agents: readonly string[] | null;
  readonly requestsPerMinute: number | null;
  readonly createdAt: string | null;
  readonly expiresAt: string | null;
  readonly rotatedAt: string | null;
  readonly revokedAt: string | null;
  /** The id of the key that made it; null of those that came with the installation, and of those from before it was kept. */
  readonly createdBy: string | null;
};

/** A key that is revoked; `also`: those that it had made, directly or through others, and that were revoked with it. */
export type RevokedKey = ListedKey & { readonly also: readonly ListedKey[] };

/** An agent that is gone, with how many sessions and events of it, and the ids of the keys that reached it alone, which were revoked. */
export type DeletedAgent = { readonly agent: string; readonly sessions: number; readonly events: number; readonly keys: readonly string[] };

/** What was done with a key or with a whole agent. */
export type DeploymentMove = {
  readonly id: number;
  readonly move: "makeKey" | "rotateKey" | "revokeKey" | "deleteAgent";
  readonly actor: Actor;
  /** Id of a key, or name of an agent. */
  readonly subject: string;
  readonly detail: string;
  readonly createdAt: string;
};

/** A key as it is shown the one time. */
export type MadeKey = ListedKey & { readonly key: string };

/** Who is logged in, and what a request that changes something has to carry as `x-csrf-token`. */
export type Login = {
  readonly key: Pick<ListedKey, "id" | "name" | "agents">;
  /** Who talks in the playground: the key itself, as a user. With scope `personal` also the line that this teaches. */
  readonly user: string;
  readonly csrf: string;
  readonly expiresAt: string;
};
