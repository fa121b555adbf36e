/**
 * One turn from opening to end. It is durable when it opens, before the first byte; and when it has finished, with its
 * event, before the last delta. The version is chosen when the answer begins, whatever is published meanwhile.
 */
import { invariant } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { toErrorRecord, type ErrorRecord } from "../../shared/errors.ts";
import type { NewEvent } from "../../shared/events.ts";
import type { Prompted } from "../engine/port.ts";
import type { Env } from "../env.ts";
import { fault } from "../faults.ts";
import { logError } from "../log.ts";
import { AnswerRecorder } from "./answer-recorder.ts";
import { CLIENT_LEFT, elsewhere, nextStateArrived, sessionClosed, turnAborted, turnFinished } from "./events.ts";
import { completionIdOf, newCallId } from "./identity.ts";
import { registerTranscripts } from "./outbox.ts";
import { choosePolicy } from "./choose.ts";
import { pair, type Pairing } from "./pair.ts";
import type { FinishedDelta, TurnDelta, TurnHead, TurnPolicy, TurnRequest } from "./port.ts";
import { prepareTurn, type PreparedTurn } from "./prepare.ts";
import type { OwnCall } from "./step-ledger.ts";
import { unfold, withOwnResults } from "./steps.ts";
import type { OpenedTurn, SessionStore } from "./store.ts";
import { extendChain, messageDigest } from "./transcript.ts";

export type TurnHost = {
  readonly env: Env;
  readonly storage: DurableObjectStorage;
  readonly store: SessionStore;
  /** Sets the alarm that closes the turn if its Worker dies. */
  readonly planAlarm: () => Promise<void>;
};

type Sampled = { readonly recorder: AnswerRecorder; readonly finished: FinishedDelta; readonly prompted: Prompted };
/** What a turn's end means to the answer that it is a part of. */
export type TurnEnd = {
  /** Another turn follows, and the client cannot know the conversation up to this one. */
  readonly goesOn: boolean;
  readonly own: readonly OwnCall[];
  /** The digest of a conversation, and the message at its end, by which the client will refer to the turn. */
  readonly from: string;
  readonly message: ChatMessage;
  /** What stands in the prompt for that message, where it is not all that was said. */
  readonly unseen: readonly ChatMessage[] | undefined;
};

/** A turn's place in its answer. */
export type TurnPlace = {
  readonly turnId: string;
  /** Undefined where nothing can make it an answer of several turns. */
  readonly step: { readonly head: string; readonly step: number } | undefined;
  /** The version that the answer began on; undefined where it begins. */
  readonly policy: TurnPolicy | undefined;
  readonly end: (answer: ChatMessage, finished: FinishedDelta) => TurnEnd;
  readonly signal: AbortSignal;
};

type Running = { readonly prepared: PreparedTurn; readonly opened: OpenedTurn; readonly baseDigest: string };
export type TurnOutcome =
  | { readonly status: "finished"; readonly answer: ChatMessage; readonly finished: FinishedDelta; readonly own: readonly OwnCall[] }
  | { readonly status: "failed"; readonly error: ErrorRecord };

export class TurnRun {
  readonly turnId: string;
  readonly #host: TurnHost;
  readonly #request: TurnRequest;
  readonly #place: TurnPlace;
  readonly #deltas: TurnDelta[] = [];
  #running: Running | undefined;

  constructor(host: TurnHost, request: TurnRequest, place: TurnPlace) {
    this.#host = host;
    this.#request = request;
    this.#place = place;
    this.turnId = place.turnId;
  }

