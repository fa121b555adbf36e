/** Positions with loss terms: what each term needs per position, checked, as feeds, and for some of the positions. */
import { AppError } from "../../shared/errors.ts";
import type { TokenMask } from "../../shared/grammar/token-grammar.ts";
import type { ClipBounds } from "../loss/clipped-objective.ts";
import { type TermName, type TermOptions, termNames } from "../loss/terms.ts";
import type { Feeds, Tensor } from "../onnx/session.ts";
import { type PositionBatch, expectBelow, expectFinite, expectLength } from "./batch.ts";
import { copyRows, type PickedPositions, pickRows } from "./shares.ts";

const WIDE = 256; // values of a position, from which an array is megabytes
const PENALTY = -1e4; // finite, as infinity less infinity is no number

type Weighted = { /** [N] coefficient of each position's loss */ readonly weights: Float32Array };
type TeacherTerm = Weighted & { /** [N·V] ln p_T */ readonly teacherLogProbs: Float32Array };
type PolicyTerm = Weighted &
  ClipBounds & {
    /** [N] */
    readonly advantages: Float32Array;
    /** [N] under the masks */
    readonly oldLogProbs: Float32Array;
    /** By position: what the target was drawn under. Where absent, every token was free. */
    readonly masks?: ReadonlyMap<number, TokenMask>;
  };
type DistillationTerm = Weighted &
  ClipBounds & {
    /** [N·k] k different tokens per position */
    readonly candidates: Int32Array;
    /** [N·k] */
    readonly advantages: Float32Array;
    /** [N·k] */
    readonly oldLogProbs: Float32Array;
  };

/** Positions with any of the loss terms; the loss is Σ_terms Σ_i weights_i · loss_i, in nats. */
export type LossBatch = PositionBatch & {
  readonly crossEntropy?: Weighted;
  readonly forwardKl?: TeacherTerm;
  readonly reverseKl?: TeacherTerm;
  readonly policy?: PolicyTerm;
  readonly distillation?: DistillationTerm;
};

/** What a graph has to know of the terms. */
export function termOptions({ crossEntropy, forwardKl, reverseKl, policy, distillation, positions }: LossBatch): TermOptions {
  const bounds = ({ clipLow, clipHigh }: ClipBounds): ClipBounds => ({ clipLow, clipHigh });
  return {
    ...(crossEntropy && { crossEntropy: {} }),
    ...(forwardKl && { forwardKl: {} }),
    ...(reverseKl && { reverseKl: {} }),
    ...(policy && { policy: { ...bounds(policy), masked: policy.masks !== undefined } }),
    ...(distillation && { distillation: { ...bounds(distillation), candidates: distillation.candidates.length / positions.length } }),
  };
}

type Terms = Partial<Pick<LossBatch, TermName>>;

/** The arrays that each term has beside its weights. */
const ARRAYS = {
  crossEntropy: [],
  forwardKl: ["teacherLogProbs"],
  reverseKl: ["teacherLogProbs"],
  policy: ["advantages", "oldLogProbs"],
  distillation: ["candidates", "advantages", "oldLogProbs"],
} as const satisfies Record<TermName, readonly string[]>;

/** Every array of every term, with its values per position. */
function arraysOf(batch: LossBatch, vocabSize: number): { name: string; values: Float32Array | Int32Array; width: number }[] {
  const count = batch.positions.length;
  const candidates = (batch.distillation?.candidates.length ?? 0) / count;
  const widths = { crossEntropy: 1, forwardKl: vocabSize, reverseKl: vocabSize, policy: 1, distillation: candidates };
  return termNames(termOptions(batch)).flatMap((term) =>
    ["weights", ...ARRAYS[term]].map((array) => ({
      name: `${term}.${array}`,
      values: (batch[term] as Readonly<Record<string, Float32Array | Int32Array>> | undefined)?.[array] ?? new Float32Array(0),
      width: array === "weights" ? 1 : widths[term],
    })),
  );
}

/** @throws {train/lengths | train/nonFinite | input/invalid} naming the array at fault */
export function checkTerms(batch: LossBatch, vocabSize: number): void {
  const count = batch.positions.length;
  const candidates = batch.distillation?.candidates;
  if (candidates !== undefined && (candidates.length === 0 || candidates.length % count !== 0))
    throw new AppError("train/lengths", `distillation.candidates: a multiple of ${count} expected, got ${candidates.length}`);
  for (const { name, values, width } of arraysOf(batch, vocabSize)) {
    expectLength(name, values.length, count * width);
    if (values instanceof Int32Array) expectBelow(name, values, vocabSize);
    else expectFinite(name, values);
  }
}

/** As `<term>.<array>`. Per-position arrays are columns, so that they meet log-probabilities [N, ·]. */
export function termFeeds(batch: LossBatch, vocabSize: number): Feeds {
  const count = batch.positions.length;
  const feeds: Record<string, Tensor> = {};
  for (const { name, values, width } of arraysOf(batch, vocabSize))
    feeds[name] = { values, shape: name.endsWith(".weights") ? [count] : [count, width] };
  const masks = batch.policy?.masks;
  if (masks) feeds["policy.penalties"] = { values: penaltiesOf(masks, { count, vocabSize }), shape: [count, vocabSize] };
  return feeds;
}

/** Every term for some of the positions; whole distributions in memory that `take` gives. */
export function pickTerms(batch: LossBatch, { indices, size, take }: PickedPositions & { take: (length: number) => Float32Array }): Terms {
  const count = batch.positions.length;
  const pick = (value: unknown): unknown => {
    if (value instanceof Float32Array || value instanceof Int32Array) {
      const width = value.length / count;
      return value instanceof Float32Array && width >= WIDE
        ? copyRows(value, indices, { width, into: take(size * width).subarray(0, size * width) })
        : pickRows(value, indices, { width, size });
    }
    if (!(value instanceof Map)) return value;
    return new Map([...indices].flatMap((index, place) => (value.has(index) ? [[place, value.get(index)]] : [])));
  };
  const ofTerm = (term: object): object => Object.fromEntries(Object.entries(term).map(([name, value]) => [name, pick(value)]));
  // Each term keeps its fields, and each field its type.
  return Object.fromEntries(termNames(termOptions(batch)).map((name) => [name, ofTerm(batch[name] ?? {})]));
}

/** [N·V] what is added to logits: 0 for what a mask lets through, else so much less that no probability is left in float32. */
function penaltiesOf(masks: ReadonlyMap<number, TokenMask>, { count, vocabSize }: { count: number; vocabSize: number }): Float32Array {
  const penalties = new Float32Array(count * vocabSize);
  for (const [position, { kind, ids }] of masks) {
    const row = penalties.subarray(position * vocabSize, (position + 1) * vocabSize);
    if (kind === "allow") row.fill(PENALTY);
    for (const id of ids) row[id] = kind === "allow" ? 0 : PENALTY;
  }
  return penalties;
}
