/**
 * `npm run trainer -- rebuild --agent A --version N`: makes a version again from the log, and compares the bytes. It reads
 * events, judgements, hints and their order from the log; it never judges again.
 */
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { judgementIdOf, type LoggedEvent } from "../../shared/events.ts";
import type { PolicyVersion } from "../../shared/policy.ts";
import { assembleSignal } from "../data/exchange.ts";
import { EventCache } from "../feed/cache.ts";
import type { EdgePort, LineName } from "../feed/edge-port.ts";
import { verdictFromLog } from "../judge/judgement.ts";
import { toCorrected, toReplay } from "../learn/assemble.ts";
import type { CorrectedExchange, Learner } from "../learn/learner.ts";
import type { LoopDependencies } from "../loop.ts";

export type Rebuilt = {
  readonly version: number;
  /** SHA-256 of the adapter's weights, as published and as made again. */
  readonly expected: string;
  readonly got: string;
  readonly same: boolean;
  /** What the version was made with and on; another host may round otherwise. */
  readonly madeOn: Readonly<Record<string, string>>;
};

type RebuildDependencies = Pick<LoopDependencies, "loadAdapter" | "writeAdapter"> & {
  readonly edge: Pick<EdgePort, "readVersion" | "readEvents" | "readTurns">;
  readonly learner: Learner;
};

const AT_ONCE = 50; // events of one answer, beside their judgements

/** @throws {policy/refused} where the version was not learned, or the log does not tell all that it was made from */
export async function rebuildVersion(
  { edge, learner, loadAdapter, writeAdapter }: RebuildDependencies,
  line: LineName,
  version: number,
): Promise<Rebuilt> {
  const made = await edge.readVersion(line, version);
  const { adapter, inputs, metrics, status } = made;
  if (adapter === null || metrics === null) throw refuse(version, "one that an update has made", "the bare base");
  if (inputs === null) throw refuse(version, "a record of what the update was given", "a version of before it was kept");
  if (status === "deleted") throw refuse(version, "one that can be rebuilt", "one that a deleted user had a part in");
  const parent = await edge.readVersion(line, made.parent);
  const turns = await readAll(
    edge,
    line,
    inputs.replay.map((turnId) => `${turnId}/finished`),
  );
  const replay = toReplay(turns.flatMap((event) => (event.payload.kind === "turn:finished" ? [{ ...event, payload: event.payload }] : [])));
  if (replay.length !== inputs.replay.length)
    throw refuse(version, `${inputs.replay.length} replayed turns in the log`, `${replay.length}`);
  const outcome = await learner.update({
    corrected: await correctedOf(edge, line, made),
    replay,
    parent: await loadAdapter(parent),
    baseline: inputs.baseline,
    objective: metrics.objective === "paper" ? "paper" : "hybrid",
    seed: made.seed,
  });
  if (outcome.status !== "learned")
    throw refuse(version, "the update to learn as it did", outcome.refused.map(({ detail }) => detail).join("; "));
  const got = await sha256(writeAdapter(outcome.adapter).weightBytes);
  return { version, expected: adapter.weightsDigest, got, same: got === adapter.weightsDigest, madeOn: made.runtime };
}

/** The corrections in the version's own order, with the judgements that the log has of them. */
async function correctedOf(
  edge: RebuildDependencies["edge"],
  line: LineName,
  { version, events }: PolicyVersion,
): Promise<CorrectedExchange[]> {
  const logged = new Map(
    (
      await readAll(
        edge,
        line,
        events.map(({ eventId }) => eventId),
      )
    ).map((event) => [event.eventId, event]),
  );
  const corrected: CorrectedExchange[] = [];
  for (const { eventId, share = 1 } of events) {
    const event = logged.get(eventId);
    const judgement = logged.get(judgementIdOf(eventId))?.payload;
    if (event === undefined || judgement?.kind !== "judgement:made")
      throw refuse(version, `event ${eventId} with its judgement in the log`, "none");
    const cache = new EventCache(Number.POSITIVE_INFINITY);
    for (const turn of await edge.readTurns({ agent: line.agent, session: event.sessionId })) cache.add(turn);
    const assembled = assembleSignal(event, cache);
    const verdict = assembled?.status === "signal" ? verdictFromLog(judgement, assembled.signal) : undefined;
    if (assembled?.status !== "signal" || verdict?.hint === undefined)
      throw refuse(version, `event ${eventId} to be a correction`, "something else");
    corrected.push(toCorrected(assembled.signal, verdict, new Map([[eventId, share]])));
  }
  return corrected;
}

async function readAll(edge: RebuildDependencies["edge"], line: LineName, ids: readonly string[]): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let start = 0; start < ids.length; start += AT_ONCE)
    events.push(...(await edge.readEvents(line, ids.slice(start, start + AT_ONCE))));
  return events;
}

function refuse(version: number, expected: string, got: string): AppError {
  return new AppError("policy/refused", `version ${version}: ${expected} expected, got ${got}`);
}
