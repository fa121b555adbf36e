/**
 * What an AgentObject answers over RPC. Errors do not survive RPC as classes, so outcomes are unions, and
 * `undefined` is an agent, line or version that does not exist.
 */
import type { Agent, AgentSettings } from "../../shared/agent.ts";
import type {
  Actor,
  AuditPart,
  AuditRow,
  BarredEvent,
  EngineState,
  ListedLine,
  ListedVersion,
  Promoted,
  QuarantinedEvent,
  Release,
  RolledBack,
  Seen,
  TrainedOn,
  TrainerReport,
  Unchanged,
} from "../../shared/api.ts";
import type { CursorAdvance } from "../../shared/events.ts";
import type { Audience, Evidence, Withdrawn } from "../../shared/influence.ts";
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import type { Note } from "../../shared/note.ts";
import type { ErrorRecord } from "../../shared/errors.ts";
import type { KeptDefaults, LineHead, PublishRequest, PublishResult, ServedPolicy } from "../../shared/policy.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { TrainerStatus } from "../../shared/trainer-status.ts";
import type { Env } from "../env.ts";
import type { ForgetRequest, ForgottenUser } from "./deletion.ts";

/** A trainer that moves a line: for the audit trail, and the token of its lease. */
export type Trainer = { readonly actor: Actor; readonly lease: number };
/** The lease is another trainer's by now. */
export type Lost = { status: "lost"; reason: string };

export type Reason = { actor: Actor; reason?: string | undefined };

/** A version's use of an event. */
export type EventUse = { line: string; eventId: string; version: number; seq: number; user: string; turnId: string };

/** A rebuild that learned nothing, with the reasons. */
export type FinishRequest = { from: number; refused: AuditRow["refused"] };

/** What a finished or failed turn says about the version that answered it. */
export type TurnFact = {
  turnId: string;
  /** What it teaches. */
  line: string;
  /** Whose version answered. */
  answeredBy: string;
  sessionId: string;
  user: string;
  keyId: string | null;
  version: number;
  turnIndex: number;
  createdAt: string;
  /** It ended in an error of ours. */
  failed: boolean;
  /** Its call was cut short, or does not fit its tool. */
  invalid: boolean;
  /** Tokens of the answer. */
  tokens: number;
};

/** A version would answer of whose files storage has lost one, which the reason names. */
export type Unstored = { status: "unstored"; reason: string };

export type RollbackRequest = { to: number; quarantine?: boolean | undefined; reason?: string | undefined; seen?: Seen | undefined };
export type RollbackResult =
  | RolledBack
  | Unchanged
  | { status: "refused"; reason: string }
  | Unstored
  | { status: "unknown"; latest: number }
  | ({ status: "stale" } & Seen);

export type PromoteResult = Promoted | Unchanged | Unstored | { status: "unknown"; inFlight: number[] };

export type AdvanceResult =
  | { status: "advanced"; cursor: number }
  | { status: "stale"; cursor: number }
  | { status: "refused"; reason: string };

/** `unready`: the agent's engine is away, so whether the version could answer is not known; it may be published later. */
export type PublishOutcome = PublishResult | { status: "refused"; reason: string } | { status: "unready"; error: ErrorRecord };

/** A note as a judgement gives it. */
export type GivenNote = Pick<
  Note,
  "noteId" | "tool" | "parameter" | "value" | "corrected" | "text" | "eventId" | "turnId" | "createdAt"
> & {
  user: string;
  keyId: string | null;
};

export type AbsorbResult = { status: "absorbed" } | { status: "stale"; stable: number };

/** `full`: there are as many cases as there may be; `long`: they have as many characters. */
export type AddResult = "added" | "full" | "long";

/** Whether the agent's engine has a version's adapter now. */
export type LoadResult = { status: "loaded" } | { status: "failed"; error: ErrorRecord };

/** `changed`: the settings are no longer those that the new ones were made of. */
export type PutResult = { status: "stored"; agent: Agent } | { status: "refused"; reason: string } | { status: "changed" };

