/** Statements in one transaction, raw SQL among them, which drizzle's own batch does not take for D1 (0.45.4). */
import type { SQL } from "drizzle-orm";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";

export type Statement = SQL | { toSQL(): { sql: string; params: unknown[] } };

const dialect = new SQLiteAsyncDialect();

/** All or none of them, in order; returns the rows of each. */
export async function runBatch(database: D1Database, statements: readonly Statement[]): Promise<Record<string, unknown>[][]> {
  const prepared = statements.map((statement) => {
    const { sql, params } = "toSQL" in statement ? statement.toSQL() : dialect.sqlToQuery(statement);
    return database.prepare(sql).bind(...params);
  });
  return (await database.batch<Record<string, unknown>>(prepared)).map(({ results }) => results);
}
