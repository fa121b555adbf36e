/** Muon's orthogonaliser, momentum and step by their formulas. */
import { describe, expect, it } from "vitest";
import { sizeOf } from "../../../trainer/autodiff/shape.ts";
import { Random } from "../../../trainer/random.ts";
import { encodeModel } from "../../../trainer/onnx/encode.ts";
import { GraphSession } from "../../../trainer/onnx/session.ts";
import { buildOrthogonaliser, muonDirection, muonUpdate } from "../../../trainer/optim/muon.ts";

type Matrix = number[][];

const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => (b[0] ?? []).map((_, column) => row.reduce((sum, value, index) => sum + value * (b[index]?.[column] ?? 0), 0)));
const transposed = (a: Matrix): Matrix => (a[0] ?? []).map((_, column) => a.map((row) => row[column] ?? 0));
const combine = (a: Matrix, b: Matrix, apply: (x: number, y: number) => number): Matrix =>
  a.map((row, i) => row.map((value, j) => apply(value, b[i]?.[j] ?? 0)));

/** The post's zeropower_via_newtonschulz5 in float64. */
function reference(gradient: Matrix): Matrix {
  const tall = gradient.length > (gradient[0]?.length ?? 0);
  const norm = Math.sqrt(gradient.flat().reduce((sum, value) => sum + value * value, 0)) + 1e-7;
  let x = (tall ? transposed(gradient) : gradient).map((row) => row.map((value) => value / norm));
  for (let iteration = 0; iteration < 5; iteration += 1) {
    const gram = product(x, transposed(x));
    const polynomial = combine(gram, product(gram, gram), (b, c) => -4.775 * b + 2.0315 * c);
    x = combine(x, product(polynomial, x), (a, b) => 3.4445 * a + b);
  }
  return tall ? transposed(x) : x;
}

async function orthogonalise(matrices: readonly Matrix[]): Promise<Float32Array> {
  const [out, width] = [matrices[0]?.length ?? 0, matrices[0]?.[0]?.length ?? 0];
  const session = await GraphSession.open(encodeModel(buildOrthogonaliser({ out, in: width }, matrices.length)), { threads: 1 });
  const { orthogonal } = await session.run({
    direction: { values: Float32Array.from(matrices.flat(2)), shape: [matrices.length, out, width] },
  });
  await session.close();
  return orthogonal ?? new Float32Array(0);
}

describe("buildOrthogonaliser", () => {
  it.each([
    [4, 7],
    [7, 4],
    [5, 5],
  ])("follows the published iteration for matrices of %i × %i, each on its own", async (out, width) => {
    const random = new Random(2);
    const create = (scale: number): Matrix =>
      Array.from({ length: out }, () => Array.from({ length: width }, () => scale * random.normal()));
    const matrices = [create(1), create(50)];
    const got = await orthogonalise(matrices);
    expect(got.length).toBe(sizeOf([2, out, width]));
    matrices.flatMap((matrix) => reference(matrix).flat()).forEach((value, index) => expect(got[index]).toBeCloseTo(value, 4));
  });
});

describe("muonDirection", () => {
  it("looks ahead along the moved momentum", () => {
    const momentum = Float32Array.of(1);
    const direction = new Float32Array(1);
    muonDirection({ gradient: Float32Array.of(4), momentum, direction }, { lr: 1, momentum: 0.75, weightDecay: 0, gradientScale: 0.5 });
    expect(momentum[0]).toBe(0.75 * 1 + 0.25 * 2);
    expect(direction[0]).toBe(0.25 * 2 + 0.75 * 1.25);
  });
});

describe("muonUpdate", () => {
  it("decays first and takes √(out/in) longer steps where a matrix is tall", () => {
    const options = { lr: 0.1, momentum: 0, weightDecay: 0.5, gradientScale: 1 };
    const step = (shape: { out: number; in: number }): number => {
      const values = Float32Array.of(1);
      muonUpdate({ values, direction: Float32Array.of(1) }, { shape, options });
      return values[0] ?? 0;
    };
    expect(step({ out: 2, in: 8 })).toBeCloseTo(0.95 - 0.1, 6);
    expect(step({ out: 8, in: 2 })).toBeCloseTo(0.95 - 0.2, 6);
  });
});
