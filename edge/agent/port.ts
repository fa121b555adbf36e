/**
 * What an AgentObject answers over RPC. Errors do not survive RPC as classes, so outcomes are unions, and
 * `undefined` is an agent, line or version that does not exist.
 */
import type { Agent, AgentSettings } from "../../shared/agent.ts";
import type { CursorAdvance } from "../../shared/events.ts";
import type { Note } from "../../shared/note.ts";
import type { LineHead, PolicyVersion, PublishRequest, PublishResult } from "../../shared/policy.ts";
import type { Env } from "../env.ts";

/** Who asked for a move, for the audit trail: a key's kind and id. */
export type Actor = string;

/** One move of a line. `to` is the version or the cursor that it led to. */
export type AuditRow = {
  id: number;
  line: string;
  move: "create" | "publish" | "rollback" | "advance" | "settings" | "notes";
  actor: Actor;
  reason: string | null;
  /** Stable version before and after. */
  from: number | null;
  to: number | null;
  cursor: number;
  /** What was refused, for moves of the cursor. */
  refused: CursorAdvance["refused"];
  createdAt: string;
};

/** A version as it is listed: with its part in the release. */
export type ListedVersion = PolicyVersion & { stable: boolean };

export type RollbackResult =
  | { status: "rolledBack"; from: number; to: number }
  | { status: "unchanged"; stable: number }
  | { status: "unknown"; latest: number };

export type AdvanceResult =
  | { status: "advanced"; cursor: number }
  | { status: "stale"; cursor: number }
  | { status: "refused"; reason: string };

export type PublishOutcome = PublishResult | { status: "refused"; reason: string };

/** A note as a judgement gives it. */
export type GivenNote = Pick<Note, "noteId" | "tool" | "parameter" | "value" | "text" | "eventId" | "turnId" | "createdAt"> & {
  user: string;
};

export type AbsorbResult = { status: "absorbed" } | { status: "stale"; stable: number };

export type Page = { before?: number | undefined; limit: number };

export interface AgentPort {
  /** Creates the agent with its shared line at version 0, or replaces its settings. */
  put(request: { name: string; settings: AgentSettings; actor: Actor }): Promise<Agent>;
  read(): Promise<Agent | undefined>;
  head(line: string): Promise<LineHead | undefined>;
  publish(line: string, request: PublishRequest, actor: Actor): Promise<PublishOutcome | undefined>;
  rollback(line: string, request: { to: number; reason?: string | undefined }, actor: Actor): Promise<RollbackResult | undefined>;
  advance(line: string, request: CursorAdvance, actor: Actor): Promise<AdvanceResult | undefined>;
  version(line: string, version: number): Promise<ListedVersion | undefined>;
  /** Newest first. */
  versions(line: string, page: Page): Promise<ListedVersion[]>;
  /** Newest first. */
  audit(page: Page): Promise<AuditRow[]>;
  /** Puts notes in force, where the agent's settings allow it; telling of one again changes nothing. */
  remember(line: string, notes: readonly GivenNote[], actor: Actor): Promise<void>;
  /** Every note of the line, or what a user gave and what is for everybody, newest first. */
  notes(line: string, user?: string): Promise<Note[] | undefined>;
  /** Those in force for a user, newest first. */
  notesInForce(line: string, user: string): Promise<Note[]>;
  /** Takes a note away with those that it superseded. */
  dropNote(line: string, noteId: string, actor: Actor): Promise<Note | undefined>;
  /** Takes a note out of force for as long as a descendant of `version`, which must be the stable one, answers. */
  absorbNote(line: string, noteId: string, version: number, actor: Actor): Promise<AbsorbResult | undefined>;
  /** Tells those who wait that the log holds events up to `seq`; `usedNotes` names a note once for every turn that had it. */
  eventsAppended(seq: number, usedNotes?: readonly string[]): Promise<void>;
  /** Resolves with the highest `seq` told of, once it is above `after` or `waitMs` have passed. */
  waitForEvents(after: number, waitMs: number): Promise<number>;
}

/** An agent's object. The types of Workers RPC reject results with `unknown` inside (JSON schemas), hence the cast. */
export function agentOf(env: Pick<Env, "AGENTS">, name: string): AgentPort {
  return env.AGENTS.getByName(name) as unknown as AgentPort;
}
