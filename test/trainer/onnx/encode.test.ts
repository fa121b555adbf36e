/** What we write is what an independent ONNX decoder reads. */
import { fromBinary } from "@bufbuild/protobuf";
import { type GraphProto, ModelProtoSchema } from "onnx-buf";
import { describe, expect, it } from "vitest";
import { add, customGradient, gemm, reduceSum, reshape, slice } from "../../../trainer/autodiff/build.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { buildAdapterTraining, buildFullTraining } from "../../../trainer/model/training.ts";
import { encodeModel, graphInputs } from "../../../trainer/onnx/encode.ts";
import { tinyConfig } from "../tiny.ts";

const bucket = { rows: 2, length: 6, positions: 3 };

function decode(model: Uint8Array): GraphProto {
  const decoded = fromBinary(ModelProtoSchema, model);
  expect(decoded.irVersion).toBe(10n);
  expect(decoded.opsetImport.map(({ domain, version }) => [domain, version])).toEqual([
    ["", 23n],
    ["com.microsoft", 1n],
  ]);
  if (decoded.graph === undefined) throw new Error("a graph expected");
  return decoded.graph;
}

describe("encodeModel", () => {
  it("writes nodes, attributes, constants, inputs and outputs", () => {
    const graph = new Graph();
    const x = graph.input("x", [2, 3]);
    const w = graph.constant(Float32Array.of(1, -2, 3, 4, 5, 6), [2, 3]);
    const y = graph.scope("layer", () => gemm(x, w, { transB: true, alpha: 0.5 }));
    const { node, initializer, input, output } = decode(encodeModel({ y: reduceSum(slice(y, 0, [1, 2]), [-1]) }));

    expect(node.map(({ opType }) => opType)).toEqual(["Gemm", "Slice", "ReduceSum", "Identity"]);
    expect(node[0]?.name).toMatch(/^\/layer\/Gemm_/);
    const attributes = Object.fromEntries(node[0]?.attribute.map(({ name, i, f }) => [name, name === "alpha" ? f : i]) ?? []);
    expect(attributes).toEqual({ transA: 0n, transB: 1n, alpha: 0.5 });
    const weights = initializer.find(({ dims }) => dims.length === 2);
    expect(weights?.dims).toEqual([2n, 3n]);
    expect([...new Float32Array(weights?.rawData.slice().buffer ?? new ArrayBuffer(0))]).toEqual([1, -2, 3, 4, 5, 6]);
    expect(input.map(({ name }) => name)).toEqual(["x"]);
    expect(output.map(({ name }) => name)).toEqual(["y"]);
  });

  it("writes negative integers", () => {
    const graph = new Graph();
    const scores = graph.input("x", [2, 3]);
    const { node } = decode(encodeModel({ y: graph.apply("Softmax", [scores], {}) }));
    expect(node[0]?.attribute[0]?.i).toBe(-1n);
  });

  it("writes no node for a value with a gradient of its own", () => {
    const graph = new Graph();
    const x = graph.input("x", [2]);
    const { node } = decode(
      encodeModel({
        y: add(
          customGradient(add(x, x), [x], (g) => [g]),
          x,
        ),
      }),
    );
    expect(node.map(({ opType }) => opType)).toEqual(["Add", "Add", "Identity"]);
  });

  it("gives the same bytes for the same model, full and adapter", () => {
    const config = tinyConfig();
    const adapter = { rank: 2, alpha: 4, layers: ["model.layers.0.self_attn.q_proj"] };
    const terms = { crossEntropy: {}, policy: { clipLow: 0.2, clipHigh: 0.28, masked: true } };
    const full = (): Uint8Array => encodeModel(buildFullTraining(config, bucket));
    const tuned = (): Uint8Array => encodeModel(buildAdapterTraining(config, bucket, { adapter, terms }));
    expect(Buffer.compare(full(), full())).toBe(0);
    expect(Buffer.compare(tuned(), tuned())).toBe(0);
  });

  it("writes messages within messages, texts and numbers of any length", () => {
    const graph = new Graph();
    const [rows, name] = [40_000, "ü".repeat(200)]; // 160,000 bytes, 400 bytes
    const table = graph.constant(
      Float32Array.from({ length: rows }, (_, index) => index),
      [rows, 1],
    );
    const long = graph.constant(BigInt64Array.of(2n ** 40n, -1n), [2]);
    const { initializer, input, output } = decode(encodeModel({ y: add(graph.input(name, [rows, 1]), table), z: reshape(long, [1, 2]) }));
    expect(input.map((each) => each.name)).toEqual([name]);
    expect(output.map((each) => each.name)).toEqual(["y", "z"]);
    const [held] = initializer.filter(({ dims }) => dims.length === 2 && dims[0] === BigInt(rows));
    const values = new Float32Array(held?.rawData.slice().buffer ?? new ArrayBuffer(0));
    expect([values.length, values[0], values[rows - 1]]).toEqual([rows, 0, rows - 1]);
    const [numbers] = initializer.filter(({ dataType, dims }) => dataType === 7 && dims[0] === 2n && dims.length === 1); // INT64
    expect(numbers?.rawData.length).toBe(16);
  });

  it("reshapes once what is reshaped several times", () => {
    const graph = new Graph();
    const x = graph.input("x", [2, 6]);
    const { node } = decode(encodeModel({ y: reshape(reshape(reshape(x, [12]), [3, 4]), [4, 3]) }));
    expect(node.map(({ opType, input }) => [opType, input[0]])).toEqual([
      ["Reshape", "x"],
      ["Identity", node[0]?.output[0]],
    ]);
  });

  it("declares every input that is read, and no other", () => {
    const outputs = buildFullTraining(tinyConfig(), bucket);
    const { input } = decode(encodeModel(outputs));
    expect(input.map(({ name }) => name)).toEqual(graphInputs(outputs).map(({ name }) => name));
  });
});
