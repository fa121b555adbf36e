/**
 * What a user's words by themselves say of an answer: a linear classifier over hashed words, pairs of words and pieces of words (fastText, arXiv:1607.01759).
 * It knows the idioms of people, which a small language model hears too seldom to learn; that one knows what was answered.
 */
import { AppError } from "../../shared/errors.ts";
import { parseSafetensors, toFloat32, writeSafetensors } from "../../shared/safetensors.ts";
import { REWARDS } from "./vote.ts";

const BUCKETS = 2 ** 16;
const PIECES = [3, 4, 5]; // characters
const TENSOR = "reaction.weight";
const SHAPE = [BUCKETS, REWARDS.length];

/** Weights [BUCKETS · rewards], row by row. */
export type ReactionWeights = Float32Array<ArrayBuffer>;

export class ReactionModel {
  readonly #weights: ReactionWeights;

  /** @throws Error where the weights are not [buckets, rewards] */
  constructor(weights: ReactionWeights) {
    if (weights.length !== BUCKETS * REWARDS.length)
      throw new Error(`reaction model: ${BUCKETS} × ${REWARDS.length} weights expected, got ${weights.length}`);
    this.#weights = weights;
  }

  /** @throws {policy/refused} where the file is no safetensors, or its tensor is not [buckets, rewards] */
  static read(file: Uint8Array): ReactionModel {
    const tensor = parseSafetensors(file).get(TENSOR);
    const got = tensor === undefined ? "none" : `[${tensor.shape.join(", ")}]`;
    if (tensor === undefined || got !== `[${SHAPE.join(", ")}]`)
      throw new AppError("policy/refused", `reaction model: a tensor ${TENSOR} [${SHAPE.join(", ")}] expected, got ${got}`);
    return new ReactionModel(new Float32Array(toFloat32(tensor)));
  }

  static write(weights: ReactionWeights): Uint8Array<ArrayBuffer> {
    return writeSafetensors(new Map([[TENSOR, { shape: SHAPE, values: weights }]]), { type: "F16" });
  }

  /** ln p of each reward, in the order of `REWARDS`, nats. */
  logProbs(words: string): number[] {
    return logSoftmax(scores(this.#weights, featuresOf(words)));
  }
}

export function emptyWeights(): ReactionWeights {
  return new Float32Array(BUCKETS * REWARDS.length);
}

/** Buckets of what the words have, each once. */
export function featuresOf(words: string): Int32Array {
  const text = words.toLowerCase().replaceAll("’", "'");
  const tokens = text.match(/[\p{L}\p{N}']+|[?!.]/gu) ?? [];
  const pairs = tokens.slice(1).map((token, index) => `b:${tokens[index]}_${token}`);
  const ends = [`s:${tokens.at(0) ?? ""}`, `e:${tokens.at(-1) ?? ""}`];
  // A line's end joins the words around it; the shipped weights were trained so.
  const letters = ` ${text.replace(/[^\p{L}\p{N}'?! ]/gu, "")} `;
  const pieces = PIECES.flatMap((size) =>
    Array.from({ length: Math.max(0, letters.length - size + 1) }, (_, at) => `c:${letters.slice(at, at + size)}`),
  );
  const features = new Set([...tokens.map((token) => `w:${token}`), ...pairs, ...ends, ...pieces].map(bucketOf));
  return Int32Array.from(features);
}

/** Evidence for each reward, added up and scaled. */
export function scores(weights: ReactionWeights, features: Int32Array): number[] {
  const scale = scaleOf(features);
  return REWARDS.map((_, reward) => {
    let sum = 0;
    for (const feature of features) sum += weights[feature * REWARDS.length + reward] ?? 0;
    return sum * scale;
  });
}

/** One over the square root of how much evidence there is: long words do not shout. */
export function scaleOf(features: Int32Array): number {
  return 1 / Math.sqrt(Math.max(1, features.length));
}

export function logSoftmax(values: readonly number[]): number[] {
  const most = Math.max(...values);
  const total = most + Math.log(values.reduce((sum, value) => sum + Math.exp(value - most), 0));
  return values.map((value) => value - total);
}

/** FNV-1a over UTF-16 units. */
function bucketOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 16)) & (BUCKETS - 1);
}
