/**
 * What a session keeps of answers that took several turns: which turns, on which version, and every call of a tool that the edge
 * runs, from the moment it is planned. A call is on record as begun before it is sent, so nothing ever sends it twice.
 */
import { z } from "zod";
import { ChatMessage } from "../../shared/chat.ts";
import { ToolOutcome, UNKNOWN_OUTCOME } from "../tools/outcome.ts";
import { hasTable } from "../sqlite.ts";
import type { TurnPolicy } from "./port.ts";
import { policyText, toPolicy } from "./rows.ts";

const TABLES = [
  // Turns of one answer in order. `head` is the first one's id, which is the answer's.
  `CREATE TABLE IF NOT EXISTS steps (
    head TEXT NOT NULL, step INTEGER NOT NULL, turn_id TEXT NOT NULL, policy TEXT NOT NULL, PRIMARY KEY (head, step)) WITHOUT ROWID`,
  // Which answer a turn is of.
  `CREATE INDEX IF NOT EXISTS steps_turn ON steps (turn_id)`,
  // Calls that the edge runs, by their place among the turn's calls. `outcome` is null until the tool has answered.
  `CREATE TABLE IF NOT EXISTS tool_calls (
    turn_id TEXT NOT NULL, position INTEGER NOT NULL, call_id TEXT NOT NULL, label TEXT NOT NULL, dropped INTEGER NOT NULL, begun INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    PRIMARY KEY (turn_id, position)) WITHOUT ROWID`,
  // What stands in the prompt for an answer of which the client has seen a part: by the digest of the conversation as the client has it.
  `CREATE TABLE IF NOT EXISTS unseen (digest TEXT PRIMARY KEY, turn_id TEXT NOT NULL, messages TEXT NOT NULL) WITHOUT ROWID`,
];

/** A call of a tool that the edge runs; one that is dropped is not run, because the answer ended with it or nothing of it may be kept. */
export type OwnCall = { readonly position: number; readonly callId: string; readonly label: string; readonly dropped: boolean };
export type LedgerCall = OwnCall & { readonly begun: boolean; readonly outcome: ToolOutcome | undefined };

type CallRow = { position: number; call_id: string; label: string; dropped: number; begun: number; outcome: string | null };

export class StepLedger {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Puts a turn in its place; one that took the place before was aborted. */
  openStep({ head, step }: { head: string; step: number }, turnId: string, policy: TurnPolicy): void {
    for (const statement of TABLES) this.#sql.exec(statement);
    this.#sql.exec(
      "INSERT OR REPLACE INTO steps (head, step, turn_id, policy) VALUES (?, ?, ?, ?)",
      head,
      step,
      turnId,
      policyText(policy),
    );
  }

  /** The turns of an answer in order; none where it is of one turn that no tool was offered to. */
  turnsOf(head: string): string[] {
    return this.#rows<{ turn_id: string }>("SELECT turn_id FROM steps WHERE head = ? ORDER BY step", head).map(
      ({ turn_id: turnId }) => turnId,
    );
  }

  /** The version that an answer began on. */
  policyOf(head: string): TurnPolicy | undefined {
    const [row] = this.#rows<{ policy: string }>("SELECT policy FROM steps WHERE head = ? AND step = 0", head);
    return row === undefined ? undefined : toPolicy(row.policy);
  }

  plan(turnId: string, calls: readonly OwnCall[]): void {
    const insert = "INSERT INTO tool_calls (turn_id, position, call_id, label, dropped) VALUES (?, ?, ?, ?, ?)";
    for (const { position, callId, label, dropped } of calls) this.#sql.exec(insert, turnId, position, callId, label, dropped ? 1 : 0);
  }

  callsOf(turnId: string): LedgerCall[] {
    return this.#rows<CallRow>("SELECT * FROM tool_calls WHERE turn_id = ? ORDER BY position", turnId).map(
      ({ position, call_id: callId, label, dropped, begun, outcome }) => ({
        ...{ position, callId, label, dropped: dropped === 1, begun: begun === 1 },
        outcome: outcome === null ? undefined : ToolOutcome.parse(JSON.parse(outcome)),
      }),
    );
  }

  begin(turnId: string, position: number): void {
    this.#sql.exec("UPDATE tool_calls SET begun = 1 WHERE turn_id = ? AND position = ?", turnId, position);
  }

  finish(turnId: string, position: number, outcome: ToolOutcome): void {
    this.#sql.exec("UPDATE tool_calls SET outcome = ? WHERE turn_id = ? AND position = ?", JSON.stringify(outcome), turnId, position);
  }

  /** The results of a turn's own calls as messages. */
  resultsOf(turnId: string): ChatMessage[] {
    const run = this.callsOf(turnId).filter(({ dropped }) => !dropped);
    return run.map(({ callId, outcome = UNKNOWN_OUTCOME }) => ({ role: "tool", content: outcome.text, tool_call_id: callId }));
  }

  /** Keeps what the policy said and read up to and in the turn, for the conversation in which the client sends back what it has seen of it. */
  hide(digest: string, turnId: string, messages: readonly ChatMessage[]): void {
    this.#sql.exec("INSERT OR REPLACE INTO unseen (digest, turn_id, messages) VALUES (?, ?, ?)", digest, turnId, JSON.stringify(messages));
  }

  /** What stands for the answer at the end of that conversation: its messages, and the results of the edge's calls in the last of them. */
  unseen(digest: string): { messages: ChatMessage[]; results: ChatMessage[] } | undefined {
    const [row] = this.#rows<{ turn_id: string; messages: string }>("SELECT turn_id, messages FROM unseen WHERE digest = ?", digest);
    return row === undefined
      ? undefined
      : { messages: z.array(ChatMessage).parse(JSON.parse(row.messages)), results: this.resultsOf(row.turn_id) };
  }

  /** The turn at the end of that conversation. */
  turnOf(digest: string): string | undefined {
    return this.#rows<{ turn_id: string }>("SELECT turn_id FROM unseen WHERE digest = ?", digest)[0]?.turn_id;
  }

  /** Sessions in which no tool was ever offered have no tables. */
  #rows<Row extends Record<string, SqlStorageValue>>(query: string, binding: string): Row[] {
    if (!hasTable(this.#sql, "unseen")) return [];
    return this.#sql.exec<Row>(query, binding).toArray();
  }
}
