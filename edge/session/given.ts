/** What was last given as feedback on each turn, in the session's SQLite: the same again is a second delivery, the same after another a change of mind. */

const TABLE = "CREATE TABLE IF NOT EXISTS given (turn_id TEXT PRIMARY KEY, digest TEXT NOT NULL, changes INTEGER NOT NULL) WITHOUT ROWID";

/** How often feedback on the turn has changed, this one included: 0 for the first. One synchronous step. */
export function countChanges(sql: SqlStorage, turnId: string, digest: string): number {
  sql.exec(TABLE);
  const [last] = sql.exec<{ digest: string; changes: number }>("SELECT digest, changes FROM given WHERE turn_id = ?", turnId).toArray();
  if (last?.digest === digest) return last.changes;
  const changes = last === undefined ? 0 : last.changes + 1;
  sql.exec("INSERT INTO given VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET digest = ?2, changes = ?3", turnId, digest, changes);
  return changes;
}
