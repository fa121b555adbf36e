/** The canary of a line beside its stable version: counts what both do, and moves the line once canary.ts has decided. */
import type { Arm, Canary, CanaryVerdict, Release } from "../../shared/api.ts";
import { CanarySettings } from "../../shared/release.ts";
import { canaryShare, judgeCanary } from "./canary.ts";
import { SHARED_LINE } from "../../shared/policy.ts";
import type { Lineage } from "./lineage.ts";
import type { Lines } from "./lines.ts";
import type { TurnFact } from "./port.ts";
import type { LineState } from "./release.ts";
import type { AgentStore } from "./store.ts";

/** In the audit trail. */
const ACTOR = "edge:canary";
const DAY_MS = 86_400_000;
const SMALL_TRIAL = 2_000; // conversations that are read in a few milliseconds
const PAUSE_MS = 10_000;

/** `later`: it was looked at a moment ago. */
type Look = { readonly status: "looked" | "later" } | ({ readonly status: "won" } & Won);
type Won = { readonly version: number; readonly reason: string };

export class Trials {
  readonly #store: AgentStore;
  readonly #lines: Lines;
  readonly #lineage: Lineage;
  readonly #looks = new Map<string, { at: number; sessions: number }>();

  constructor(store: AgentStore, lines: Lines, lineage: Lineage) {
    this.#store = store;
    this.#lines = lines;
    this.#lineage = lineage;
  }

  /** Whether a line has a canary that time alone may decide something about. */
  get running(): boolean {
    return this.#store.hasCanary();
  }

  /** Takes a turn down; one told of twice counts once in the trial. */
  observe(fact: TurnFact): void {
    const line = fact.answeredBy;
    const state = this.#lines.read(line);
    if (state === undefined) return;
    this.#store.trials.countTurn(line, fact);
    // Everybody counts among those for whom the shared line speaks.
    if (line !== SHARED_LINE) this.#store.trials.countUser(SHARED_LINE, fact);
    const { canary, stable } = state;
    if (canary === null || (fact.version !== stable && fact.version !== canary.version)) return;
    if (fact.turnIndex > 0 || fact.createdAt >= canary.since) this.#store.trials.addTurn(line, fact);
  }

  judge(line: string, { turnId, reward }: { turnId: string; reward: number }): void {
    this.#store.trials.judge(line, turnId, reward);
  }

  /**
   * Takes back, asks a person, leaves the canary where it is, or says that it is to be promoted, for which its files have to be looked at
   * first. A large trial is looked at now and then: a look reads all of it.
   */
  decide(line: string, now: number): Look {
    const state = this.#lines.read(line);
    if (state === undefined || state.canary === null) return { status: "looked" };
    const last = this.#looks.get(line);
    if (last !== undefined && last.sessions > SMALL_TRIAL && now - last.at < PAUSE_MS) return { status: "later" };
    const compared = this.#compare(line, state, state.canary.version);
    this.#looks.set(line, { at: now, sessions: compared.arms.canary.failed.count + compared.arms.stable.failed.count });
    const { decision, reason } = compared.verdict;
    if (decision === "promote") return { status: "won", version: state.canary.version, reason };
    this.#follow(line, state.canary, { verdict: compared.verdict, now });
    return { status: "looked" };
  }

  /** Promotes the canary that has won; where files of what would answer are missing, a person is asked instead. */
  promote(line: string, { version, reason }: Won, fault: string | undefined): void {
    if (this.#lines.read(line)?.canary?.version !== version) return;
    if (fault === undefined) this.#lines.promote(line, { version, reason }, ACTOR);
    else this.#lines.ask(line, { actor: ACTOR, reason: `not promoted: ${fault}` });
  }

  #follow(line: string, canary: Canary, { verdict: { decision, reason }, now }: { verdict: CanaryVerdict; now: number }): void {
    if (decision === "rollBack") return this.#lines.rollbackCanary(line, reason, ACTOR);
    const settings = this.#settings();
    if (now - Date.parse(canary.since) >= settings.patienceDays * DAY_MS)
      this.#lines.ask(line, { actor: ACTOR, reason: `undecided after ${settings.patienceDays} days: ${reason}` });
    const share = Math.max(canary.share, canaryShare(settings, this.#store.trials.turnsPerDay(line, now)));
    if (now - Date.parse(canary.since) >= DAY_MS) this.#lines.setShare(line, share, { actor: ACTOR, reason: "little traffic" });
  }

  read(line: string, now: number): Omit<Release, "faults"> | undefined {
    const state = this.#lines.read(line);
    if (state === undefined) return undefined;
    const { stable, canary, waiting } = state;
    const audience = this.#lineage.audience(line);
    const turnsPerDay = this.#store.trials.turnsPerDay(line, now);
    const trial = canary === null ? null : { ...canary, ...this.#compare(line, state, canary.version) };
    return { stable, canary: trial, waiting, audience, turnsPerDay };
  }

  #compare(line: string, { stable }: LineState, canary: number): { arms: { canary: Arm; stable: Arm }; verdict: CanaryVerdict } {
    const arms = { canary: this.#store.trials.arm(line, canary), stable: this.#store.trials.arm(line, stable) };
    return { arms, verdict: judgeCanary(arms, this.#settings()) };
  }

  #settings() {
    return this.#store.readAgent()?.settings.release.canary ?? CanarySettings.parse({});
  }
}
