/**
 * One turn from opening to end. It is durable when it opens, before the first byte; and when it has finished, with its
 * event, before the last delta. The version is chosen when it opens, whatever is published meanwhile.
 */
import { invariant } from "../../shared/assert.ts";
import { AppError, toErrorRecord } from "../../shared/errors.ts";
import type { NewEvent } from "../../shared/events.ts";
import type { Prompted } from "../engine/port.ts";
import type { Env } from "../env.ts";
import { fault } from "../faults.ts";
import { logError } from "../log.ts";
import { AnswerRecorder } from "./answer-recorder.ts";
import { CLIENT_LEFT, nextStateArrived, sessionClosed, turnAborted, turnFinished } from "./events.ts";
import { completionIdOf, newCallId, newTurnId } from "./identity.ts";
import { LiveTurn } from "./live-turn.ts";
import { registerTranscripts } from "./outbox.ts";
import { choosePolicy } from "./choose.ts";
import { pair, type Pairing } from "./pair.ts";
import type { TurnDelta, TurnPolicy, TurnRequest } from "./port.ts";
import { prepareTurn, type PreparedTurn } from "./prepare.ts";
import type { OpenedTurn, SessionStore } from "./store.ts";
import { extendChain, messageDigest } from "./transcript.ts";

export type TurnHost = {
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: SessionStore;
  /** Sets the alarm that closes the turn if its Worker dies. */
  readonly planAlarm: () => Promise<void>;
};

type Sampled = { readonly recorder: AnswerRecorder; readonly prompted: Prompted };
type Running = { readonly prepared: PreparedTurn; readonly opened: OpenedTurn; readonly live: LiveTurn; readonly baseDigest: string };

export class TurnRun {
  readonly turnId: string;
  readonly #host: TurnHost;
  readonly #request: TurnRequest;
  readonly #abort = new AbortController();
  #running: Running | undefined;

  constructor(host: TurnHost, request: TurnRequest) {
    this.#host = host;
    this.#request = request;
    this.turnId = newTurnId(request.session.sessionId);
  }