/** What a user's own line answers with. */
export type OwnLine = {
  line: string;
  /** Null while the line has no version of its own in use: the shared line answers. */
  policy: ServedPolicy | null;
  /** Versions of it that were taken back. */
  rolledBack: readonly number[];
  /** In force for the user, newest first. */
  notes: Note[];
};

/** The last event of a line in the log. */
export type LineNews = { line: string; seq: number };
export type LinePage = { after?: string | undefined; limit: number };

export type Page = { before?: number | undefined; limit: number };
export type AuditPage = Page & { only?: AuditPart | undefined; line?: string | undefined; version?: number | undefined };

export interface AgentPort {
  /**
   * Creates the agent with its shared line at version 0, or replaces its settings. An engine of another base begins the next version from
   * it; `lastSeq` is the last event of the log, all of which are of the base before.
   */
  /** Settings in place of those it has; `madeOf`: of these alone, where they were made of them. */
  put(request: { name: string; settings: AgentSettings; madeOf?: AgentSettings; actor: Actor; lastSeq: number }): Promise<PutResult>;
  /** Has the agent's engine load the adapter of a version that answers. */
  loadAdapter(line: string, version: number): Promise<LoadResult>;
  engine(): Promise<EngineState | undefined>;
  read(): Promise<Agent | undefined>;
  /** The end of the agent: from now on it answers nobody, and nothing is left of it here. */
  erase(): Promise<void>;
  head(line: string): Promise<LineHead | undefined>;
  /** What a user's own line answers with; undefined where the agent's users have none. */
  own(user: string): Promise<OwnLine | undefined>;
  /** By name. */
  lines(page: LinePage): Promise<ListedLine[] | undefined>;
  /** Of lines with events the ones that have not consumed them, and some of those that are to learn something again; new ones begin. */
  dueLines(news: readonly LineNews[], limit: number, actor: Actor): Promise<string[] | undefined>;
  /** Gives a trainer the agent under its key and name, or says who has it, to another key without the name. */
  lease(request: LeaseRequest, key: Actor): Promise<LeaseAnswer | undefined>;
  /** Whether the token was the current one, and the key the one that has it. */
  endLease(token: number, key: Actor): Promise<boolean | undefined>;
  publish(line: string, request: PublishRequest, trainer: Trainer): Promise<PublishOutcome | Lost | undefined>;
  /** Makes `to` the stable version. With `quarantine` the events first used by the versions left are barred from learning, else learned from again. */
  rollback(line: string, request: RollbackRequest, actor: Actor): Promise<RollbackResult | undefined>;
  /** Makes the canary, or a version that waits behind it, the stable one. */
  promote(line: string, request: { version: number; reason?: string | undefined }, actor: Actor): Promise<PromoteResult | undefined>;
  release(line: string): Promise<Release | undefined>;
  /** Versions that used an event, or a user's events, or the events that a version was trained on. */
  uses(line: string, where: { eventId: string } | { user: string } | { version: number }): Promise<EventUse[]>;
  /** Which versions learned from turns, and what each said about their tokens. */
  trainedOn(line: string, turnIds: readonly string[]): Promise<(TrainedOn & { turnId: string })[]>;
  /** Takes away what a user said, and plans what has to be learned again without. */
  forgetUser(line: string, forgotten: ForgetRequest, actor: Actor): Promise<ForgottenUser | undefined>;
  /** What a rebuild starts from and learns again; null where none is due. */
  rebuild(line: string): Promise<{ from: number; events: string[] } | null | undefined>;
  /** Ids of the events that the line's next parent and those it descends from have learned, oldest first, without what is barred. */
  learned(line: string): Promise<string[] | undefined>;
  /** Ends a rebuild that has nothing to learn. */
  finishRebuild(line: string, request: FinishRequest, trainer: Trainer): Promise<boolean | Lost | undefined>;
  /** Bars events from learning; returns how many were not barred before. */
  quarantine(line: string, events: readonly BarredEvent[], audit: Reason): Promise<number | undefined>;
  /** Lets events be learned from; those that a version of before had used are learned from again. Returns how many were barred. */
  letIn(line: string, eventIds: readonly string[], audit: Reason): Promise<number | undefined>;
  quarantined(line: string, page: { after?: string | undefined; limit: number }): Promise<QuarantinedEvent[] | undefined>;
  /** Consumed events that wait to be learned from again. */
  reopened(line: string, limit: number): Promise<string[] | undefined>;
  advance(line: string, request: CursorAdvance, trainer: Trainer): Promise<AdvanceResult | Lost | undefined>;
  version(line: string, version: number): Promise<ListedVersion | undefined>;
  /** What a version has learned with all that it descends from, and who answers beside it. */
  kept(line: string, version: number): Promise<KeptDefaults>;
  /** Newest first. */
  versions(line: string, page: Page): Promise<ListedVersion[]>;
  /** Newest first. */
  audit(page: AuditPage): Promise<AuditRow[]>;
  /** Whom the line serves, and what they have corrected that no version in use has learned. */
  influence(line: string): Promise<{ audience: Audience; evidence: Evidence[] } | undefined>;
  /** Which of the corrections nobody is to learn any more, by their hints' ids. */
  withdrawn(line: string, eventIds: readonly string[]): Promise<Withdrawn[] | undefined>;
  /** What a candidate must still do, oldest first. */
  suite(line: string): Promise<SuiteCase[] | undefined>;
  addCase(line: string, suiteCase: SuiteCase, actor: Actor): Promise<AddResult | undefined>;
  /** Whether it was there. */
  dropCase(line: string, caseId: string, actor: Actor): Promise<boolean | undefined>;
  /**
   * Keeps who said what, and puts notes in force, where the agent's settings allow it; telling of one again changes nothing.
   * @param said.others what is evidence and no note: answers that were supplied, rewards
   */
  remember(line: string, said: { notes: readonly GivenNote[]; others: readonly Evidence[] }, actor: Actor): Promise<void>;
  /** Every note of the line, or what a user gave and what is for everybody, newest first. */
  notes(line: string, user?: string): Promise<Note[] | undefined>;
  /** Those in force for a user, newest first. */
  notesInForce(line: string, user: string): Promise<Note[]>;
  /** Takes a note away with those that it superseded: what they were to teach is learned no more. */
  dropNote(line: string, noteId: string, actor: Actor): Promise<Note | undefined>;
  /** Takes a note out of force for as long as a descendant of `version`, which must be the stable one, answers. */
  absorbNote(line: string, noteId: string, version: number, trainer: Trainer): Promise<AbsorbResult | Lost | undefined>;
  /** Tells those who wait that the log holds events up to `seq`; `usedNotes` names a note once for every turn that had it. */
  eventsAppended(seq: number, told?: { usedNotes?: readonly string[]; turns?: readonly TurnFact[] }): Promise<void>;
  /** What the judge said of turns. */
  judged(line: string, judgements: readonly { turnId: string; reward: number }[]): Promise<void>;
  /** What the line's trainer is doing; from another than the one whose lease it is, nothing is heard. */
  reportTrainer(line: string, status: TrainerStatus, trainer: Trainer): Promise<{ status: "heard" } | Lost | undefined>;
  /** What it said last; null where none has spoken since the object woke. */
  trainer(line: string): Promise<TrainerReport | null>;
  /** Resolves with the highest `seq` told of, once it is above `after` or `waitMs` have passed. */
  waitForEvents(after: number, waitMs: number): Promise<number>;
}

/** An agent's object. The types of Workers RPC reject results with `unknown` inside (JSON schemas), hence the cast. */
export function agentOf(env: Pick<Env, "AGENTS">, name: string): AgentPort {
  return env.AGENTS.getByName(name) as unknown as AgentPort;
}
