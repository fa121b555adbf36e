/** What a session remembers, in its own SQLite. Every method is one synchronous step. */
import { NewEvent, type TurnOrigin } from "../../shared/events.ts";
import type { AnsweredTurn } from "./pair.ts";
import { readPin, writePin } from "./pin.ts";
import type { SessionIdentity, TurnDelta, TurnHead, TurnPolicy } from "./port.ts";
import type { KnownTurn, RetryFacts } from "./retry.ts";
import {
  type Counter,
  integer,
  type Row,
  type SessionState,
  StoredRequest,
  text,
  textOrNull,
  toHead,
  toSessionState,
  turnState,
} from "./rows.ts";
import { readRecord, writeRecord } from "./records.ts";
import { createTables, hasTables, upgradeTables } from "./schema.ts";
import { StepLedger } from "./step-ledger.ts";

export type OpenedTurn = {
  readonly turnIndex: number;
  readonly turnId: string;
  readonly turnKind: "main" | "side";
  readonly origin: TurnOrigin;
  readonly retry: RetryFacts;
  readonly transcriptDigest: string;
  readonly policyLine: string;
  readonly policyVersion: number;
  readonly policyDigest: string;
  readonly seed: number;
  /** Null where nothing is to be stored. */
  readonly request: string | null;
  readonly createdAt: number;
};

export type FinishedTurn = {
  readonly turnId: string;
  readonly answerDigest: string;
  readonly messageDigest: string;
  /** Null where nothing is to be stored. */
  readonly deltas: readonly TurnDelta[] | null;
  /** Whether the directory has to learn of the transcript. */
  readonly register: boolean;
  /** Whether the request is kept beside the answer. */
  readonly recallable: boolean;
};

export type OpenTurn = Pick<OpenedTurn, "turnId" | "turnIndex" | "policyLine" | "policyVersion"> & {
  /** Whether anything of it may be kept. */
  readonly stored: boolean;
};

