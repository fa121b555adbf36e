/**
 * The signals of one line that an update may learn from: pending ones beyond the cursor, and consumed ones that were opened
 * again. Each is judged once; what was judged is held here, and rebuilt from the log.
 */
import { judgementIdOf, type LoggedEvent } from "../shared/events.ts";
import type { LineHead } from "../shared/policy.ts";
import type { TrainerConfig } from "./config.ts";
import { type Assembled, assembleSignal, onBase } from "./data/exchange.ts";
import type { Refusal } from "./data/refusal.ts";
import type { EdgePort, LineName } from "./feed/edge-port.ts";
import type { EventWindow } from "./feed/window.ts";
import { toJudgement, verdictFromLog } from "./judge/judgement.ts";
import type { Judge } from "./judge/judge.ts";
import type { Judged } from "./learn/batch.ts";
import type { Metrics } from "./metrics.ts";

export type SignalDependencies = {
  readonly edge: Pick<EdgePort, "postJudgements" | "readTurns" | "readReopened" | "readEvents">;
  readonly judge: Judge;
  readonly metrics: Metrics;
  readonly config: Pick<TrainerConfig, "seed">;
  readonly now: () => Date;
};

const MOST_RECALLED = 50; // events of one answer, beside their judgements

export class Signals {
  readonly #line: LineName;
  readonly #deps: SignalDependencies;
  readonly #window: EventWindow;
  readonly #judged = new Map<string, Judged>();
  readonly #refusals = new Map<string, Refusal>();
  #reopened = new Set<string>();

  constructor(line: LineName, deps: SignalDependencies, window: EventWindow) {
    this.#line = line;
    this.#deps = deps;
    this.#window = window;
  }

  /** In log order: of two corrections of one argument the later counts, whichever was judged first. */
  get judged(): readonly Judged[] {
    return [...this.#judged.values()].toSorted((a, b) => a.signal.event.seq - b.signal.event.seq);
  }

  get refusals(): readonly Refusal[] {
    return [...this.#refusals.values()];
  }

  /** Judged signals that say what should have been different, oldest first. */
  get corrected(): readonly Judged[] {
    return this.judged.filter(({ verdict }) => verdict.hint !== undefined);
  }

  /** Judges what is pending and new. @param stop asked before each signal */
  async judgeNew(head: LineHead, stop: () => boolean = () => false): Promise<void> {
    const logged = new Map(
      this.#window.pending.flatMap(({ payload }) => (payload.kind === "judgement:made" ? [[payload.subject, payload] as const] : [])),
    );
    for (const event of this.#window.pending) {
      if (stop()) return;
      if (this.#judged.has(event.eventId) || this.#refusals.has(event.eventId)) continue;
      const assembled = await this.#pair(event);
      if (assembled !== undefined) await this.#take(head, assembled, logged.get(event.eventId));
    }
  }

  /** Takes in what is to be learned from again, with the judgement that the log has of it. */
  async reopen(head: LineHead): Promise<void> {
    if (!head.reopened) return this.#close();
    const events = await this.#deps.edge.readReopened(this.#line);
    this.#close(new Set(events.filter(({ payload }) => payload.kind !== "judgement:made").map(({ eventId }) => eventId)));
    await this.#takeLogged(head, events);
  }

  async #takeLogged(head: LineHead, events: readonly LoggedEvent[]): Promise<void> {
    const judgements = new Map(events.map((event) => [event.eventId, event.payload]));
    const open = events.filter(({ payload }) => payload.kind !== "judgement:made");
    for (const event of open) {
      if (this.#judged.has(event.eventId) || this.#refusals.has(event.eventId)) continue;
      const assembled = await this.#pair(event);
      const judgement = judgements.get(judgementIdOf(event.eventId));
      const signal = assembled ?? refuseUnknown(event);
      await this.#take(head, signal, judgement?.kind === "judgement:made" ? judgement : undefined);
    }
  }

  /** Earlier corrections of the log, with the judgements that it has of them, to be learned from beside others. */
  async recall(head: LineHead, ids: readonly string[]): Promise<Judged[]> {
    const open = ids.filter((id) => !this.#judged.has(id));
    for (let start = 0; start < open.length; start += MOST_RECALLED)
      await this.#takeLogged(head, await this.#deps.edge.readEvents(this.#line, open.slice(start, start + MOST_RECALLED)));
    return ids.flatMap((id) => this.#judged.get(id) ?? []).filter(({ verdict }) => verdict.hint !== undefined);
  }

  /** Drops what is neither pending nor open again. */
  forget(): void {
    const open = new Set([...this.#window.pending.map(({ eventId }) => eventId), ...this.#reopened]);
    for (const eventId of [...this.#judged.keys(), ...this.#refusals.keys()].filter((each) => !open.has(each))) {
      this.#judged.delete(eventId);
      this.#refusals.delete(eventId);
    }
  }

  #close(still: ReadonlySet<string> = new Set()): void {
    this.#reopened = new Set(still);
    this.forget();
  }

  async #take(head: LineHead, assembled: Assembled, known: Parameters<typeof verdictFromLog>[0] | undefined): Promise<void> {
    const { judge, metrics, config, edge, now } = this.#deps;
    const usable = onBase(assembled, head);
    if (usable.status === "refused") {
      this.#refusals.set(usable.refusal.eventId, usable.refusal);
      metrics("signal:refused", { agent: head.agent, ...usable.refusal });
      return;
    }
    const { signal } = usable;
    const { eventId, seq } = signal.event;
    const votes = { votes: head.settings.learning.votes, seed: config.seed + seq };
    const verdict = known === undefined ? await judge.judge(signal, votes) : verdictFromLog(known, signal);
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
      refused: verdict.refused?.code,
    });
  }

  /** The event with its turn; one that is further back than the cache goes is read from the log again. */
  async #pair(event: LoggedEvent): Promise<Assembled | undefined> {
    const paired = assembleSignal(event, this.#window.cache);
    if (paired?.status !== "refused" || paired.refusal.code !== "turn/unknown") return paired;
    const turns = await this.#deps.edge.readTurns({ agent: event.agent, session: event.sessionId });
    turns.forEach((turn) => this.#window.cache.add(turn));
    return assembleSignal(event, this.#window.cache);
  }
}

/** What was opened again and is no signal any more: refused, so that it is closed. */
function refuseUnknown({ eventId, payload }: LoggedEvent): Assembled {
  return { status: "refused", refusal: { eventId, code: "turn/unknown", detail: `a correction expected, got ${payload.kind}` } };
}
