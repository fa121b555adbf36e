/** What an object finds in its SQLite that may be of an earlier release. */

/** Whether there is a table. */
export function hasTable(sql: SqlStorage, name: string): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name).toArray().length > 0;
}

/** Gives a table a column that it lacks, by the statement that adds it. */
export function addColumn(sql: SqlStorage, { table, column, add }: { table: string; column: string; add: string }): void {
  const has = sql.exec("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", table, column).toArray().length > 0;
  if (!has) sql.exec(add);
}
