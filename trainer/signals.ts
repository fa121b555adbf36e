/**
 * The signals of one line that an update may learn from: pending ones beyond the cursor, and consumed ones that were opened
 * again. Each is judged once; what was judged is held here, and rebuilt from the log.
 */
import { AppError } from "../shared/errors.ts";
import { judgementIdOf, type LoggedEvent } from "../shared/events.ts";
import { eventIdOf } from "../shared/hint-id.ts";
import type { LearningSettings } from "../shared/agent.ts";
import { judgeServerOf } from "../shared/judge.ts";
import type { LineHead } from "../shared/policy.ts";
import type { TrainerConfig } from "./config.ts";
import { type Assembled, assembleSignal, onBase, type Signal } from "./data/exchange.ts";
import { type Refusal, unreadable } from "./data/refusal.ts";
import { EventCache } from "./feed/cache.ts";
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import { readAll } from "./feed/read-all.ts";
import type { EventWindow } from "./feed/window.ts";
import { toJudgement, verdictFromLog } from "./judge/judgement.ts";
import type { Judge, Verdict } from "./judge/judge.ts";
import { isForOthers, type Judged, perHint } from "./learn/batch/batch.ts";
import { formOf } from "./learn/batch/form.ts";
import type { Metrics } from "./metrics.ts";
import type { Counted } from "./progress.ts";

export type SignalDependencies = {
  readonly edge: Pick<EdgePort, "postJudgements" | "readTurns" | "readReopened" | "readEvents">;
  readonly judge: Judge;
  readonly metrics: Metrics;
  readonly config: Pick<TrainerConfig, "seed">;
  readonly now: () => Date;
};

type Taken = {
  readonly event: LoggedEvent;
  readonly assembled: Assembled;
  readonly known: Logged | undefined;
};
type Logged = Parameters<typeof verdictFromLog>[0];

export type JudgeOptions = {
  readonly stop?: () => boolean;
  /** Told before each signal how many were judged. */
  readonly onJudging?: (counted: Counted) => void;
};

export class Signals {
  readonly #line: LineName;
  readonly #deps: SignalDependencies;
  readonly #window: EventWindow;
  readonly #judged = new Map<string, Judged>();
  readonly #refusals = new Map<string, { seq: number; refusal: Refusal }>();
  /** Pending signals whose judge is away, by event with its `seq`. */
  readonly #unjudged = new Map<string, number>();
  #reopened = new Set<string>();

  constructor(line: LineName, deps: SignalDependencies, window: EventWindow) {
    this.#line = line;
    this.#deps = deps;
    this.#window = window;
  }

  /** The first pending event whose judge is away: it and those after it wait, so that nothing is consumed unjudged. Infinity where none is. */
  get frontier(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#unjudged.values());
  }

