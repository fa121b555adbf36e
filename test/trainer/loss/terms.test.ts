/** Every loss term, value and gradient, against a plain float64 version of its formula. */
import { describe, expect, it } from "vitest";
import { add, mul, reduceSum } from "../../../trainer/autodiff/build.ts";
import { gradients } from "../../../trainer/autodiff/grad.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { type TermName, type TermOptions, buildTerms } from "../../../trainer/loss/terms.ts";
import { tokenLogProbs } from "../../../trainer/loss/token-log-probs.ts";
import { Random } from "../../../trainer/random.ts";
import { encodeModel } from "../../../trainer/onnx/encode.ts";
import { type Feeds, GraphSession } from "../../../trainer/onnx/session.ts";
import { relativeError } from "../tiny.ts";

const [N, V, K] = [6, 9, 3];
const random = new Random(4);
const normals = (count: number): number[] => Array.from({ length: count }, () => random.normal());
const rowOf = (values: readonly number[], row: number, width: number): number[] => values.slice(row * width, (row + 1) * width);

function logSoftmax(row: readonly number[]): number[] {
  const top = Math.max(...row);
  const total = Math.log(row.reduce((sum, value) => sum + Math.exp(value - top), 0)) + top;
  return row.map((value) => value - total);
}

const logits = normals(N * V);
const teacher = Array.from({ length: N }, () => logSoftmax(normals(V))).flat();
const targets = [0, 3, 8, 2, 2, 5];
const weights = [1, 0.5, 0, 2, 1.5, 1];
const candidates = Array.from({ length: N }, (_, row) => [row, (row + 2) % V, (row + 5) % V]).flat();
const advantages = normals(N * K);
// Far enough from the policy that some ratios are clipped on either side, none at a bound.
const oldLogProbs = Array.from({ length: N * K }, (_, index) => -2 + 0.5 * Math.sin(index));
// What the targets of two positions were drawn under; the others were free.
const banned = new Map([
  [1, [0, 4, 8]],
  [3, [1, 3, 5, 6]],
]);
const penalties = Array.from({ length: N * V }, (_, index) => (banned.get(Math.floor(index / V))?.includes(index % V) === true ? -1e4 : 0));
const bounds = { clipLow: 0.2, clipHigh: 0.28 };

const clipped = (logProb: number, index: number): number => {
  const ratio = Math.exp(logProb - (oldLogProbs[index] ?? 0));
  const advantage = advantages[index] ?? 0;
  return -Math.min(advantage * ratio, advantage * Math.min(Math.max(ratio, 0.8), 1.28));
};

/** Loss of each term at one position, given ln π there. */
const REFERENCE: Record<TermName, (policy: readonly number[], row: number) => number> = {
  crossEntropy: (policy, row) => -(policy[targets[row] ?? 0] ?? 0),
  forwardKl: (policy, row) => rowOf(teacher, row, V).reduce((sum, t, v) => sum + Math.exp(t) * (t - (policy[v] ?? 0)), 0),
  reverseKl: (policy, row) => policy.reduce((sum, p, v) => sum + Math.exp(p) * (p - (teacher[row * V + v] ?? 0)), 0),
  policy: (policy, row) => {
    const left = policy.reduce((sum, p, v) => sum + (banned.get(row)?.includes(v) === true ? 0 : Math.exp(p)), 0);
    return clipped((policy[targets[row] ?? 0] ?? 0) - Math.log(left), row);
  },
  distillation: (policy, row) =>
    rowOf(candidates, row, K).reduce((sum, token, place) => sum + clipped(policy[token] ?? 0, row * K + place), 0),
};

const OPTIONS: Required<TermOptions> = {
  crossEntropy: {},
  forwardKl: {},
  reverseKl: {},
  policy: { ...bounds, masked: true },
  distillation: { ...bounds, candidates: K },
};

function referenceLosses(name: TermName, values: readonly number[]): number[] {
  return Array.from({ length: N }, (_, row) => REFERENCE[name](logSoftmax(rowOf(values, row, V)), row));
}

function referenceGradient(name: TermName): number[] {
  const total = (values: readonly number[]): number =>
    referenceLosses(name, values).reduce((sum, loss, row) => sum + loss * (weights[row] ?? 0), 0);
  const h = 1e-6;
  return logits.map((value, index) => (total(logits.with(index, value + h)) - total(logits.with(index, value - h))) / (2 * h));
}

