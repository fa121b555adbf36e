/**
 * A conversation: orders its turns, answers retries from the record, pairs next states with the turns that they
 * follow, and owes its events to the log until the log has them. A shell: what is a retry and what is a next state is
 * decided in retry.ts and pair.ts, an answer's life is in answer-run.ts and a turn's in turn-run.ts, everything periodic in chores.ts.
 */
import { DurableObject } from "cloudflare:workers";
import { assertNever, invariant } from "../../shared/assert.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import type { Env } from "../env.ts";
import { logError } from "../log.ts";
import { SessionChores } from "./chores.ts";
import { feedbackGiven, readFeedback } from "./events.ts";
import { countChanges, MOST_GIVEN } from "./given.ts";
import { parseAnswerId } from "./identity.ts";
import { AnswerRun } from "./answer-run.ts";
import { LiveTurn } from "./live-turn.ts";
import type {
  AnswerResult,
  FeedbackRequest,
  FeedbackResult,
  ForgetResult,
  RecallResult,
  SessionPort,
  TurnDelta,
  TurnHead,
  TurnRequest,
} from "./port.ts";
import { decideRetry, holdsClaim, keyConflict, type KnownTurn, type RetryFacts, withRunning } from "./retry.ts";
import { ShownAnswer } from "./shown-answer.ts";
import { lastTurnOf, recordedAnswer } from "./steps.ts";
import { SessionStore } from "./store.ts";
import type { Scope } from "./transcript.ts";
import { TurnQueue } from "./turn-queue.ts";
import type { TurnHost } from "./turn-run.ts";

/** An answer from its request's arrival to its end; it may still wait for those before it. */
type Flight = { readonly run: AnswerRun; readonly retry: RetryFacts; readonly opened: Promise<LiveTurn> };

/** Answers of one session that are being made or wait: each holds its request in memory, and all but one wait for those before them. */
const MOST_FLIGHTS = 100;
const FULL_RETRY_S = 10;

/** How long a retry waits for a first request that the directory knows of and that has not arrived here. */
const FIRST_REQUEST_MS = 1_000;

