/** The version that a conversation stays on, in its session's SQLite. */
import { hasTable } from "../sqlite.ts";
import type { TurnPolicy } from "./port.ts";
import { policyText, toPolicy } from "./rows.ts";

const TABLE = "CREATE TABLE IF NOT EXISTS pinned (id INTEGER PRIMARY KEY CHECK (id = 0), policy TEXT NOT NULL)";

/** Undefined where the conversation begins, or began before versions were kept to. */
export function readPin(sql: SqlStorage): TurnPolicy | undefined {
  if (!hasTable(sql, "pinned")) return undefined;
  const [row] = sql.exec<{ policy: string }>("SELECT policy FROM pinned").toArray();
  return row === undefined ? undefined : toPolicy(row.policy);
}

export function writePin(sql: SqlStorage, policy: TurnPolicy): void {
  sql.exec(TABLE);
  sql.exec("INSERT INTO pinned VALUES (0, ?) ON CONFLICT DO UPDATE SET policy = excluded.policy", policyText(policy));
}