export class SessionStore {
  readonly #storage: DurableObjectStorage;
  /** Answers of several turns, and the calls that the edge runs. */
  readonly ledger: StepLedger;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    upgradeTables(storage.sql);
    this.ledger = new StepLedger(storage.sql);
  }

  /** All of `step` or nothing. */
  transaction<Value>(step: () => Value): Value {
    return this.#storage.transactionSync(step);
  }

  /** Begins the session at its first request. */
  begin(identity: SessionIdentity, now: number): void {
    // What its agent learns from may have changed since.
    if (hasTables(this.#storage.sql)) return this.#run("UPDATE session SET line = ?1 WHERE line <> ?1", identity.line);
    createTables(this.#storage.sql);
    const { sessionId, agent, line, keyId, user, name } = identity;
    this.#run(
      "INSERT INTO session (session_id, agent, line, key_id, user, name, active_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      sessionId,
      agent,
      line,
      keyId,
      user,
      name,
      now,
    );
  }

  /** Undefined where no session was begun. */
  state(): SessionState | undefined {
    if (!hasTables(this.#storage.sql)) return undefined;
    const [row] = this.#rows("SELECT * FROM session");
    return row === undefined ? undefined : toSessionState(row);
  }

  /** Turns that a request may be a retry of, oldest first. */
  turnsLike({ requestDigest, idempotencyKey }: RetryFacts): KnownTurn[] {
    const rows = this.#rows(
      "SELECT * FROM turns WHERE request_digest = ? OR idempotency_key = ? ORDER BY turn_index",
      requestDigest,
      idempotencyKey ?? null,
    );
    return rows.map((row) => ({
      turnId: text(row, "turn_id"),
      requestDigest: text(row, "request_digest"),
      idempotencyKey: textOrNull(row, "idempotency_key"),
      state: turnState(row),
      delivered: row["delivered"] === 1,
      replayable: row["recorded"] === 1,
    }));
  }

  /** Finished main turns, oldest first. */
  answeredTurns(): AnsweredTurn[] {
    const rows = this.#rows(
      "SELECT turn_id, transcript_digest, answer_digest, message_digest, next_digest FROM turns WHERE state = 'finished' AND turn_kind = 'main' ORDER BY turn_index",
    );
    return rows.map((row) => ({
      turnId: text(row, "turn_id"),
      transcriptDigest: text(row, "transcript_digest"),
      answerDigest: text(row, "answer_digest"),
      messageDigest: text(row, "message_digest"),
      nextDigest: textOrNull(row, "next_digest"),
    }));
  }

  /** The version that the conversation stays on; undefined where it begins. */
  pinned(): TurnPolicy | undefined {
    return readPin(this.#storage.sql);
  }

  pin(policy: TurnPolicy): void {
    writePin(this.#storage.sql, policy);
  }

  openTurn(turn: OpenedTurn): void {
    const {
      turnIndex,
      turnId,
      turnKind,
      origin,
      retry,
      transcriptDigest,
      policyLine,
      policyVersion,
      policyDigest,
      seed,
      request,
      createdAt,
    } = turn;
    this.#run(
      `INSERT INTO turns (turn_index, turn_id, turn_kind, origin, state, request_digest, idempotency_key, transcript_digest, policy_line, policy_version, policy_digest, seed, created_at, request)
       VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      turnIndex,
      turnId,
      turnKind,
      origin,
      retry.requestDigest,
      retry.idempotencyKey ?? null,
      transcriptDigest,
      policyLine,
      policyVersion,
      policyDigest,
      seed,
      createdAt,
      request,
    );
    this.#run("UPDATE session SET active_at = ?, closed_at = NULL", createdAt);
    this.count("generations");
  }

  /** Says that the turn's next state has arrived. */
  setNext(turnId: string, nextDigest: string): void {
    this.#run("UPDATE turns SET next_digest = ? WHERE turn_id = ?", nextDigest, turnId);
  }

  finishTurn({ turnId, answerDigest, messageDigest, deltas, register, recallable }: FinishedTurn): void {
    this.#run(
      "UPDATE turns SET state = 'finished', answer_digest = ?, message_digest = ?, recorded = ?, registered = ?, request = iif(?, request, NULL) WHERE turn_id = ?",
      answerDigest,
      messageDigest,
      deltas === null ? 0 : 1,
      register ? 0 : 1,
      recallable ? 1 : 0,
      turnId,
    );
    if (deltas !== null) writeRecord(this.#storage.sql, turnId, deltas);
  }

  abortTurn(turnId: string): void {
    this.#run("UPDATE turns SET state = 'aborted', request = NULL WHERE turn_id = ?", turnId);
    this.count("aborted");
  }

  /** The answer's last reader may come after the session was erased. */
  setDelivered(turnId: string): void {
    if (hasTables(this.#storage.sql)) this.#run("UPDATE turns SET delivered = 1 WHERE turn_id = ?", turnId);
  }

  openTurns(): OpenTurn[] {
    const rows = this.#rows(
      "SELECT turn_id, turn_index, policy_line, policy_version, request IS NOT NULL AS stored FROM turns WHERE state = 'open' ORDER BY turn_index",
    );
    return rows.map((row) => ({
      turnId: text(row, "turn_id"),
      turnIndex: integer(row, "turn_index"),
      policyLine: text(row, "policy_line"),
      policyVersion: integer(row, "policy_version"),
      stored: row["stored"] === 1,
    }));
  }

  /** When its first turn opened; undefined before. */
  begunAt(): number | undefined {
    if (!hasTables(this.#storage.sql)) return undefined;
    return this.#rows("SELECT created_at FROM turns ORDER BY turn_index LIMIT 1").map((row) => integer(row, "created_at"))[0];
  }

  /** How many turns were ever opened; the next one's index. */
  turnCount(): number {
    return this.#rows("SELECT COUNT(*) AS turns FROM turns").reduce((_, row) => integer(row, "turns"), 0);
  }

  /** Whether the turn's answer is kept. */
  isRecorded(turnId: string): boolean {
    return this.#rows("SELECT 1 FROM turns WHERE turn_id = ? AND recorded = 1", turnId).length > 0;
  }

  /** The recorded answer of a finished turn, undefined where there is none. */
  record(turnId: string): { head: TurnHead; deltas: TurnDelta[] } | undefined {
    const [row] = this.#rows("SELECT * FROM turns WHERE turn_id = ? AND recorded = 1", turnId);
    return row === undefined ? undefined : { head: toHead(row), deltas: readRecord(this.#storage.sql, turnId) };
  }

  /** What a recallable turn was asked; undefined for every other. */
  askedOf(turnId: string): StoredRequest | undefined {
    const [row] = this.#rows("SELECT request FROM turns WHERE turn_id = ? AND recorded = 1 AND request IS NOT NULL", turnId);
    return row === undefined ? undefined : StoredRequest.parse(JSON.parse(text(row, "request")));
  }

  /** The answer stays, for retries; the turn is not recallable any more. */
  forgetAsked(turnId: string): void {
    this.#run("UPDATE turns SET request = NULL WHERE turn_id = ? AND state = 'finished'", turnId);
  }

  /** Whether the turn was answered and nothing of it was to be kept. */
  isUnstored(turnId: string): boolean {
    return this.#rows("SELECT 1 FROM turns WHERE turn_id = ? AND state = 'finished' AND recorded = 0", turnId).length > 0;
  }

  lastTurnId(): string | undefined {
    return this.#rows("SELECT turn_id FROM turns ORDER BY turn_index DESC LIMIT 1").map((row) => text(row, "turn_id"))[0];
  }

  /** Transcripts of which the directory has to learn. */
  unregistered(): { turnId: string; answerDigest: string }[] {
    const rows = this.#rows("SELECT turn_id, answer_digest FROM turns WHERE registered = 0");
    return rows.map((row) => ({ turnId: text(row, "turn_id"), answerDigest: text(row, "answer_digest") }));
  }

  setRegistered(turnId: string): void {
    this.#run("UPDATE turns SET registered = 1 WHERE turn_id = ?", turnId);
  }

  /** Closes the session; the directory has to learn of it for every transcript. */
  close(now: number): void {
    this.#run("UPDATE session SET closed_at = ?", now);
    this.#run("UPDATE turns SET registered = 0 WHERE state = 'finished' AND turn_kind = 'main'");
  }

  count(counter: Counter): void {
    this.#run(`UPDATE session SET ${counter} = ${counter} + 1, counted = 0`);
  }

  /** Says that these totals are where they survive; totals that have grown since then stay to be written. */
  setCounted({ generations, replays, aborted, ambiguous }: Readonly<Record<Counter, number>>): void {
    this.#run(
      "UPDATE session SET counted = 1 WHERE generations = ? AND replays = ? AND aborted = ? AND ambiguous = ?",
      generations,
      replays,
      aborted,
      ambiguous,
    );
  }

  /** @throws where it is no event that the log takes, which would stay here and keep all behind it from the log */
  enqueue(event: NewEvent): void {
    const { eventId } = NewEvent.parse(event);
    this.#run("INSERT INTO outbox (event_id, event) VALUES (?, ?) ON CONFLICT (event_id) DO NOTHING", eventId, JSON.stringify(event));
  }

  /** Whether the log lacks an event. */
  owesEvents(): boolean {
    return this.#rows("SELECT 1 FROM outbox LIMIT 1").length > 0;
  }

  /** The oldest events that the log lacks, and the position of the last of them. */
  outbox(limit: number): { events: NewEvent[]; last: number } {
    const rows = this.#rows("SELECT position, event FROM outbox ORDER BY position LIMIT ?", limit);
    return {
      events: rows.map((row) => NewEvent.parse(JSON.parse(text(row, "event")))),
      last: rows.reduce((_, row) => integer(row, "position"), 0),
    };
  }

  dequeue(last: number): void {
    this.#run("DELETE FROM outbox WHERE position <= ?", last);
  }

  #rows(query: string, ...bindings: SqlStorageValue[]): Row[] {
    return this.#storage.sql.exec<Row>(query, ...bindings).toArray();
  }

  #run(query: string, ...bindings: SqlStorageValue[]): void {
    this.#storage.sql.exec(query, ...bindings);
  }
}
