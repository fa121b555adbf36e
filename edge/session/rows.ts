/** Rows of a session's SQLite → what they stand for. */
import { z } from "zod";
import { ChatMessage } from "../../shared/chat.ts";
import { invariant } from "../../shared/assert.ts";
import { ServedPolicy } from "../../shared/policy.ts";
import { completionIdOf } from "./identity.ts";
import type { SessionIdentity, TurnHead, TurnPolicy } from "./port.ts";
import type { KnownTurn } from "./retry.ts";

export type Row = Record<string, SqlStorageValue>;
export type Counter = "generations" | "replays" | "aborted" | "ambiguous";
export type SessionState = SessionIdentity & {
  readonly activeAt: number;
  readonly closedAt: number | null;
  /** Whether the totals are where they survive. */
  readonly counted: boolean;
} & Readonly<Record<Counter, number>>;

/** The request of a turn that is recalled by its id, as `turns.request` holds it. */
export const StoredRequest = z.object({ messages: z.array(ChatMessage), asked: z.string() });
export type StoredRequest = z.infer<typeof StoredRequest>;

export function toHead(row: Row): TurnHead {
  return {
    completionId: completionIdOf(text(row, "turn_id")),
    createdAt: integer(row, "created_at"),
    policyVersion: integer(row, "policy_version"),
    policyLine: text(row, "policy_line"),
    policyDigest: text(row, "policy_digest"),
  };
}

export function toSessionState(row: Row): SessionState {
  const identity = {
    sessionId: text(row, "session_id"),
    agent: text(row, "agent"),
    line: text(row, "line"),
    keyId: text(row, "key_id"),
    user: text(row, "user"),
    name: text(row, "name"),
  };
  const counters = {
    generations: integer(row, "generations"),
    replays: integer(row, "replays"),
    aborted: integer(row, "aborted"),
    ambiguous: integer(row, "ambiguous"),
  };
  const closedAt = row["closed_at"] === null ? null : integer(row, "closed_at");
  return { ...identity, ...counters, activeAt: integer(row, "active_at"), closedAt, counted: row["counted"] === 1 };
}

/** A version as a session keeps it. */
export function policyText({ line, version, policyDigest, baseDigest, adapter, onEngine, defaults, answering }: TurnPolicy): string {
  return JSON.stringify({ line, version, policyDigest, baseDigest, adapter, onEngine, defaults, answering });
}

export function toPolicy(policyText: string): TurnPolicy {
  return ServedPolicy.parse(JSON.parse(policyText));
}

export function turnState(row: Row): KnownTurn["state"] {
  const state = text(row, "state");
  return state === "open" || state === "aborted" ? state : "finished";
}

export function text(row: Row, column: string): string {
  const value = row[column];
  invariant(typeof value === "string", `column ${column}: text expected, got ${typeof value}`);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  invariant(typeof value === "number", `column ${column}: a number expected, got ${typeof value}`);
  return value;
}