  /** Before the frontier, in log order, each hint by itself: of two corrections of one argument the later counts, whichever was judged first. */
  get judged(): readonly Judged[] {
    const ready = [...this.#judged.values()].filter(({ signal }) => signal.event.seq < this.frontier);
    const pending = new Set(this.#window.pending.map(({ eventId }) => eventId));
    const opened = new Set([...this.#reopened].map(eventIdOf));
    const isOpen = ({ signal: { event } }: Judged, eventId: string): boolean =>
      pending.has(eventId) || !opened.has(eventId) || this.#reopened.has(event.eventId);
    return ready
      .toSorted((a, b) => a.signal.event.seq - b.signal.event.seq)
      .flatMap((each) => perHint(each).filter((hint) => isOpen(hint, each.signal.event.eventId)));
  }

  /** Before the frontier. */
  get refusals(): readonly Refusal[] {
    const refused = [...this.#refusals.values()].filter(({ seq }) => seq < this.frontier).map(({ refusal }) => refusal);
    return [...refused, ...this.#lost()];
  }

  /** What is open again and no hint of its judgement any more: refused, so that it is closed. */
  #lost(): Refusal[] {
    return [...this.#reopened].flatMap((id): Refusal[] => {
      const judged = this.#judged.get(eventIdOf(id));
      if (judged === undefined || perHint(judged).some(({ signal }) => signal.event.eventId === id)) return [];
      return [{ eventId: id, code: "hint/none", detail: "its judgement has no such hint" }];
    });
  }

  /** Judged signals that an update may learn from, oldest first. */
  learnable({ signals }: Pick<LearningSettings, "signals">): readonly Judged[] {
    return this.judged.filter((each) => formOf(each, signals) !== undefined && !isForOthers(each, this.#line.line));
  }

  /** Judges what is pending and new. @param options.stop asked before each signal */
  async judgeNew(head: LineHead, { stop = () => false, onJudging }: JudgeOptions = {}): Promise<void> {
    const logged = await this.#loggedJudgements();
    const open = this.#window.pending.filter(
      ({ eventId, payload }) => isSignal(payload) && !this.#judged.has(eventId) && !this.#refusals.has(eventId),
    );
    for (const [done, event] of open.entries()) {
      if (stop()) return;
      onJudging?.({ done, of: open.length });
      const assembled = await this.#pair(event);
      if (assembled !== undefined) await this.#take(head, { event, assembled, known: logged.get(event.eventId) });
    }
  }

  /**
   * What the log says of pending signals that are new here, by event. After a restart, or where another trainer worked before, a judgement
   * may lie further on than has been read; asking a model again would give another one than the log keeps.
   */
  async #loggedJudgements(): Promise<Map<string, Logged>> {
    const { pending } = this.#window;
    const logged = new Map(
      pending.flatMap(({ payload }) => (payload.kind === "judgement:made" ? [[payload.subject, payload] as const] : [])),
    );
    const known = [this.#judged, this.#refusals, this.#unjudged, logged];
    const open = pending.filter(({ eventId, payload }) => isSignal(payload) && !known.some((each) => each.has(eventId)));
    const ids = open.map(({ eventId }) => eventId);
    for (const { payload } of await readAll(this.#deps.edge, this.#line, ids))
      if (payload.kind === "judgement:made") logged.set(payload.subject, payload);
    return logged;
  }

  /** Takes in what is to be learned from again, with the judgement that the log has of it. */
  async reopen(head: LineHead): Promise<void> {
    if (!head.reopened) return this.#close();
    const { ids, events } = await this.#deps.edge.readReopened(this.#line);
    this.#close(new Set(ids));
    await this.#takeLogged(head, events);
  }

  async #takeLogged(head: LineHead, events: readonly LoggedEvent[]): Promise<void> {
    const judgements = new Map(events.map((event) => [event.eventId, event.payload]));
    const open = events.filter(({ payload }) => payload.kind !== "judgement:made");
    for (const event of open) {
      if (this.#judged.has(event.eventId) || this.#refusals.has(event.eventId)) continue;
      const assembled = await this.#pair(event);
      const judgement = judgements.get(judgementIdOf(event.eventId));
      const known = judgement?.kind === "judgement:made" ? judgement : undefined;
      await this.#take(head, { event, assembled: assembled ?? refuseUnknown(event), known });
    }
  }

  /** Earlier signals of the log by their hints' ids, with the judgements that it has of them, to be learned from beside others. */
  async recall(head: LineHead, ids: readonly string[]): Promise<Judged[]> {
    const open = [...new Set(ids.map(eventIdOf))].filter((id) => !this.#judged.has(id));
    await this.#takeLogged(head, await readAll(this.#deps.edge, this.#line, open));
    const recalled = ids.flatMap((id) => {
      const judged = this.#judged.get(eventIdOf(id));
      return judged === undefined ? [] : perHint(judged).filter(({ signal }) => signal.event.eventId === id);
    });
    return recalled.filter((each) => formOf(each, head.settings.learning.signals) !== undefined);
  }

  /** Drops what is neither pending nor open again. */
  forget(): void {
    const open = new Set([...this.#window.pending.map(({ eventId }) => eventId), ...[...this.#reopened].map(eventIdOf)]);
    for (const eventId of [...this.#judged.keys(), ...this.#refusals.keys()].filter((each) => !open.has(each))) {
      this.#judged.delete(eventId);
      this.#refusals.delete(eventId);
    }
    for (const eventId of this.#unjudged.keys()) if (!open.has(eventId)) this.#unjudged.delete(eventId);
  }

  #close(still: ReadonlySet<string> = new Set()): void {
    this.#reopened = new Set(still);
    this.forget();
  }

  async #take(head: LineHead, { event, assembled, known }: Taken): Promise<void> {
    const usable = onBase(assembled, head);
    if (usable.status === "refused") return this.#refuse(head, event, usable.refusal);
    try {
      await this.#takeSignal(head, usable.signal, known);
    } catch (error) {
      const refusal = unreadable(event.eventId, error);
      if (refusal === undefined) throw error;
      this.#refuse(head, event, refusal);
    }
  }

  #refuse(head: LineHead, { seq }: LoggedEvent, refusal: Refusal): void {
    this.#refusals.set(refusal.eventId, { seq, refusal });
    this.#deps.metrics("signal:refused", { agent: head.agent, ...refusal });
  }

  async #takeSignal(head: LineHead, signal: Signal, known: Logged | undefined): Promise<void> {
    const { metrics, edge, now } = this.#deps;
    const { eventId } = signal.event;
    const verdict = known === undefined ? await this.#judge(head, signal) : verdictFromLog(known, signal);
    if (verdict === undefined) return;
    // Logged before it counts: where the edge is away the next step judges again, with the same seed. One with a hint is
    // told again after a restart: the log may have it, and the agent not yet its note.
    const made = toJudgement(signal, verdict, now());
    if (known === undefined) await edge.postJudgements({ judgements: [made] });
    else if (known.hint !== undefined) await edge.postJudgements({ judgements: [{ ...made, payload: known }] });
    this.#judged.set(eventId, { signal, verdict });
    metrics("signal:judged", {
      agent: head.agent,
      eventId,
      judge: verdict.judge,
      reward: verdict.reward,
      votes: verdict.votes,
      hint: verdict.hint?.text,
      ...(verdict.further !== undefined && { further: verdict.further.map(({ text }) => text) }),
      refused: verdict.refused?.code,
      ...(verdict.poll === undefined ? {} : { poll: verdict.poll }),
    });
  }

  /** Undefined where there is nothing to judge, or nobody to judge it now: the next step asks again. */
  async #judge(head: LineHead, signal: Signal): Promise<Verdict | undefined> {
    const { judge, config, metrics } = this.#deps;
    const { eventId, seq } = signal.event;
    try {
      const { votes } = head.settings.learning;
      const verdict = await judge.judge(signal, { votes, seed: config.seed + seq, server: judgeServerOf(head.settings) });
      this.#unjudged.delete(eventId);
      return verdict;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "judge/unavailable") throw error;
      if (!this.#unjudged.has(eventId)) metrics("signal:unjudged", { agent: head.agent, eventId, detail: error.message });
      // What is behind the cursor is consumed already, and keeps nothing back.
      if (seq > head.cursor) this.#unjudged.set(eventId, seq);
      return undefined;
    }
  }

  /**
   * The event with its turn; one that is further back than the cache goes is read from the log again. What is read is for this event alone: an
   * event that a personal line lends has its conversation there, which the shared line must not replay.
   */
  async #pair(event: LoggedEvent): Promise<Assembled | undefined> {
    const paired = assembleSignal(event, this.#window.cache);
    if (paired?.status !== "refused" || paired.refusal.code !== "turn/unknown") return paired;
    const turns = await this.#deps.edge.readTurns({ agent: event.agent, session: event.sessionId, upTo: event.turnId });
    const session = new EventCache(Math.max(1, turns.length));
    turns.forEach((turn) => session.add(turn));
    return assembleSignal(event, session);
  }
}

function isSignal({ kind }: LoggedEvent["payload"]): boolean {
  return kind === "nextState:arrived" || kind === "feedback:given";
}

/** What was opened again and is no signal any more: refused, so that it is closed. */
function refuseUnknown({ eventId, payload }: LoggedEvent): Assembled {
  return { status: "refused", refusal: { eventId, code: "turn/unknown", detail: `a correction expected, got ${payload.kind}` } };
}
