/**
 * From judged signals to what an update is asked to learn, read from the log alone: the loop gathers when it learns, a rebuild
 * gathers the same again.
 */
import { judgementIdOf, sampledBy } from "../../../shared/events.ts";
import type { SignalSettings } from "../../../shared/signal-settings.ts";
import { isOfBaseOf, untrainable, type LoggedTurn, type Signal } from "../../data/exchange.ts";
import type { EdgePort, LineName } from "../../feed/edge-port.ts";
import { unlessGone } from "../../feed/gone.ts";
import { readAll } from "../../feed/read-all.ts";
import type { AdapterTensors } from "../../policy/adapter.ts";
import { isReplyAspect, repliedTool } from "../../../shared/wording.ts";
import { replayContext } from "../../teacher/replay.ts";
import { toCorrected } from "./corrected.ts";
import { toReplay } from "./replay.ts";
import type { Judged } from "./batch.ts";
import { formOf } from "./form.ts";
import type { CorrectedExchange, RewardedExchange, SuppliedAnswer, UpdateRequest } from "../update/learner.ts";

export type GatherPorts = {
  readonly edge: Pick<EdgePort, "readEvents" | "readTurns" | "readVersion">;
  readonly line: LineName;
  /** Loads the adapter of a version; null for the bare base. */
  readonly loadAdapter: (version: Awaited<ReturnType<EdgePort["readVersion"]>>) => Promise<AdapterTensors | null>;
};

type Asked = { readonly signals: SignalSettings; readonly shares: ReadonlyMap<string, number> };
/** `barred` are turns that somebody has put in quarantine. */
type Gathering = Asked & { readonly barred: ReadonlySet<string> };
type Gathered = Pick<UpdateRequest, "corrected" | "supplied" | "rewarded"> & {
  /** Barred turns that would have been credited: what a rebuild has to leave out again, whatever is barred then. */
  readonly leftOut: string[];
};

export async function gather(ports: GatherPorts, judged: readonly Judged[], { signals, shares, barred }: Gathering): Promise<Gathered> {
  const of = (form: ReturnType<typeof formOf>): Judged[] => judged.filter((each) => formOf(each, signals) === form);
  const corrected: CorrectedExchange[] = [];
  const leftOut = new Set<string>();
  for (const { signal, verdict } of of("hint")) {
    const exchange = toCorrected(signal, verdict, shares);
    const earlier = signals.credit === "conversation" ? await fittingBefore(ports, signal, exchange) : [];
    for (const { turnId } of earlier) if (barred.has(turnId)) leftOut.add(turnId);
    corrected.push({ ...exchange, turns: [...earlier.filter(({ turnId }) => !barred.has(turnId)), ...exchange.turns] });
  }
  const [answers, rewards] = [of("answer"), of("reward")];
  return {
    corrected,
    leftOut: [...leftOut],
    supplied: await toSupplied(ports, answers, { signals, shares: sharesAmong(answers, shares) }),
    rewarded: await toRewarded(ports, rewards, sharesAmong(rewards, shares)),
  };
}

/** Each event's part of them all: shares add up to 1 within a topic, and there may be several. What nobody weighed has none. */
function sharesAmong(judged: readonly Judged[], shares: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const own = judged.map(({ signal: { event } }) => [event.eventId, shares.get(event.eventId) ?? 0] as const);
  const total = own.reduce((sum, [, share]) => sum + share, 0);
  return new Map(own.map(([eventId, share]) => [eventId, total === 0 ? 0 : share / total]));
}

/** Earlier turns of the conversation at which the user was just as silent: what it taught later is credited to them, too. */
async function fittingBefore(
  { edge, line }: GatherPorts,
  { event, turn }: Signal,
  { correction, turns }: CorrectedExchange,
): Promise<LoggedTurn[]> {
  const own = new Set(turns.map(({ turnId }) => turnId));
  const logged = await edge.readTurns({ agent: line.agent, session: event.sessionId, upTo: event.turnId });
  return logged.flatMap((each) => {
    if (each.payload.kind !== "turn:finished" || each.seq >= turn.seq || own.has(each.turnId)) return [];
    const earlier = { ...each, payload: each.payload };
    const [replay] = toReplay([earlier]);
    if (replay === undefined) return [];
    const { tool, parameter } = correction;
    const fits = isReplyAspect(parameter.name)
      ? repliedTool(replay.messages) === tool.function.name
      : replayContext(replay, correction)?.kind === "silent";
    return fits && untrainable(earlier.payload) === undefined && isOfBaseOf(earlier, turn) ? [earlier] : [];
  });
}

async function toSupplied(ports: GatherPorts, judged: readonly Judged[], { signals, shares }: Asked): Promise<SuppliedAnswer[]> {
  const measured = signals.answers !== "demonstration" && signals.preference.reference === "answered";
  const loaded = new Map<string, AdapterTensors | null | undefined>();
  const supplied: SuppliedAnswer[] = [];
  for (const { signal } of judged) {
    const { event, turn, feedback } = signal;
    if (feedback?.answer === undefined) continue;
    const { line, version } = sampledBy(turn);
    const answeredBy = `${line} ${version}`;
    if (measured && !loaded.has(answeredBy)) loaded.set(answeredBy, await loadVersion(ports, { line, version }, turn.payload));
    const reference = measured ? loaded.get(answeredBy) : null;
    supplied.push({
      eventId: event.eventId,
      seq: event.seq,
      turn,
      answer: feedback.answer,
      share: shares.get(event.eventId) ?? 0,
      reference,
    });
  }
  return supplied;
}

/** Undefined where its files are gone, or it is of another base than the turn: an agent may have moved since. */
function loadVersion(
  { edge, line: { agent }, loadAdapter }: GatherPorts,
  { line, version }: ReturnType<typeof sampledBy>,
  { baseDigest }: Pick<LoggedTurn["payload"], "baseDigest">,
): Promise<AdapterTensors | null | undefined> {
  return unlessGone(async () => {
    const read = await edge.readVersion({ agent, line }, version);
    return baseDigest === undefined || read.baseDigest === baseDigest ? loadAdapter(read) : undefined;
  });
}

async function toRewarded(
  { edge, line }: GatherPorts,
  judged: readonly Judged[],
  shares: ReadonlyMap<string, number>,
): Promise<RewardedExchange[]> {
  const ids = [...new Set(judged.flatMap(({ signal }) => signal.turns.map(({ turnId }) => `${turnId}/next`)))];
  const logged = new Map((await readAll(edge, line, ids)).map((event) => [event.eventId, event.payload]));
  return judged.map(({ signal: { event, turn, turns }, verdict }) => ({
    eventId: event.eventId,
    task: taskOf(turn),
    outcome: verdict.reward,
    // What the user said about the whole is the outcome, and no vote on the last step beside it.
    steps: turns.map((step) => {
      const subject = `${step.turnId}/next`;
      const judgement = subject === event.eventId ? undefined : logged.get(judgementIdOf(subject));
      const told = judgement?.kind === "judgement:made" && judgement.judge === "verifiable";
      return { turn: step, votes: told ? judgement.votes : [] };
    }),
    share: shares.get(event.eventId) ?? 0,
  }));
}

/** What its client calls it, else the request itself. */
function taskOf({ payload: { metadata, messages, tools } }: LoggedTurn): string {
  const opening = messages.slice(0, 1 + messages.findLastIndex(({ role }) => role === "user"));
  return metadata?.["task"] ?? JSON.stringify([opening, tools.map((tool) => tool.function.name)]);
}