  /** Opens the turn; it is durable when this resolves, and aborted where it cannot be made so. @throws {input/invalid} where it does not fit the context */
  async open(): Promise<{ head: TurnHead; policy: TurnPolicy }> {
    const { env, storage, store, planAlarm } = this.#host;
    const { session, policies } = this.#request;
    const policy = this.#place.policy ?? choosePolicy(session.sessionId, store.pinned(), policies);
    const messages = unfold(this.#request, store.ledger);
    const prepared = await prepareTurn(env, { ...this.#request, messages }, { policy, goesOn: this.#place.policy !== undefined });
    const opened = await this.#record(prepared, policy);
    const running = { prepared, opened, baseDigest: policy.baseDigest };
    try {
      await planAlarm();
      await storage.sync();
      await fault(env, "turn:opened");
    } catch (thrown) {
      // An open turn that nobody samples would have every retry wait for it.
      this.#fail(running, thrown);
      throw thrown;
    }
    this.#running = running;
    const { createdAt, policyLine, policyVersion, policyDigest } = opened;
    return { head: { completionId: completionIdOf(this.turnId), createdAt, policyLine, policyVersion, policyDigest }, policy };
  }

  /** Samples the answer to its end. Never throws: a turn that fails is aborted, and its readers are told. */
  async run(onDeltas: (deltas: readonly TurnDelta[]) => void): Promise<TurnOutcome> {
    invariant(this.#running !== undefined, `turn ${this.turnId}: open() expected before run()`);
    try {
      return await this.#sample(this.#running, onDeltas);
    } catch (thrown) {
      return { status: "failed", error: this.#fail(this.#running, thrown) };
    }
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
      if (this.#place.policy === undefined) store.pin(policy);
      store.openTurn(opened);
      if (this.#place.step !== undefined) store.ledger.openStep(this.#place.step, this.turnId, policy);
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
      policyLine: policy.line,
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
    const { store } = this.#host;
    const { turnId } = nextState;
    store.setNext(turnId, this.#transcriptDigest);
    if (!stored || !store.isRecorded(turnId)) return;
    const messages = withOwnResults(nextState.messages, store.ledger.resultsOf(turnId));
    store.enqueue(nextStateArrived({ session, turnId, now }, messages));
  }

  async #sample(running: Running, onDeltas: (deltas: readonly TurnDelta[]) => void): Promise<TurnOutcome> {
    const { env } = this.#host;
    const recorder = new AnswerRecorder({ logprobs: this.#request.sampling.logprobs, newCallId });
    const { steps, prompted } = running.prepared.answer(this.#place.signal);
    for await (const step of steps) {
      const deltas = recorder.accept(step);
      this.#deltas.push(...deltas);
      onDeltas(deltas);
      if (recorder.stepCount === 1) await fault(env, "token:first");
    }
    await fault(env, "turn:sampled");
    const [answer, finished] = [recorder.message(), { ...recorder.finished(), finishedAt: Date.now() }];
    const end = this.#place.end(answer, finished);
    await this.#finish(running, { recorder, finished, prompted: prompted() }, end);
    return { status: "finished", answer, finished, own: end.own };
  }

  /** The finished turn and its event become durable; the directory learns of the transcript. */
  async #finish(running: Running, sampled: Sampled, { goesOn, own, from, message, unseen }: TurnEnd): Promise<void> {
    const { finished } = sampled;
    const { env, storage, store } = this.#host;
    const { store: stored, turnKind, session, asked } = this.#request;
    const closes = this.#request.closes && !goesOn;
    const [answerDigest, ownDigest] = await Promise.all([extendChain(from, message), messageDigest(message)]);
    const deltas = stored ? [...this.#deltas, finished] : null;
    const now = Date.now();
    store.transaction(() => {
      const digests = { answerDigest, messageDigest: ownDigest };
      const register = turnKind === "main" && !goesOn;
      store.finishTurn({ turnId: this.turnId, ...digests, deltas, register, recallable: asked !== null });
      if (stored) store.ledger.plan(this.turnId, own);
      if (stored && unseen !== undefined) store.ledger.hide(answerDigest, this.turnId, unseen);
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

  #finishedEvent({ prepared, opened, baseDigest }: Running, { recorder, finished, prompted }: Sampled, now: number): NewEvent {
    const { session, tools, metadata, learning } = this.#request;
    const { turnIndex, turnKind, origin, policyLine, policyVersion, policyDigest } = opened;
    const { seed } = prepared;
    const { notes, heldTo, agreedTo, promptTokens, yieldedTo } = prompted;
    const { temperature, topP, parallelToolCalls, responseFormat } = this.#request.sampling;
    const form = { toolChoice: prompted.toolChoice ?? this.#request.sampling.toolChoice, parallelToolCalls, responseFormat };
    return turnFinished(
      { session, turnId: this.turnId, now },
      {
        turnIndex,
        turnKind,
        origin,
        ...elsewhere({ session }, policyLine),
        policyVersion,
        policyDigest,
        ...(yieldedTo === undefined ? {} : { yieldedTo }),
        ...(heldTo.length === 0 ? {} : { heldTo: [...heldTo] }),
        ...(agreedTo === undefined ? {} : { agreedTo }),
        baseDigest,
        messages: [...prepared.messages],
        ...(notes.length === 0 ? {} : { notes: [...notes] }),
        tools: [...tools],
        answer: recorder.message(),
        finishReason: finished.finishReason,
        rollout: recorder.rollout({ promptTokens, seed, temperature, topP, form }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(learning ? {} : { learning }),
      },
    );
  }

  /** Aborts the turn. @returns the error as a client may read it */
  #fail({ opened }: Running, thrown: unknown): ErrorRecord {
    const { store } = this.#host;
    const { session, store: stored } = this.#request;
    const { aborted: abandoned } = this.#place.signal;
    const reason = abandoned ? CLIENT_LEFT : toErrorRecord(thrown).message;
    if (!abandoned) logError("turn:failed", thrown, { turnId: this.turnId });
    store.transaction(() => {
      store.abortTurn(this.turnId);
      if (stored) store.enqueue(turnAborted({ session, turnId: this.turnId, now: Date.now() }, { ...opened, reason }));
    });
    return shownError(thrown);
  }

  get #transcriptDigest(): string {
    const digest = this.#request.digests.at(-1);
    invariant(digest !== undefined, "a digest per message expected, got none");
    return digest;
  }
}

/** What is not ours to tell is told without its message. */
export function shownError(thrown: unknown): ErrorRecord {
  const error = toErrorRecord(thrown);
  return error.code === "internal" ? { ...error, message: "internal error while the answer was made" } : error;
}
