/** The migrations make the tables that the code declares, no more and no less. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { agents, deletions, events, keys, sessionCounters } from "../../../edge/db/schema.ts";

const MIGRATIONS = join(import.meta.dirname, "../../../migrations");
const TABLES = [agents, deletions, events, keys, sessionCounters];

function migrated(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith(".sql"));
  for (const name of files.toSorted()) database.exec(readFileSync(join(MIGRATIONS, name), "utf8"));
  return database;
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
    const made = rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name");
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
