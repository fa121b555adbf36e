/** What was last given as feedback on each turn, in the session's SQLite: the same again is a second delivery, the same after another a change of mind. */

const TABLE = "CREATE TABLE IF NOT EXISTS given (turn_id TEXT PRIMARY KEY, digest TEXT NOT NULL, changes INTEGER NOT NULL) WITHOUT ROWID";

/** How often a key's feedback on a turn is taken, each time another than before: each is kept, and nobody changes their mind more often. */
export const MOST_GIVEN = 100;

/**
 * How often feedback on the turn has changed, this one included: 0 for the first. One synchronous step.
 * @returns undefined where it was given `most` times before, and now is another
 */
export function countChanges(sql: SqlStorage, turnId: string, { digest, most }: { digest: string; most: number }): number | undefined {
  sql.exec(TABLE);
  const [last] = sql.exec<{ digest: string; changes: number }>("SELECT digest, changes FROM given WHERE turn_id = ?", turnId).toArray();
  if (last?.digest === digest) return last.changes;
  const changes = last === undefined ? 0 : last.changes + 1;
  if (changes >= most) return undefined;
  sql.exec("INSERT INTO given VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET digest = ?2, changes = ?3", turnId, digest, changes);
  return changes;
}
