/** Every operator of the table: its shape rule and its derivative against what ONNX Runtime computes. */
import { describe, expect, it } from "vitest";
import { INDEX_CASES, node, OP_CASES, type OpCase, project } from "../../../bench/gpu/op-cases.ts";
import { gradients } from "../../../trainer/autodiff/grad.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { OP_TABLE, type OpName } from "../../../trainer/autodiff/op-table.ts";
import { nonDifferentiable } from "../../../trainer/autodiff/op-def.ts";
import { sizeOf } from "../../../trainer/autodiff/shape.ts";
import { Random } from "../../../trainer/random.ts";
import { encodeModel } from "../../../trainer/onnx/encode.ts";
import { GraphSession } from "../../../trainer/onnx/session.ts";

/** Largest difference between the derived gradient and central differences, relative to the largest gradient. */
async function gradientError({ shapes, build: apply, domain = (value) => value }: OpCase): Promise<number> {
  const graph = new Graph();
  const inputs = shapes.map((shape, index) => graph.input(`input${index}`, shape));
  const loss = project(apply(inputs));
  const found = gradients(loss, inputs);
  const outputs = Object.fromEntries(found.map((gradient, index) => [`gradient${index}`, node(gradient ?? undefined)]));
  const session = await GraphSession.open(encodeModel({ loss, ...outputs }), { threads: 1 });
  const random = new Random(5);
  const values = shapes.map((shape) => Float32Array.from({ length: sizeOf(shape) }, () => domain(random.normal())));
  const run = (): Promise<Record<string, Float32Array>> =>
    session.run(Object.fromEntries(values.map((value, index) => [`input${index}`, { values: value, shape: shapes[index] ?? [] }])));
  const derived = await run();
  let [worst, largest] = [0, 0];
  for (const [index, value] of values.entries()) {
    for (let element = 0; element < value.length; element += 1) {
      const expected = await centralDifference(value, element, async () => (await run())["loss"]?.[0] ?? Number.NaN);
      const got = derived[`gradient${index}`]?.[element] ?? Number.NaN;
      worst = Math.max(worst, Math.abs(got - expected));
      largest = Math.max(largest, Math.abs(expected));
    }
  }
  await session.close();
  return worst / largest;
}

async function centralDifference(values: Float32Array, element: number, loss: () => Promise<number>): Promise<number> {
  const old = values[element] ?? 0;
  values[element] = old + 2 ** -8; // exact in float32; the error of the difference is of order 2⁻¹⁶
  const above = await loss();
  values[element] = old - 2 ** -8;
  const below = await loss();
  values[element] = old;
  return (above - below) / 2 ** -7;
}

describe("operator table", () => {
  const names = Object.keys(OP_TABLE) as OpName[];

  it("has a case for every operator: among those that are differentiated, or among those that are not", () => {
    const differentiable = names.filter((name) => OP_TABLE[name].vjp !== nonDifferentiable);
    expect(Object.keys(OP_CASES).toSorted()).toEqual(differentiable.toSorted());
    expect([...Object.keys(OP_CASES), ...Object.keys(INDEX_CASES)].toSorted()).toEqual(names.toSorted());
  });

  it.each(Object.keys(OP_CASES) as OpName[])("differentiates %s as central differences do", async (name) => {
    const cases = [OP_CASES[name] ?? []].flat() as OpCase[];
    for (const each of cases) expect(await gradientError(each)).toBeLessThan(2e-3);
  });

  it.each(names.filter((name) => OP_TABLE[name].vjp === nonDifferentiable))("refuses a gradient through %s", (name) => {
    const [first] = [INDEX_CASES[name] ?? []].flat() as OpCase[];
    if (first === undefined) throw new Error("a case expected");
    const { shapes, build } = first;
    const graph = new Graph();
    const inputs = shapes.map((shape, index) => graph.input(`x${index}`, shape));
    const output = build(inputs);
    expect(() => gradients(project(output), inputs)).toThrow(/differentiable operator expected/);
  });
});