  /** Every reader has gone, so the turn is being aborted. */
  get abandoned(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Opens the turn; it is durable when this resolves. @throws {input/invalid} where it does not fit the context */
  async open(): Promise<LiveTurn> {
    const { env, storage, planAlarm } = this.#host;
    const { session, policies } = this.#request;
    const policy = choosePolicy(session.sessionId, this.#host.store.pinned(), policies);
    const prepared = await prepareTurn(env, this.#request, policy);
    const opened = await this.#record(prepared, policy);
    await planAlarm();
    await storage.sync();
    await fault(env, "turn:opened");
    const live = this.#createLive(opened);
    this.#running = { prepared, opened, live, baseDigest: policy.baseDigest };
    return live;
  }

  /** Samples the answer to its end. Never throws: a turn that fails is aborted, and its readers are told. */
  async run(): Promise<void> {
    invariant(this.#running !== undefined, `turn ${this.turnId}: open() expected before run()`);
    const { live } = this.#running;
    try {
      const finished = await this.#sample(this.#running);
      live.push(finished);
    } catch (thrown) {
      live.push(this.#fail(this.#running, thrown));
    }
    live.end();
    await fault(this.#host.env, "turn:delivered");
  }

  async #record(prepared: PreparedTurn, policy: TurnPolicy): Promise<OpenedTurn> {
    const { store } = this.#host;
    const { messages, digests, session, ambiguous, follows } = this.#request;
    const lastAnswer = messages.findLast(({ role }) => role === "assistant");
    const lastAnswerDigest = lastAnswer === undefined ? undefined : await messageDigest(lastAnswer);
    const now = Date.now();
    store.begin(session, now);
    return store.transaction(() => {
      const pairing = pair({ messages, digests, lastAnswerDigest, follows }, store.answeredTurns());
      const opened = this.#toOpened(prepared, { policy, origin: ambiguous ? "ambiguous" : pairing.origin, now });
      store.pin(policy);
      store.openTurn(opened);
      if (ambiguous) store.count("ambiguous");
      this.#recordNextState(pairing, now);
      return opened;
    });
  }

  #toOpened(
    { seed }: PreparedTurn,
    { policy, origin, now }: { policy: TurnPolicy; origin: OpenedTurn["origin"]; now: number },
  ): OpenedTurn {
    const { turnKind, retry, store: stored, messages, metadata, asked } = this.#request;
    return {
      turnIndex: this.#host.store.turnCount(),
      turnId: this.turnId,
      turnKind,
      origin,
      retry,
      transcriptDigest: this.#transcriptDigest,
      policyVersion: policy.version,
      policyDigest: policy.policyDigest,
      seed,
      request: stored ? JSON.stringify({ messages, metadata, asked }) : null,
      createdAt: now,
    };
  }

  /** Only what a main turn says, and only where it may be kept, is a signal about the turn before. */
  #recordNextState({ nextState }: Pairing, now: number): void {
    const { session, turnKind, store: stored } = this.#request;
    if (nextState === undefined || turnKind === "side") return;
    this.#host.store.setNext(nextState.turnId, this.#transcriptDigest);
    const kept = stored && this.#host.store.isRecorded(nextState.turnId);
    if (kept) this.#host.store.enqueue(nextStateArrived({ session, turnId: nextState.turnId, now }, nextState.messages));
  }

  #createLive({ createdAt, policyVersion, policyDigest }: OpenedTurn): LiveTurn {
    const head = { completionId: completionIdOf(this.turnId), createdAt, policyVersion, policyDigest };
    return new LiveTurn(head, { onAbandoned: () => this.#abort.abort(), onDelivered: () => this.#host.store.setDelivered(this.turnId) });
  }

  async #sample(running: Running): Promise<TurnDelta> {
    const { env } = this.#host;
    const { prepared, live } = running;
    const recorder = new AnswerRecorder({ logprobs: this.#request.sampling.logprobs, newCallId });
    const { steps, prompted } = prepared.answer(this.#abort.signal);
    for await (const step of steps) {
      live.push(...recorder.accept(step));
      if (recorder.stepCount === 1) await fault(env, "token:first");
    }
    await fault(env, "turn:sampled");
    await this.#finish(running, { recorder, prompted: prompted() });
    return recorder.finished();
  }

  /** The finished turn and its event become durable; the directory learns of the transcript. */
  async #finish(running: Running, sampled: Sampled): Promise<void> {
    const { recorder } = sampled;
    const { env, storage, store } = this.#host;
    const { store: stored, turnKind, closes, session, asked } = this.#request;
    const answer = recorder.message();
    const [answerDigest, ownDigest] = await Promise.all([extendChain(this.#transcriptDigest, answer), messageDigest(answer)]);
    const deltas = stored ? [...running.live.deltas, recorder.finished()] : null;
    const now = Date.now();
    store.transaction(() => {
      const digests = { answerDigest, messageDigest: ownDigest };
      store.finishTurn({ turnId: this.turnId, ...digests, deltas, register: turnKind === "main", recallable: asked !== null });
      if (stored) store.enqueue(this.#finishedEvent(running, sampled, now));
      if (closes) store.close(now);
      if (closes) store.enqueue(sessionClosed({ session, turnId: this.turnId, now }, "done"));
    });
    await storage.sync();
    await fault(env, "turn:finished");
    // A directory that cannot be reached is told later, by the alarm.
    await registerTranscripts(env, store).catch((thrown: unknown) => logError("directory:unreachable", thrown, { turnId: this.turnId }));
    await fault(env, "turn:registered");
  }

  #finishedEvent({ prepared, opened, baseDigest }: Running, { recorder, prompted }: Sampled, now: number): NewEvent {
    const { session, tools, metadata, learning } = this.#request;
    const { turnIndex, turnKind, origin, policyVersion, policyDigest } = opened;
    const { seed } = prepared;
    const { notes, promptTokens } = prompted;
    const { temperature, topP, toolChoice, parallelToolCalls, responseFormat } = this.#request.sampling;
    const form = { toolChoice, parallelToolCalls, responseFormat };
    return turnFinished(
      { session, turnId: this.turnId, now },
      {
        turnIndex,
        turnKind,
        origin,
        policyVersion,
        policyDigest,
        baseDigest,
        messages: [...prepared.messages],
        ...(notes.length === 0 ? {} : { notes: [...notes] }),
        tools: [...tools],
        answer: recorder.message(),
        finishReason: recorder.finished().finishReason,
        rollout: recorder.rollout({ promptTokens, seed, temperature, topP, form }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(learning ? {} : { learning }),
      },
    );
  }

  #fail({ opened }: Running, thrown: unknown): TurnDelta {
    const { store } = this.#host;
    const error = toErrorRecord(thrown);
    const reason = this.abandoned ? CLIENT_LEFT : error.message;
    if (!this.abandoned) logError("turn:failed", thrown, { turnId: this.turnId });
    store.transaction(() => {
      store.abortTurn(this.turnId);
      store.enqueue(
        turnAborted(
          { session: this.#request.session, turnId: this.turnId, now: Date.now() },
          { turnIndex: opened.turnIndex, policyVersion: opened.policyVersion, reason },
        ),
      );
    });
    const shown =
      thrown instanceof AppError && error.code !== "internal" ? error : { ...error, message: "internal error while the answer was made" };
    return { kind: "failed", error: shown };
  }

  get #transcriptDigest(): string {
    const digest = this.#request.digests.at(-1);
    invariant(digest !== undefined, "a digest per message expected, got none");
    return digest;
  }
}