export class SessionObject extends DurableObject<Env> implements SessionPort {
  readonly #store: SessionStore;
  readonly #chores: SessionChores;
  readonly #host: TurnHost;
  readonly #queue = new TurnQueue();
  readonly #flights = new Map<string, Flight>();
  #announceFirst: () => void = () => undefined;
  readonly #firstRequest = new Promise<void>((resolve) => (this.#announceFirst = resolve));

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { storage } = ctx;
    this.#store = new SessionStore(storage);
    const inOrder = (step: () => Promise<void>): Promise<void> => this.#queue.run(step);
    this.#chores = new SessionChores({ env, storage, store: this.#store, runs: (turnId) => this.#runs(turnId), inOrder });
    this.#host = { env, storage, store: this.#store, planAlarm: () => this.#chores.planAlarm() };
    // Nothing runs in a new object, so a turn that is open was cut off with its Worker.
    this.#chores.abortOrphans();
  }

  async nameFor({ agent, keyId, user }: Scope): Promise<string | undefined> {
    const session = this.#store.state();
    return session?.agent === agent && session.keyId === keyId && session.user === user ? session.name : undefined;
  }

  async answer(request: TurnRequest): Promise<AnswerResult> {
    try {
      return await this.#answer(request);
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code === "internal")
        logError("turn:refused", thrown, { sessionId: request.session.sessionId });
      return { status: "refused", error: toErrorRecord(thrown), claimed: holdsClaim(request.retry, this.#turnsLike(request.retry)) };
    }
  }

  /** Records feedback on a completion that this session holds, of the key that asked for it or of whoever looks after its agent. */
  async giveFeedback(request: FeedbackRequest): Promise<FeedbackResult> {
    const session = this.#store.state();
    const answerId = parseAnswerId(request.completionId)?.turnId;
    if (session === undefined || answerId === undefined) return { status: "unknown" };
    // Whoever judges an answer judges all of it, so it is the next state of its last turn.
    const turnId = lastTurnOf(this.#store, answerId);
    if ("keyId" in request.by ? session.keyId !== request.by.keyId : session.agent !== request.by.agent) return { status: "unknown" };
    if (!this.#store.isRecorded(turnId)) return { status: "unknown" };
    const { given, digest } = await readFeedback(request);
    const most = "keyId" in request.by ? MOST_GIVEN : Infinity;
    const event = this.#store.transaction(() => {
      const changes = countChanges(this.ctx.storage.sql, turnId, { digest, most });
      if (changes === undefined) return undefined;
      const found = feedbackGiven({ session, turnId, now: Date.now() }, given, { digest, changes });
      this.#store.enqueue(found);
      return found;
    });
    if (event === undefined) return { status: "full", most };
    await this.#chores.planAlarm();
    await this.ctx.storage.sync();
    this.ctx.waitUntil(this.#chores.pay());
    return { status: "recorded", eventId: event.eventId };
  }

  async recall({ turnId, keyId }: { turnId: string; keyId: string }): Promise<RecallResult> {
    const session = this.#store.state();
    if (session === undefined || session.keyId !== keyId) return { status: "unknown" };
    if (this.#store.isUnstored(turnId)) return { status: "unstored" };
    const [request, record] = [this.#store.askedOf(turnId), this.#recorded(turnId)];
    if (request === undefined || record === undefined) return { status: "unknown" };
    const { agent, user, sessionId } = session;
    return { status: "recalled", scope: { agent, keyId, user }, sessionId, turnId, ...record, ...request };
  }

  async forget(turn: { turnId: string; keyId: string }): Promise<ForgetResult> {
    const recalled = await this.recall(turn);
    if (recalled.status !== "recalled") return recalled;
    this.#store.forgetAsked(turn.turnId);
    await this.ctx.storage.sync();
    return { status: "forgotten" };
  }

  async erase(of: { user: string } | { agent: string }): Promise<void> {
    // Behind the turn that runs: it would write again.
    await this.#queue.run(async () => {
      const session = this.#store.state();
      if ("user" in of ? session?.user === of.user : session?.agent === of.agent) await this.#chores.erase();
    });
  }

  override async alarm(): Promise<void> {
    if (this.#store.state() !== undefined) await this.#chores.ring();
  }

  async #answer(request: TurnRequest): Promise<AnswerResult> {
    if (request.retryOnly) await this.#awaitFirstRequest();
    else this.#announceFirst();
    const decision = decideRetry(request.retry, this.#turnsLike(request.retry), { opens: request.retryOnly });
    switch (decision.kind) {
      case "conflict":
        throw keyConflict();
      case "join":
        return answering(await this.#join(decision.turnId));
      case "replay":
        return answering(await this.#replay(decision.turnId, request));
      case "new":
        return request.retryOnly ? { status: "new" } : answering(await this.#start(request, undefined));
      default:
        return assertNever(decision);
    }
  }

  async #awaitFirstRequest(): Promise<void> {
    if (this.#store.state() !== undefined || this.#flights.size > 0) return;
    await Promise.race([this.#firstRequest, scheduler.wait(FIRST_REQUEST_MS)]);
  }

  #turnsLike(retry: RetryFacts): KnownTurn[] {
    const recorded = this.#store.state() === undefined ? [] : this.#store.turnsLike(retry);
    const running = [...this.#flights].map(([turnId, { run, retry: facts }]) => ({ turnId, retry: facts, abandoned: run.abandoned }));
    return withRunning(recorded, running);
  }

  async #join(turnId: string): Promise<LiveTurn> {
    const flight = this.#flights.get(turnId);
    invariant(flight !== undefined, `turn ${turnId}: a running turn expected, got one that nobody samples`);
    const live = await flight.opened;
    this.#countReplay();
    return live;
  }

  /** Reads an answer again; one that was cut off between its turns is brought to its end first. */
  async #replay(turnId: string, request: TurnRequest): Promise<LiveTurn> {
    const recorded = this.#recorded(turnId);
    this.#countReplay();
    if (recorded === undefined) return this.#start(request, turnId);
    return LiveTurn.recorded(recorded.head, recorded.deltas, { onDelivered: () => this.#store.setDelivered(turnId) });
  }

  /** The whole answer as its client has seen it, undefined where a part of it is not on record. */
  #recorded(turnId: string): { head: TurnHead; deltas: TurnDelta[] } | undefined {
    const record = this.#store.record(turnId);
    if (record === undefined || this.#store.ledger.turnsOf(turnId).length === 0) return record;
    const deltas = recordedAnswer(this.#store, new ShownAnswer(), turnId);
    return deltas === undefined ? undefined : { head: record.head, deltas };
  }

  #runs(turnId: string): boolean {
    return [...this.#flights.values()].some(({ run }) => run.samples(turnId));
  }

  #countReplay(): void {
    this.#store.count("replays");
    this.ctx.waitUntil(this.#chores.pay());
  }

  /**
   * Resolves once the turn is open and durable. @param recordedId of the answer to go on from; undefined for a new one
   * @throws {auth/limited} where as many wait as may
   */
  #start(request: TurnRequest, recordedId: string | undefined): Promise<LiveTurn> {
    if (this.#flights.size >= MOST_FLIGHTS) throw fullSession();
    const follows = request.follows === undefined ? undefined : lastTurnOf(this.#store, request.follows);
    const run = new AnswerRun(this.#host, { ...request, follows }, recordedId);
    const opened = new Promise<LiveTurn>((resolve, reject) => this.ctx.waitUntil(this.#runInOrder(run, { resolve, reject })));
    this.#flights.set(run.turnId, { run, retry: request.retry, opened });
    return opened;
  }

  async #runInOrder(run: AnswerRun, opened: { resolve: (live: LiveTurn) => void; reject: (thrown: unknown) => void }): Promise<void> {
    const turn = this.#queue.run(async () => {
      opened.resolve(await run.open());
      await run.run();
    });
    // Whoever is told that it was refused finds no flight any more.
    const land = (): boolean => this.#flights.get(run.turnId)?.run === run && this.#flights.delete(run.turnId);
    await turn.then(land, (thrown: unknown) => {
      land();
      opened.reject(thrown);
    });
    if (this.#store.state() !== undefined) await this.#chores.pay();
  }
}

function fullSession(): AppError {
  const message = `at most ${MOST_FLIGHTS} answers of one session expected that wait, got one more; try again in ${FULL_RETRY_S} s, or in another session`;
  return new AppError("auth/limited", message, { details: { code: "rate_limit_exceeded", retryAfterSeconds: FULL_RETRY_S } });
}

function answering(live: LiveTurn): AnswerResult {
  return { status: "answering", head: live.head, deltas: live.read() };
}
