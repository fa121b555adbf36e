/**
 * What one request is answered with: a turn, and where it calls tools that the edge runs, their results and the turns that follow, all on the
 * version that the first began on. Each turn is durable like any other; each call is on record before it is sent and its result before
 * it is used. So an answer that was cut off goes on from the record, and no tool runs twice for it.
 */
import { invariant } from "../../shared/assert.ts";
import type { ChatMessage } from "../../shared/chat.ts";
import { abortedByReader, AppError, type ErrorRecord } from "../../shared/errors.ts";
import { fault } from "../faults.ts";
import { logError } from "../log.ts";
import { type ToolOutcome, unavailable, UNKNOWN_OUTCOME } from "../tools/outcome.ts";
import { runTool } from "../tools/runner.ts";
import { newTurnId } from "./identity.ts";
import { LiveTurn } from "./live-turn.ts";
import type { FinishedDelta, TurnDelta, TurnHead, TurnPolicy, TurnRequest } from "./port.ts";
import { callsOf, goesOn, otherCalls, ShownAnswer } from "./shown-answer.ts";
import type { OwnCall } from "./step-ledger.ts";
import { nextRequest, planCalls, recordedLabels, recordedTurn, restOf, show, shownReason, type StepTurn, withoutDropped } from "./steps.ts";
import { shownError, type TurnEnd, type TurnHost, TurnRun } from "./turn-run.ts";

/** How many calls of one turn are run: twice as many as a Worker opens connections at once, so that none waits for more than one other. */
const MAX_CALLS = 12;

type Result = { readonly call: OwnCall; readonly outcome: ToolOutcome };
/** What a turn was asked: the request before, the turn that it answered with, and what came of that turn's calls. */
type Asked = { readonly request: TurnRequest; readonly turn: StepTurn; readonly results: readonly ChatMessage[] };

export class AnswerRun {
  /** The first turn's id, which is the answer's. */
  readonly turnId: string;
  readonly #host: TurnHost;
  readonly #request: TurnRequest;
  readonly #cutOff: boolean;
  readonly #abort = new AbortController();
  readonly #shown = new ShownAnswer();
  /** What the policy has said and read in the turns before. */
  readonly #unseen: ChatMessage[] = [];
  /** Its turns as the record has them when it is taken up again. */
  #recorded: readonly string[] = [];
  /** Opened and not yet sampled. */
  #opened: TurnRun | undefined;
  #current: string | undefined;
  #policy: TurnPolicy | undefined;
  #live: LiveTurn | undefined;

  /** @param recordedId of an answer that is on record in part, to be brought to its end; undefined for a new one */
  constructor(host: TurnHost, request: TurnRequest, recordedId?: string) {
    this.#host = host;
    this.#request = request;
    this.turnId = recordedId ?? newTurnId(request.session.sessionId);
    this.#cutOff = recordedId !== undefined;
  }

  /** Every reader has gone, so the answer is being aborted. */
  get abandoned(): boolean {
    return this.#abort.signal.aborted;
  }

  /** Whether it is the turn that is being sampled. */
  samples(turnId: string): boolean {
    return this.#current === turnId;
  }

  /** Resolves once the first turn is open and durable. @throws {input/invalid} where it does not fit the context */
  async open(): Promise<LiveTurn> {
    const head = this.#cutOff ? this.#takeUp() : await this.#openFirst();
    const onDelivered = (): void => this.#host.store.setDelivered(this.turnId);
    this.#live = new LiveTurn(head, { onAbandoned: () => this.#abort.abort(), onDelivered });
    return this.#live;
  }

  /** Brings the answer to its end. Never throws: readers are told what went wrong. */
  async run(): Promise<void> {
    let last: TurnDelta;
    try {
      last = await this.#answer();
    } catch (thrown) {
      if (!this.abandoned) logError("answer:failed", thrown, { turnId: this.turnId });
      last = { kind: "failed", error: shownError(thrown) };
    }
    this.#current = undefined;
    this.#live?.push(last);
    this.#live?.end();
    await fault(this.#host.env, "turn:delivered");
  }

  #takeUp(): TurnHead {
    const { store } = this.#host;
    this.#recorded = store.ledger.turnsOf(this.turnId);
    this.#policy = store.ledger.policyOf(this.turnId);
    const record = store.record(this.turnId);
    invariant(record !== undefined, `turn ${this.turnId}: a record expected, got none`);
    return record.head;
  }

  async #openFirst(): Promise<TurnHead> {
    const open = async (): Promise<TurnHead> => {
      const run = this.#turnRun(this.#request, 0, this.turnId);
      const { head, policy } = await run.open();
      this.#opened = run;
      this.#policy = policy;
      return head;
    };
    // Beside results of the client's own, those of calls that the edge ran while the client was away may be too long.
    return open().catch((thrown: unknown) => {
      if (!(thrown instanceof AppError) || !overflows(thrown) || !this.#shortenEarlier()) throw thrown;
      return open();
    });
  }

