/** What versions said about the tokens of the turns that they learned from, in the agent's SQLite. A user's go with the user. */
import type { TrainedOn } from "../../shared/api.ts";
import { TurnCredit } from "../../shared/credit.ts";
import type { PublishRequest } from "../../shared/policy.ts";

const TABLES = `
  CREATE TABLE IF NOT EXISTS credits (
    line TEXT NOT NULL, turn_id TEXT NOT NULL, version INTEGER NOT NULL, event_id TEXT NOT NULL, user TEXT NOT NULL, pieces TEXT NOT NULL,
    PRIMARY KEY (line, turn_id, version, event_id)) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS credits_user ON credits (line, user);
`;

type Row = { turn_id: string; version: number; event_id: string; pieces: string };

export class CreditStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(TABLES);
  }

  /** Of events that the version was trained on; each goes with the user who said it. */
  add(version: number, { line, events }: PublishRequest["manifest"], credits: readonly TurnCredit[]): void {
    const users = new Map(events.map(({ eventId, user }) => [eventId, user]));
    for (const { turnId, eventId, pieces } of credits) {
      const user = users.get(eventId);
      if (user === undefined) continue;
      const values = [line, turnId, version, eventId, user, JSON.stringify(pieces)];
      this.#sql.exec("INSERT OR IGNORE INTO credits VALUES (?, ?, ?, ?, ?, ?)", ...values);
    }
  }

  /** Which versions learned from turns, oldest first. */
  of(line: string, turnIds: readonly string[]): (TrainedOn & { turnId: string })[] {
    const query = "SELECT turn_id, version, event_id, pieces FROM credits WHERE line = ? AND turn_id = ? ORDER BY version";
    return turnIds.flatMap((turnId) =>
      this.#sql
        .exec<Row>(query, line, turnId)
        .toArray()
        .map(({ version, event_id, pieces }) => ({
          turnId,
          line,
          version,
          eventId: event_id,
          pieces: TurnCredit.shape.pieces.parse(JSON.parse(pieces)),
        })),
    );
  }

  eraseUser(line: string, user: string): void {
    this.#sql.exec("DELETE FROM credits WHERE line = ? AND user = ?", line, user);
  }
}
