/** The migrations make the tables that the code declares, no more and no less. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import {
  agentDeletions,
  agents,
  deletions,
  deploymentAudit,
  events,
  keys,
  logins,
  series,
  sessionCounters,
  turns,
} from "../../../edge/db/schema.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");
const TABLES = [agentDeletions, agents, deletions, deploymentAudit, events, keys, logins, series, sessionCounters, turns];

const FILES = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));

function migrate(database: DatabaseSync, names: readonly string[]): DatabaseSync {
  for (const name of names.toSorted()) database.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  return database;
}

function migrated(): DatabaseSync {
  return migrate(new DatabaseSync(":memory:"), FILES);
}

/** Turns and judgements of two hours, one of them delivered twice. */
function log(database: DatabaseSync): void {
  const insert = database.prepare(
    "INSERT INTO events (event_id, agent, line, session_id, turn_id, user, kind, payload, created_at) VALUES (?,'a','l','s','t','u',?,?,?) ON CONFLICT DO NOTHING",
  );
  const judged = (judge: string, reward: number, hint?: string): string => JSON.stringify({ judge, reward, hint });
  const rows: [string, string, string | null, number][] = [
    ["1", "turn:finished", null, 10],
    ["1", "turn:finished", null, 10],
    ["2", "turn:aborted", "{}", 20],
    ["3", "judgement:made", judged("embedded", -1, "rooms should be 2."), 30],
    ["4", "judgement:made", judged("embedded", -1), 40],
    ["5", "judgement:made", judged("verifiable", 0), 50],
    ["6", "nextState:arrived", "{}", 60],
    ["7", "judgement:made", judged("embedded", 1), 3_600_010],
  ];
  for (const row of rows) insert.run(...row);
}

function declaredColumns(table: SQLiteTable) {
  const together = new Set(getTableConfig(table).primaryKeys.flatMap(({ columns }) => columns.map(({ name }) => name)));
  return getTableConfig(table).columns.map((column) => ({
    name: column.name,
    primary: column.primary || together.has(column.name),
    notNull: column.notNull,
    type: column.getSQLType(),
  }));
}

describe("migrations", () => {
  const database = migrated();
  const rows = (query: string) => database.prepare(query).all();

  it("make every declared table and no other", () => {
    const made = rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'said%' ORDER BY name",
    );
    expect(made.map(({ name }) => name)).toEqual(TABLES.map((table) => getTableConfig(table).name).toSorted());
  });

  it.each(TABLES.map((table) => ({ name: getTableConfig(table).name, table })))(
    "give $name its declared columns and indexes",
    ({ name, table }) => {
      const columns = rows(`PRAGMA table_info(${name})`).map((row) => ({
        name: row["name"],
        primary: Number(row["pk"]) > 0,
        notNull: row["notnull"] === 1,
        type: String(row["type"]).toLowerCase(),
      }));
      expect(columns).toEqual(declaredColumns(table));
      const indexes = rows(`PRAGMA index_list(${name})`).filter(({ origin }) => origin === "c");
      const declared = getTableConfig(table).indexes.map(({ config }) => ({ name: config.name, unique: config.unique }));
      expect(indexes.map((row) => ({ name: row["name"], unique: row["unique"] === 1 })).toSorted(byName)).toEqual(
        declared.toSorted(byName),
      );
    },
  );

  it("count what happens in each hour, and what had happened before they were made", () => {
    const hours = [
      { agent: "a", hour: 0, turns: 1, aborted: 1, judged: 2, reward: -2, corrections: 1 },
      { agent: "a", hour: 1, turns: 0, aborted: 0, judged: 1, reward: 1, corrections: 0 },
    ];
    const counted = migrated();
    log(counted);
    expect(counted.prepare("SELECT * FROM series ORDER BY hour").all()).toEqual(hours);
    const older = migrate(
      new DatabaseSync(":memory:"),
      FILES.filter((name) => name < "0004"),
    );
    log(older);
    migrate(
      older,
      FILES.filter((name) => name >= "0004"),
    );
    expect(older.prepare("SELECT * FROM series ORDER BY hour").all()).toEqual(hours);
  });

  it("never give a seq twice, also when the newest event is gone", () => {
    const insert = (id: string) =>
      database.exec(
        `INSERT INTO events (event_id, agent, line, session_id, turn_id, user, kind, created_at) VALUES ('${id}','a','l','s','t','u','k',0)`,
      );
    insert("one");
    database.exec("DELETE FROM events");
    insert("two");
    expect(rows("SELECT seq FROM events")).toEqual([{ seq: 2 }]);
  });
});

function byName(left: { name: unknown }, right: { name: unknown }): number {
  return String(left.name) < String(right.name) ? -1 : 1;
}