  /** Tells the policy that results which the client has not seen are too long for it. @returns whether there were any */
  #shortenEarlier(): boolean {
    const { ledger } = this.#host.store;
    const { messages, digests } = this.#request;
    const turnId = ledger.turnOf(digests[messages.findLastIndex(({ role }) => role === "assistant")] ?? "");
    const calls = turnId === undefined ? [] : ledger.callsOf(turnId).filter(({ dropped }) => !dropped);
    for (const { position, outcome } of calls) ledger.finish(turnId ?? "", position, tooLong(outcome?.text ?? ""));
    return calls.length > 0;
  }

  async #answer(): Promise<TurnDelta> {
    let request = this.#request;
    let asked: Asked | undefined;
    for (let step = 0; ; step++) {
      let turn = await this.#turnAt(request, step);
      if (turn.status === "failed" && asked !== undefined && overflows(turn.error)) {
        // An engine counts its prompt itself, so that results are too long for it is known only now.
        request = await this.#askShorter(asked, step);
        turn = await this.#turnAt(request, step);
      }
      if (turn.status === "failed") return { kind: "failed", error: turn.error };
      this.#shown.count(turn.finished);
      const results = await this.#runCalls(turn);
      if (!goesOn(turn.answer, turn.own)) return this.#shown.finished(shownReason(turn));
      this.#checkWanted();
      this.#live?.push(this.#shown.nextStep());
      const next = await this.#openNext(request, turn, { results, step: step + 1 });
      this.#unseen.push(turn.answer, ...next.results);
      asked = { request, turn, results: next.results };
      request = next.request;
    }
  }

  /** A turn of the answer: from the record, or sampled now. */
  async #turnAt(
    request: TurnRequest,
    step: number,
  ): Promise<({ status: "finished" } & StepTurn) | { status: "failed"; error: ReturnType<typeof shownError> }> {
    const recorded = recordedTurn(this.#host.store, this.#recorded[step] ?? "");
    if (recorded !== undefined) {
      this.#live?.push(...show(this.#shown, recorded.deltas, recordedLabels(recorded.turn)));
      return { status: "finished", ...recorded.turn };
    }
    const run = this.#opened ?? this.#turnRun(request, step, newTurnId(request.session.sessionId));
    this.#opened = undefined;
    this.#current = run.turnId;
    const { runners } = this.#request;
    const labelOf = (name: string): string | undefined => (Object.hasOwn(runners, name) ? runners[name]?.label : undefined);
    const outcome = await run.run((deltas) => this.#live?.push(...show(this.#shown, deltas, labelOf)));
    return outcome.status === "failed" ? outcome : { ...outcome, turnId: run.turnId };
  }

  #turnRun(request: TurnRequest, step: number, turnId: string): TurnRun {
    // An answer that is taken up again has its place, whatever the agent offers by now.
    const offered = this.#cutOff || Object.keys(this.#request.runners).length > 0;
    this.#current = turnId;
    return new TurnRun(this.#host, request, {
      turnId,
      step: offered && request.store ? { head: this.turnId, step } : undefined,
      policy: this.#policy,
      end: (answer, finished) => this.#endOf(request, step, { answer, finished }),
      signal: this.#abort.signal,
    });
  }

  #endOf(request: TurnRequest, step: number, { answer, finished }: { answer: ChatMessage; finished: FinishedDelta }): TurnEnd {
    const room = restOf(this.#request, this.#shown.completionTokens + finished.completionTokens) > 0 && step < request.maxToolSteps;
    const own = planCalls(answer, finished.finishReason, { runners: request.runners, stored: request.store, room });
    if (goesOn(answer, own)) return { goesOn: true, own, from: request.digests.at(-1) ?? "", message: answer, unseen: undefined };
    const asked = this.#request.digests.at(-1) ?? "";
    if (step === 0 && own.length === 0) return { goesOn: false, own, from: asked, message: answer, unseen: undefined };
    const message = this.#shown.message(otherCalls(answer, own));
    return { goesOn: false, own, from: asked, message, unseen: [...this.#unseen, withoutDropped(answer, own)] };
  }

  /** Runs the calls of a turn that are the edge's, all at once, and shows what came of each. What is on record is not run again. */
  async #runCalls({ turnId, answer, own }: StepTurn): Promise<ChatMessage[]> {
    const { env, store, storage } = this.#host;
    const due = own.filter(({ dropped }) => !dropped);
    if (due.length === 0) return [];
    // Where nothing may be kept, nothing is on record, and a retry is an answer of its own.
    const ledger = this.#request.store ? store.ledger : undefined;
    const known = new Map(ledger?.callsOf(turnId).map((call) => [call.position, call]));
    const fresh = due.filter(({ position }) => known.get(position)?.begun !== true);
    if (fresh.length > 0) this.#checkWanted();
    for (const { position } of fresh) ledger?.begin(turnId, position);
    await storage.sync();
    await fault(env, "tool:started");
    const runOne = async (call: OwnCall): Promise<Result> => {
      const outcome = fresh.includes(call)
        ? await this.#runCall(answer, call, due.indexOf(call))
        : (known.get(call.position)?.outcome ?? UNKNOWN_OUTCOME);
      await fault(env, "tool:answered");
      ledger?.finish(turnId, call.position, outcome);
      await storage.sync();
      this.#live?.push(this.#shown.result(call.position, outcome));
      return { call, outcome };
    };
    const results = await Promise.all(due.map(runOne));
    await fault(env, "tool:finished");
    return results.map(toMessage);
  }

  async #runCall(answer: ChatMessage, { position, callId }: OwnCall, index: number): Promise<ToolOutcome> {
    if (index >= MAX_CALLS) return unavailable(`at most ${MAX_CALLS} calls at once are run`);
    const { runners } = this.#request;
    const { name = "", arguments: text = "" } = callsOf(answer)[position]?.function ?? {};
    const runner = Object.hasOwn(runners, name) ? runners[name] : undefined;
    return runTool(this.#host.env, runner, { id: callId, name, arguments: text });
  }

  /** Opens the next turn; where the results are too long for it, the policy is told so instead. */
  async #openNext(
    request: TurnRequest,
    turn: StepTurn,
    { results, step }: { results: ChatMessage[]; step: number },
  ): Promise<{ request: TurnRequest; results: ChatMessage[] }> {
    if (recordedTurn(this.#host.store, this.#recorded[step] ?? "") !== undefined)
      return { request: await this.#nextRequest(request, turn, { results, step }), results };
    try {
      return await this.#tryOpen(request, turn, { results, step });
    } catch (thrown) {
      if (!(thrown instanceof AppError) || !overflows(thrown)) throw thrown;
      return this.#tryOpen(request, turn, { results: this.#tooLong(turn, results), step });
    }
  }

  /** Opens a turn anew that could not be answered as it was asked: the policy is told that the results are too long. */
  async #askShorter({ request, turn, results }: Asked, step: number): Promise<TurnRequest> {
    const next = await this.#tryOpen(request, turn, { results: this.#tooLong(turn, results), step });
    this.#unseen.splice(-results.length, results.length, ...next.results);
    return next.request;
  }

  async #tryOpen(
    request: TurnRequest,
    turn: StepTurn,
    { results, step }: { results: ChatMessage[]; step: number },
  ): Promise<{ request: TurnRequest; results: ChatMessage[] }> {
    const next = await this.#nextRequest(request, turn, { results, step });
    const run = this.#turnRun(next, step, newTurnId(next.session.sessionId));
    await run.open();
    this.#opened = run;
    return { request: next, results };
  }

  #nextRequest(request: TurnRequest, turn: StepTurn, { results, step }: { results: ChatMessage[]; step: number }): Promise<TurnRequest> {
    // The limit is the whole answer's, of which the turns so far have used a part.
    const { answerLimit } = this.#request.sampling;
    const limited = { ...request, sampling: { ...request.sampling, answerLimit } };
    return nextRequest(limited, turn, { results, step, usedTokens: this.#shown.completionTokens, head: this.turnId });
  }

  #tooLong({ turnId, own }: StepTurn, results: readonly ChatMessage[]): ChatMessage[] {
    return results.map((message) => {
      if (message.role !== "tool") return message;
      const { content, tool_call_id: callId } = message;
      const outcome = tooLong(content);
      const call = own.find((each) => each.callId === callId);
      if (call !== undefined && this.#request.store) this.#host.store.ledger.finish(turnId, call.position, outcome);
      return { role: "tool", content: outcome.text, tool_call_id: callId };
    });
  }

  /** @throws {session/aborted} where nobody reads any more: what is on record stays, and a retry goes on from it */
  #checkWanted(): void {
    if (this.abandoned) throw abortedByReader();
  }
}

function toMessage({ call: { callId }, outcome: { text } }: Result): ChatMessage {
  return { role: "tool", content: text, tool_call_id: callId };
}

function tooLong(text: string): ToolOutcome {
  return unavailable(`the tool's answer of ${text.length} characters does not fit the context`);
}

/** Whether a turn could not be opened or answered because there is too much in it. */
function overflows({ code, details }: Pick<ErrorRecord, "code" | "details">): boolean {
  return details["code"] === "context_length_exceeded" || code === "input/tooLarge";
}
