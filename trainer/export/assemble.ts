/**
 * The batch that an update of the line would learn from now, as rows. Nothing is consumed and no line is moved: only judgements that the
 * log lacked are written to it. What an update does with its own teacher, replay and trust region stays with whoever trains the rows.
 */
import { AppError } from "../../shared/errors.ts";
import { eventIdOf } from "../../shared/hint-id.ts";
import type { LineHead } from "../../shared/policy.ts";
import { runningBaseline } from "../advantage/baseline.ts";
import { countRefusals, type Refusal } from "../data/refusal.ts";
import type { LineName } from "../feed/edge-port.ts";
import { EventWindow } from "../feed/window.ts";
import { answerRows } from "../learn/lesson/answer-rows.ts";
import { casesOf } from "../learn/batch/cases.ts";
import { toLineage } from "../learn/batch/manifest.ts";
import { inOrder, refusalsOf, signalsAmong, usedOf, type Batch, type Judged } from "../learn/batch/batch.ts";
import { gather, type GatherPorts } from "../learn/batch/gather.ts";
import type { CorrectedExchange } from "../learn/update/learner.ts";
import { sift } from "../learn/batch/sift.ts";
import type { EdgePort } from "../feed/edge-port.ts";
import type { Base } from "../policy/base.ts";
import { Signals, type SignalDependencies } from "../signals.ts";
import { lastWithin } from "../policy/publish.ts";
import { MOST_LEARNED_CASES } from "../../shared/policy.ts";
import type { ExportManifest } from "./manifest.ts";
import { correctionRows, rewardRows, suppliedRows, type ExportRow, type Rows } from "./rows.ts";

/** A_t of corrections under the teacher, where a model is at hand. */
export type Credit = (corrected: readonly CorrectedExchange[], head: LineHead, options: { baseline: number }) => Promise<Rows>;

export type ExportDependencies = Pick<SignalDependencies, "judge" | "metrics" | "now"> & {
  readonly edge: Pick<
    EdgePort,
    | "readHead"
    | "pull"
    | "readInfluence"
    | "readQuarantine"
    | "readWithdrawn"
    | "readEvents"
    | "readTurns"
    | "readVersion"
    | "readReopened"
    | "postJudgements"
  >;
  readonly base: Pick<Base, "tokenizer" | "grammars" | "name" | "rowTokens">;
  readonly loadAdapter: GatherPorts["loadAdapter"];
  /** Absent: corrections are exported by their reward alone. */
  readonly credit?: Credit | undefined;
  readonly seed: number;
  /** Signals at most. */
  readonly most: number;
  readonly onProgress: (counts: { events: number; signals: number }) => void;
};

export type Assembled = {
  readonly rows: readonly ExportRow[];
  readonly manifest: Omit<ExportManifest, "format" | "files">;
  /** Signals that wait for a judge that is away; they and what came after them are not in the batch. */
  readonly unjudged: number;
};

const MOST_CASE_BYTES = 2_000_000;

/** @throws {policy/refused} where the line cannot be exported now, or has nothing to learn */
export async function assembleExport(line: LineName, deps: ExportDependencies): Promise<Assembled> {
  const { edge, base, seed } = deps;
  const { batch: pending, signals: judged, unjudged, window } = await pullBatch(line, deps);
  const { head } = pending;
  const { batch, shares, others, barred } = await sift(pending, { edge, line, signals: judged });
  const baseline = runningBaseline(window.cache.rewards(head.cursor, barred.turns));
  const heard: Batch = { ...batch, learnable: inOrder([...others, ...batch.learnable]) };
  const { signals } = head.settings.learning;
  const asked = { signals: { ...signals, answers: signals.answers === "off" ? ("off" as const) : ("demonstration" as const) }, shares };
  const gathered = await gather({ edge, line, loadAdapter: deps.loadAdapter }, heard.learnable, { ...asked, barred: barred.turns });
  const shows = signals.answers !== "preference";
  const answers = answerRows(shows ? gathered.supplied : [], base);
  const corrections =
    deps.credit === undefined
      ? correctionRows(gathered.corrected, { tokenizer: base.tokenizer, baseline })
      : await deps.credit(gathered.corrected, head, { baseline });
  const rewards = rewardRows(gathered.rewarded, {
    parent: head.parent,
    maxStaleness: signals.maxStaleness,
    rewards: signals.rewards === "steps" ? "steps" : "outcome",
    baseline,
  });
  const rows = [...corrections.rows, ...suppliedRows(answers.rows), ...rewards.rows];
  const refused = [...corrections.refused, ...answers.refused, ...rewards.refused, ...(shows ? [] : gathered.supplied.map(withoutPair))];
  if (rows.length === 0) throw nothing(line, { refusals: [...heard.refusals, ...refused], unjudged });
  const used = usedOf(heard, refused);
  const all = refusalsOf(heard, { refused, used });
  const of = (form: ExportRow["form"]): number => rows.filter((row) => row.form === form).length;
  return {
    rows,
    unjudged,
    manifest: {
      kind: "nextstate-export/1",
      agent: head.agent,
      line: head.line,
      parent: head.parent,
      parentAdapter: head.parentAdapter,
      baseDigest: head.baseDigest,
      baseName: base.name,
      fromSeq: head.cursor,
      toSeq: heard.toSeq,
      advantages: deps.credit === undefined ? "rewards" : "hybrid",
      baseline,
      seed,
      events: used.map(({ signal, verdict }) =>
        toLineage(signal, verdict, { liftNats: undefined, share: shares.get(signal.event.eventId) }),
      ),
      hints: [...new Set(used.flatMap(({ verdict }) => (verdict.hint === undefined ? [] : [verdict.hint.text])))],
      refused: all,
      cases: lastWithin(casesOf(used), { most: MOST_LEARNED_CASES, bytes: MOST_CASE_BYTES }),
      counts: {
        rows: rows.length,
        tokens: rows.reduce((sum, { prompt, response }) => sum + prompt.length + response.length, 0),
        trainedTokens: rows.reduce((sum, { mask }) => sum + mask.filter((each) => each === 1).length, 0),
        ...{ corrections: of("correction"), answers: of("answer"), rewards: of("reward") },
        withoutLogProbs: rows.filter(({ rolloutLogProbs }) => rolloutLogProbs === null).length,
        refused: countRefusals(all),
      },
    },
  };
}