async function graphLosses(names: readonly TermName[], options: TermOptions = OPTIONS): Promise<Record<string, Float32Array>> {
  const graph = new Graph();
  const z = graph.input("logits", [N, V]);
  const y = graph.input("targets", [N, 1], "int32");
  const chosen = tokenLogProbs(z, y);
  const asked = Object.fromEntries(names.map((name) => [name, options[name]]));
  const terms = buildTerms(graph, { logits: z, targets: y, chosen, options: asked });
  const w = graph.constant(Float32Array.from(weights), [N]);
  const loss = [...terms.values()].reduce((sum, term) => add(sum, reduceSum(mul(term, w), [0])), graph.scalar(0));
  const [gradient] = gradients(loss, [z]);
  const session = await GraphSession.open(encodeModel({ ...Object.fromEntries(terms), gradient: gradient ?? z }), { threads: 1 });
  const inputs = new Set(graph.nodes.flatMap(({ source, name }) => (source.kind === "input" ? [name] : [])));
  const outputs = await session.run(Object.fromEntries(Object.entries(feeds()).filter(([name]) => inputs.has(name))));
  await session.close();
  return outputs;
}

function feeds(): Feeds {
  const floats = (values: readonly number[], width: number): Feeds[string] => ({ values: Float32Array.from(values), shape: [N, width] });
  return {
    logits: floats(logits, V),
    targets: { values: Int32Array.from(targets), shape: [N, 1] },
    "forwardKl.teacherLogProbs": floats(teacher, V),
    "reverseKl.teacherLogProbs": floats(teacher, V),
    "policy.advantages": floats(advantages.slice(0, N), 1),
    "policy.oldLogProbs": floats(oldLogProbs.slice(0, N), 1),
    "policy.penalties": floats(penalties, V),
    "distillation.candidates": { values: Int32Array.from(candidates), shape: [N, K] },
    "distillation.advantages": floats(advantages, K),
    "distillation.oldLogProbs": floats(oldLogProbs, K),
  };
}

const NAMES: readonly TermName[] = ["crossEntropy", "forwardKl", "reverseKl", "policy", "distillation"];

describe("loss terms", () => {
  it.each(NAMES)("%s has the value and gradient of its formula", async (name) => {
    const { gradient, [name]: losses } = await graphLosses([name]);
    expect(relativeError(losses ?? [], referenceLosses(name, logits))).toBeLessThan(1e-6);
    expect(relativeError(gradient ?? [], referenceGradient(name))).toBeLessThan(1e-6);
  });

  it("leaves the reward of targets that were drawn without a mask as it is without any", async () => {
    const [masked, free] = [await graphLosses(["policy"]), await graphLosses(["policy"], { policy: { ...bounds, masked: false } })];
    for (let row = 0; row < N; row += 1) {
      if (!banned.has(row)) expect(masked["policy"]?.[row] ?? NaN).toBeCloseTo(free["policy"]?.[row] ?? NaN, 6);
    }
  });

  it("tries every case of the clip: some ratios low, some high, some free", () => {
    const ratios = candidates.map((token, index) =>
      Math.exp((logSoftmax(rowOf(logits, Math.floor(index / K), V))[token] ?? 0) - (oldLogProbs[index] ?? 0)),
    );
    expect(ratios.some((ratio) => ratio < 0.8)).toBe(true);
    expect(ratios.some((ratio) => ratio > 1.28)).toBe(true);
    expect(ratios.some((ratio) => ratio > 0.8 && ratio < 1.28)).toBe(true);
  });

  it("adds up: the gradient of all terms is the sum of theirs", async () => {
    const all = await graphLosses(NAMES);
    const sum = NAMES.map(referenceGradient).reduce((total, part) => total.map((value, index) => value + (part[index] ?? 0)));
    expect(relativeError(all["gradient"] ?? [], sum)).toBeLessThan(1e-6);
  });

  it("gives a position of weight zero no gradient", async () => {
    const { gradient } = await graphLosses(NAMES);
    expect([...(gradient ?? new Float32Array(0)).subarray(2 * V, 3 * V)].every((value) => value === 0)).toBe(true);
  });
});
