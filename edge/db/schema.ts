/** D1 tables; the only place where columns are declared. Times are epoch milliseconds. */
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

export const KEY_KINDS = ["client", "admin", "trainer"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** The append-only event log. `seq` grows monotonically, is never reused, and is the trainer's cursor. */
export const events = sqliteTable(
  "events",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    /** Natural key: a second delivery of an event is recognised by it. */
    eventId: text("event_id").notNull(),
    agent: text("agent").notNull(),
    line: text("line").notNull(),
    sessionId: text("session_id").notNull(),
    turnId: text("turn_id").notNull(),
    user: text("user").notNull(),
    kind: text("kind").notNull(),
    /** JSON of the payload, or null where it is large and lies in R2 under `payloads/<eventId>`. */
    payload: text("payload"),
    createdAt: integer("created_at").notNull(),
    /** Null in events of before keys were recorded. */
    keyId: text("key_id"),
  },
  (table) => [
    uniqueIndex("events_event_id").on(table.eventId),
    // The feed: an agent's events after a cursor.
    index("events_agent_seq").on(table.agent, table.seq),
    // The feed of one of its lines.
    index("events_agent_line_seq").on(table.agent, table.line, table.seq),
    // What one user has said: lineage, quarantine, deletion.
    index("events_user_agent").on(table.user, table.agent),
  ],
);

/**
 * Every turn once, with what lists are narrowed down by. What was said in and after it can be searched in `said` (migrations), an FTS5
 * table of `facets` and `words` whose rows are numbered by the turn's `seq` and its parts.
 */
export const turns = sqliteTable(
  "turns",
  {
    /** Of the event that ended the turn. */
    seq: integer("seq").primaryKey(),
    turnId: text("turn_id").notNull(),
    agent: text("agent").notNull(),
    user: text("user").notNull(),
    /** Null in turns of before the table whose payload lies in R2. */
    version: integer("version"),
    /** The last reward that was not 0, else 0; null where nothing was judged yet. */
    reward: integer("reward"),
    /** How many rows `said` has of it. */
    parts: integer("parts").notNull(),
  },
  (table) => [
    uniqueIndex("turns_turn_id").on(table.turnId),
    // Newest first: all of an agent's, those that a version answered, those that were judged so, one user's.
    index("turns_agent_seq").on(table.agent, table.seq),
    index("turns_agent_version_seq").on(table.agent, table.version, table.seq, table.reward),
    index("turns_agent_reward_seq").on(table.agent, table.reward, table.seq, table.version),
    index("turns_agent_user_seq").on(table.agent, table.user, table.seq, table.reward, table.version),
  ],
);

/**
 * What happened in each hour, for charts. A trigger on `events` counts every row that is inserted, and none twice; what is erased
 * later has still happened.
 */
export const series = sqliteTable(
  "series",
  {
    agent: text("agent").notNull(),
    /** Since 1970. */
    hour: integer("hour").notNull(),
    turns: integer("turns").notNull(),
    aborted: integer("aborted").notNull(),
    /** Judgements that say something; a call that merely ran says nothing. */
    judged: integer("judged").notNull(),
    /** Sum of their rewards. */
    reward: integer("reward").notNull(),
    corrections: integer("corrections").notNull(),
  },
  (table) => [primaryKey({ columns: [table.agent, table.hour] })],
);

/** API keys, as hashes only. */
export const keys = sqliteTable(
  "keys",
  {
    id: text("id").primaryKey(),
    kind: text("kind", { enum: KEY_KINDS }).notNull(),
    /** Lower-case hex SHA-256 of the key. */
    hash: text("hash").notNull(),
    name: text("name").notNull(),
    createdAt: integer("created_at").notNull(),
    revokedAt: integer("revoked_at"),
    /** Names of agents and prefixes of names; null: every agent. */
    agents: text("agents", { mode: "json" }).$type<string[]>(),
    expiresAt: integer("expires_at"),
    /** Null: no limit. */
    requestsPerMinute: integer("requests_per_minute"),
    rotatedAt: integer("rotated_at"),
    /** The id of the key that made it; null of those that came with the installation, and of those from before it was kept. */
    createdBy: text("created_by"),
  },
  (table) => [
    uniqueIndex("keys_hash").on(table.hash),
    // What a key has made, to be revoked with it.
    index("keys_created_by").on(table.createdBy),
  ],
);

export const DEPLOYMENT_MOVES = ["makeKey", "rotateKey", "revokeKey", "deleteAgent"] as const;

/** Who did what to keys and to whole agents; what is done within an agent is in its AgentObject. */
export const deploymentAudit = sqliteTable("deployment_audit", {
  id: integer("id").primaryKey({ autoIncrement: true }),
  move: text("move", { enum: DEPLOYMENT_MOVES }).notNull(),
  /** A key's kind and id. */
  actor: text("actor").notNull(),
  /** Id of a key, or name of an agent. */
  subject: text("subject").notNull(),
  detail: text("detail").notNull(),
  /** What the subject reaches, as of a key: only who reaches all of it is told. Null: every agent. */
  agents: text("agents", { mode: "json" }).$type<string[]>(),
  createdAt: integer("created_at").notNull(),
});

/** People at the dashboard, by the SHA-256 of what their cookie holds. A login is worth what its key is worth. */
export const logins = sqliteTable("logins", {
  hash: text("hash").primaryKey(),
  /** Of the key that was presented: a key that was rotated since has another. */
  keyHash: text("key_hash").notNull(),
  createdAt: integer("created_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Users who were deleted, and when: what they had said before and comes late is not kept either. */
export const deletions = sqliteTable(
  "deletions",
  {
    agent: text("agent").notNull(),
    user: text("user").notNull(),
    requestedAt: integer("requested_at").notNull(),
    /** Whoever asked for it; null of those from before it was kept. */
    actor: text("actor"),
    /** Null while something is left to be erased. */
    finishedAt: integer("finished_at"),
  },
  (table) => [primaryKey({ columns: [table.agent, table.user] })],
);

/** Agents that were deleted, each as of the last time: what comes late of one is not kept. */
export const agentDeletions = sqliteTable("agent_deletions", {
  agent: text("agent").primaryKey(),
  requestedAt: integer("requested_at").notNull(),
  actor: text("actor").notNull(),
  /** Null while something is left to be erased. */
  finishedAt: integer("finished_at"),
  /** When an agent of the same name was made: what is of before is of the one that is gone. Null while there is none. */
  remadeAt: integer("remade_at"),
});

/** Which agents exist, so that they can be listed. Everything else about an agent is in its AgentObject. */
export const agents = sqliteTable("agents", {
  name: text("name").primaryKey(),
  createdAt: integer("created_at").notNull(),
});

/** What each session has counted so far. Values are absolute, so writing them twice changes nothing. */
export const sessionCounters = sqliteTable(
  "session_counters",
  {
    sessionId: text("session_id").primaryKey(),
    agent: text("agent").notNull(),
    generations: integer("generations").notNull(),
    replays: integer("replays").notNull(),
    aborted: integer("aborted").notNull(),
    ambiguous: integer("ambiguous").notNull(),
  },
  // Totals per agent for /api/stats.
  (table) => [index("session_counters_agent").on(table.agent)],
);