type Pending = { readonly batch: Batch; readonly signals: Signals; readonly window: EventWindow; readonly unjudged: number };

/** Reads and judges what is beyond the cursor, and takes in what is open again. */
async function pullBatch(line: LineName, { edge, judge, metrics, now, seed, most, onProgress }: ExportDependencies): Promise<Pending> {
  const head = await edge.readHead(line);
  if (head.rebuild !== null)
    throw new AppError(
      "policy/refused",
      `line ${line.line} of agent ${line.agent}: one that need not be learned again without a deleted user expected; run a trainer first`,
    );
  if (!head.settings.learning.enabled)
    throw new AppError("policy/refused", `agent ${line.agent}: learning expected to be on, got off; switch learning.enabled on first`);
  const window = new EventWindow(line, { edge, cacheTurns: Math.max(MOST_TURNS, 2 * most) });
  const signals = new Signals(line, { edge, judge, metrics, now, config: { seed } }, window);
  await window.open(head.cursor);
  await signals.reopen(head);
  const learnable = () => signals.learnable(head.settings.learning);
  while (signalsAmong(learnable()) < most && (await window.pull(0)) > 0) {
    await signals.judgeNew(head);
    onProgress({ events: window.pending.length, signals: Math.min(most, signalsAmong(learnable())) });
  }
  const { judged, refusals, frontier } = signals;
  const waiting = window.pending.filter(({ seq }) => seq >= frontier);
  const last = window.pending.findLast(({ seq }) => seq < frontier);
  const batch = { head, toSeq: last?.seq ?? head.cursor, judged, learnable: learnable(), refusals };
  return {
    ...{ batch: firstOf(most, batch, window), signals, window },
    unjudged: waiting.filter(({ payload }) => payload.kind === "nextState:arrived" || payload.kind === "feedback:given").length,
  };
}

/** The batch up to its `most`-th signal, of which all hints count: what comes after is the next one's. */
function firstOf(most: number, batch: Batch, { pending }: Pick<EventWindow, "pending">): Batch {
  if (signalsAmong(batch.learnable) <= most) return batch;
  const signalOf = ({ signal }: Judged): string => eventIdOf(signal.event.eventId);
  const ids = new Set([...new Set(batch.learnable.map(signalOf))].slice(0, most));
  const learnable = batch.learnable.filter((each) => ids.has(signalOf(each)));
  const toSeq = Math.max(batch.head.cursor, ...learnable.map(({ signal }) => signal.event.seq));
  const later = new Set(pending.filter(({ seq }) => seq > toSeq).map(({ eventId }) => eventId));
  // What is open again lies behind the cursor, and stays open.
  const left = new Set(batch.learnable.map(signalOf).filter((id) => !ids.has(id)));
  return {
    ...batch,
    toSeq,
    learnable,
    judged: batch.judged.filter((each) => !later.has(signalOf(each)) && !left.has(signalOf(each))),
    refusals: batch.refusals.filter(({ eventId }) => !later.has(eventIdOf(eventId))),
  };
}

const MOST_TURNS = 2_000; // that later events may point at

function withoutPair({ eventId }: { readonly eventId: string }): Refusal {
  return {
    eventId,
    code: "export/noRow",
    detail: "learning.signals.answers demonstration or both expected; a preference alone needs its pair's reference",
  };
}

function nothing(line: LineName, { refusals, unjudged }: { refusals: readonly Refusal[]; unjudged: number }): AppError {
  const why = Object.entries(countRefusals(refusals)).map(([code, times]) => `${times} ${code}`);
  const left = [...why, ...(unjudged > 0 ? [`${unjudged} wait for their judge`] : [])].join(", ");
  return new AppError(
    "policy/refused",
    `agent ${line.agent}: signals that an update would learn from expected, got none${left === "" ? "" : `; left out: ${left}`}`,
  );
}
