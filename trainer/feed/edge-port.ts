/** What the trainer needs of the edge. The HTTP client implements it; a test may stand in for the network, never for the edge's rules. */
import type { z } from "zod";
import type { CursorAdvance, FeedPage, JudgementBatch, LoggedEvent } from "../../shared/events.ts";
import type { Audience, Evidence, Withdrawn } from "../../shared/influence.ts";
import type { LeaseAnswer, LeaseRequest } from "../../shared/lease.ts";
import type { Note, NoteAbsorbed } from "../../shared/note.ts";
import type { LineHead, PolicyVersion, PublishRequest, PublishResult } from "../../shared/policy.ts";
import type { VersionStatus } from "../../shared/release.ts";
import type { SuiteCase } from "../../shared/suite.ts";
import type { TrainerStatus } from "../../shared/trainer-status.ts";

export type LineName = { readonly agent: string; readonly line: string };

export type AdvanceResult = { readonly status: "advanced" | "stale"; readonly cursor: number };

export type Influence = { readonly audience: Audience; readonly evidence: readonly Evidence[] };

export type RebuildPlan = { readonly from: number; readonly events: readonly string[] };

export type ListedVersion = PolicyVersion & { readonly status: VersionStatus };

export type BarredEvent = { readonly eventId: string; readonly turnId: string };

export interface EdgePort {
  listAgents(): Promise<LineName[]>;
  /** Asks for an agent, or with the token of its lease keeps it. */
  takeLease(agent: string, request: LeaseRequest): Promise<LeaseAnswer>;
  endLease(agent: string, token: number): Promise<void>;
  readHead(line: LineName): Promise<LineHead>;
  readVersion(line: LineName, version: number): Promise<ListedVersion>;
  /** Personal lines of the agent with events after the cursor that they have not consumed, or with something to learn again; waits up to `waitMs` for one. */
  dueLines(request: {
    agent: string;
    cursor: number;
    waitMs: number;
  }): Promise<{ readonly lines: readonly string[]; readonly cursor: number }>;
  /** Events of the line after the cursor, in order; waits up to `waitMs` for the first. */
  pull(request: LineName & { cursor: number; limit: number; waitMs: number }): Promise<FeedPage>;
  /** The last finished turns of a session up to the turn `upTo`, however long ago, in log order. */
  readTurns(asked: { agent: string; session: string; upTo: string }): Promise<LoggedEvent[]>;
  /** Stores bytes under their own digest; storing the same bytes again changes nothing. */
  putFile(bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Those of at most 40 digests under which nothing is stored. */
  missingFiles(digests: readonly string[]): Promise<string[]>;
  getFile(digest: string): Promise<Uint8Array<ArrayBuffer>>;
  /** What is not learned from until somebody lets it back in: events, and the turns that they are about. */
  readQuarantine(line: LineName): Promise<BarredEvent[]>;
  /** Consumed events that are to be learned from again, with their judgements, and which of their hints (hint-id.ts). */
  readReopened(line: LineName): Promise<{ readonly ids: readonly string[]; readonly events: readonly LoggedEvent[] }>;
  /** Whom the line serves, and what they have corrected that no version in use has learned. */
  readInfluence(line: LineName): Promise<Influence>;
  /** Which corrections, by their hints' ids, nobody is to learn any more; at most 100 are asked about. */
  readWithdrawn(line: LineName, ids: readonly string[]): Promise<Withdrawn[]>;
  /** Events of the log with their judgements, at most 100. */
  readEvents(line: LineName, ids: readonly string[]): Promise<LoggedEvent[]>;
  /** Ids of the events that the line has learned, oldest first. */
  readLearned(line: LineName): Promise<string[]>;
  /** What a rebuild starts from and learns again; null where none is due. */
  readRebuild(line: LineName): Promise<RebuildPlan | null>;
  /** Ends a rebuild that has nothing to learn. */
  finishRebuild(
    line: LineName,
    request: { from: number; refused: CursorAdvance["refused"] },
  ): Promise<{ readonly status: "finished" | "stale" }>;
  /** What a candidate must still do. */
  readSuite(line: LineName): Promise<SuiteCase[]>;
  publish(line: LineName, request: PublishRequest): Promise<PublishResult>;
  advanceCursor(line: LineName, advance: CursorAdvance): Promise<AdvanceResult>;
  /** The line's notes in force, newest first. */
  readNotes(line: LineName): Promise<Note[]>;
  /** Says that `version`, the stable one, does what the note says without it. */
  absorbNote(line: LineName, noteId: string, absorbed: NoteAbsorbed): Promise<{ readonly status: "absorbed" | "stale" }>;
  /** Says what the trainer is doing for the line. */
  reportStatus(line: LineName, status: TrainerStatus): Promise<void>;
  /** Writes judgements to the log; writing the same ones again changes nothing. */
  postJudgements(batch: z.infer<typeof JudgementBatch>): Promise<void>;
}
