/**
 * `npm run trainer -- rebuild --agent A --version N`: makes a version again from the log, and compares the bytes. It reads
 * events, judgements, hints and their order from the log; it never judges again.
 */
import { OBJECTIVE_NAMES } from "../../shared/agent.ts";
import { sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { finishedIdOf, judgementIdOf } from "../../shared/events.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import { SHARED_LINE, turnsGiven, type PolicyVersion } from "../../shared/policy.ts";
import { assembleSignal } from "../data/exchange.ts";
import { EventCache } from "../feed/cache.ts";
import type { EdgePort, LineName } from "../feed/edge-port.ts";
import { readAll } from "../feed/read-all.ts";
import { verdictFromLog } from "../judge/judgement.ts";
import { toReplay } from "../learn/batch/replay.ts";
import { type Judged, perHint } from "../learn/batch/batch.ts";
import { formOf } from "../learn/batch/form.ts";
import { gather } from "../learn/batch/gather.ts";
import { toRehearsals } from "../learn/batch/rehearsed.ts";
import type { Learner } from "../learn/update/learner.ts";
import type { LineDependencies } from "../line-dependencies.ts";

export type Rebuilt = {
  readonly version: number;
  /** SHA-256 of the adapter's weights, as published and as made again. */
  readonly expected: string;
  readonly got: string;
  readonly same: boolean;
  /** What the version was made with and on; another host may round otherwise. */
  readonly madeOn: Readonly<Record<string, string>>;
};

type RebuildDependencies = Pick<LineDependencies, "loadAdapter" | "writeAdapter"> & {
  readonly edge: Pick<EdgePort, "readVersion" | "readEvents" | "readTurns">;
  readonly learner: Learner;
};

/** @throws {policy/refused} where the version was not learned, or the log does not tell all that it was made from */
export async function rebuildVersion(
  { edge, learner, loadAdapter, writeAdapter }: RebuildDependencies,
  line: LineName,
  version: number,
): Promise<Rebuilt> {
  const made = await edge.readVersion(line, version);
  const { adapter, inputs, metrics, status, imported } = made;
  if (imported !== null)
    throw refuse(
      version,
      "one that a trainer of this line has made",
      `one that was trained elsewhere${imported.export === null ? "" : `, from export ${imported.export}`}, and imported: only who trained it can make it again`,
    );
  if (adapter === null || metrics === null) throw refuse(version, "one that an update has made", "the bare base");
  if (inputs === null) throw refuse(version, "a record of what the update was given", "a version of before it was kept");
  if (status === "deleted") throw refuse(version, "one that can be rebuilt", "one that a deleted user had a part in");
  const before = await edge.readVersion(line, made.parent);
  const { over } = made;
  // Where a personal line's ground has moved, it was learned from its ground.
  const parent = over === null || over === before.over ? before : await edge.readVersion({ ...line, line: SHARED_LINE }, over);
  const events = await readAll(edge, line, turnsGiven(made).map(finishedIdOf));
  const turns = events.flatMap((event) => (event.payload.kind === "turn:finished" ? [{ ...event, payload: event.payload }] : []));
  const found = new Set(turns.map(({ turnId }) => turnId));
  const lacking = inputs.rehearsed.find(({ turnId }) => !found.has(turnId));
  if (lacking !== undefined) throw refuse(version, `turn ${lacking.turnId}, whose tools were rehearsed, in the log`, "none");
  const replayed = new Set(inputs.replay);
  const replay = toReplay(turns.filter(({ turnId }) => replayed.has(turnId)));
  if (replay.length !== inputs.replay.length)
    throw refuse(version, `${inputs.replay.length} replayed turns in the log`, `${replay.length}`);
  const judged = await judgedOf(edge, line, made);
  const shares = new Map(made.events.map(({ eventId, share = 1 }) => [eventId, share]));
  const asked = { signals: inputs.signals, shares, barred: new Set(inputs.leftOut) };
  const { leftOut: _, ...gathered } = await gather({ edge, line, loadAdapter }, judged, asked);
  const objective = OBJECTIVE_NAMES.find((name) => name === metrics.objective);
  if (objective === undefined) throw refuse(version, `an objective of ${OBJECTIVE_NAMES.join(", ")}`, metrics.objective);
  const outcome = await learner.update({
    ...gathered,
    signals: inputs.signals,
    replay,
    rehearsed: toRehearsals(inputs.rehearsed, turns),
    parent: await loadAdapter(parent),
    parentVersion: made.parent,
    // What answers were held to before is not on record. What was learned against it is.
    carried: made.defaults.map(({ tool, parameter }) => ({ tool, parameter, value: "" })),
    baseline: inputs.baseline,
    objective,
    seed: made.seed,
  });
  if (outcome.status !== "learned")
    throw refuse(version, "the update to learn as it did", outcome.refused.map(({ detail }) => detail).join("; "));
  const got = await sha256(writeAdapter(outcome.adapter).weightBytes);
  return { version, expected: adapter.weightsDigest, got, same: got === adapter.weightsDigest, madeOn: made.runtime };
}

/** The signals in the version's own order, with the judgements that the log has of them. */
async function judgedOf(edge: RebuildDependencies["edge"], line: LineName, { version, events, inputs }: PolicyVersion): Promise<Judged[]> {
  const ids = [...new Set(events.map(({ eventId }) => eventIdOf(eventId)))];
  const logged = new Map((await readAll(edge, line, ids)).map((event) => [event.eventId, event]));
  const judged: Judged[] = [];
  for (const { eventId } of events) {
    const event = logged.get(eventIdOf(eventId));
    const judgement = logged.get(judgementIdOf(eventIdOf(eventId)))?.payload;
    if (event === undefined || judgement?.kind !== "judgement:made")
      throw refuse(version, `event ${eventId} with its judgement in the log`, "none");
    const cache = new EventCache(Number.POSITIVE_INFINITY);
    const turns = await edge.readTurns({ agent: line.agent, session: event.sessionId, upTo: event.turnId });
    turns.forEach((turn) => cache.add(turn));
    const assembled = assembleSignal(event, cache);
    if (assembled?.status !== "signal") throw refuse(version, `event ${eventId} to be a signal`, "something else");
    const { signal } = assembled;
    const hints = perHint({ signal, verdict: verdictFromLog(judgement, signal) });
    const each = hints.find((hint) => hint.signal.event.eventId === eventId);
    if (each === undefined || inputs === null || formOf(each, inputs.signals) === undefined)
      throw refuse(version, `event ${eventId} to teach something`, "one that teaches nothing");
    judged.push(each);
  }
  return judged;
}

function refuse(version: number, expected: string, got: string): AppError {
  return new AppError("policy/refused", `version ${version}: ${expected} expected, got ${got}`);
}
