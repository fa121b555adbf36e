/** Frozen tensors that stay in sessions, as they do on a GPU: the same results, once for all buckets, less that crosses, and 16-bit matrices. */
import { execFileSync } from "node:child_process";
import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation } from "onnx-buf";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { FloatType } from "../../../trainer/autodiff/shape.ts";
import { sizeOf } from "../../../trainer/autodiff/shape.ts";
import { add, mul } from "../../../trainer/autodiff/build.ts";
import { Graph } from "../../../trainer/autodiff/graph.ts";
import { ResidentSessions } from "../../../trainer/engine/resident-sessions.ts";
import { SessionCache } from "../../../trainer/engine/session-cache.ts";
import { type AnyBucket, buildAnyLayer } from "../../../trainer/model/any-layer.ts";
import { buildLayerGradients, COTANGENT } from "../../../trainer/model/layered.ts";
import type { StoredTensors } from "../../../trainer/model/base-weights.ts";
import { graphInputs } from "../../../trainer/onnx/encode.ts";
import { encodeOpenModel } from "../../../trainer/onnx/open-model.ts";
import type { Feeds } from "../../../trainer/onnx/session.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, tinyConfig } from "../tiny.ts";

const config = tinyConfig({ hidden_size: 64, intermediate_size: 96, head_dim: 16 });
const adapter = { rank: 2, alpha: 4, layers: ["model.layers.0.self_attn.q_proj", "model.layers.0.mlp.gate_proj"] };
const graph = (compute: FloatType): ReturnType<typeof buildLayerGradients> =>
  buildLayerGradients(config, { rows: 2, length: 9, positions: 1 }, { adapter, keeps: false, compute });
const isFrozen = (name: string): boolean => name.startsWith("model.");

type Drawn = { readonly frozen: Feeds; readonly moving: Feeds };

/** Random values for every input: those of the layer's own parameters, and the rest. */
function draw(seed: number, cotangents = 0.3): Drawn {
  const random = new Random(seed);
  const feeds = graphInputs(graph("float32")).map(({ name, type: { shape } }) => {
    const deviation = name === COTANGENT ? cotangents : 0.3;
    const values = Float32Array.from({ length: sizeOf(shape) }, () => deviation * random.normal());
    return [name, { values, shape }] as const;
  });
  const part = (frozen: boolean): Feeds => Object.fromEntries(feeds.filter(([name]) => isFrozen(name) === frozen));
  return { frozen: part(true), moving: part(false) };
}

function storedOf(feeds: Feeds): StoredTensors {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { values }]) => [
      name,
      { size: values.length, read: () => Float32Array.from(values as Float32Array) },
    ]),
  );
}

const bytesOf = (feeds: Feeds): number => Object.values(feeds).reduce((sum, { values }) => sum + values.byteLength, 0);

type Ran = { readonly outputs: Record<string, Float32Array>; readonly bytesMoved: number };

async function fed({ frozen, moving }: Drawn): Promise<Ran> {
  const cache = new SessionCache({ threads: 1 });
  const outputs = await cache.run("layer", () => graph("float32"), { ...frozen, ...moving });
  const { bytesMoved } = cache;
  await cache.close();
  return { outputs, bytesMoved };
}

async function held({ frozen, moving }: Drawn, compute: FloatType): Promise<Ran> {
  const sessions = new ResidentSessions({ threads: 1 });
  const outputs = await sessions.run("layer", () => [graph(compute)], {
    feeds: moving,
    resident: { id: "0", tensors: [storedOf(frozen)] },
  });
  const { bytesMoved } = sessions;
  await sessions.close();
  return { outputs, bytesMoved };
}

describe("tensors that stay on the device", () => {
  it("give the same bits, and no longer cross: the bucket's own tables and shapes do, which are little", async () => {
    const drawn = draw(1);
    const [crossing, staying] = [await fed(drawn), await held(drawn, "float32")];
    expect(staying.outputs).toEqual(crossing.outputs);
    const saved = crossing.bytesMoved - staying.bytesMoved;
    expect(saved).toBeLessThan(bytesOf(drawn.frozen));
    expect(saved).toBeGreaterThan(0.95 * bytesOf(drawn.frozen));
  });

  it("are another layer's under another id, and new ones once they are given up", async () => {
    const sessions = new ResidentSessions({ threads: 1 });
    const [{ frozen, moving }, other] = [draw(1), draw(2).frozen];
    const ask = (id: string, tensors: Feeds): Promise<Record<string, Float32Array>> =>
      sessions.run("layer", () => [graph("float32")], { feeds: moving, resident: { id, tensors: [storedOf(tensors)] } });
    const first = await ask("0", frozen);
    const second = await ask("1", other);
    expect(second).not.toEqual(first);
    await sessions.close();
    expect(await ask("0", other)).toEqual(second);
    await sessions.close();
  });

  it("are there three times at most, whatever graphs ask for them, and in the branch and the layer that is asked for", async () => {
    const sessions = new ResidentSessions({ threads: 1 });
    const tensors = [Float32Array.of(1, 2), Float32Array.of(3, 4)].map((values) => storedOf({ w: { values, shape: [2] } }));
    const ask = async (terms: number, branch: number, layer: number): Promise<number[]> => {
      const build = (): [Record<string, ReturnType<typeof add>>, Record<string, ReturnType<typeof add>>] => {
        const made = new Graph();
        const [w, x] = [made.input("w", [2]), made.input("x", [2])];
        const sum = Array.from({ length: terms }, () => w).reduce(add, x);
        return [{ sum }, { product: mul(sum, x), sum }];
      };
      const feeds = { x: { values: Float32Array.of(10, 20), shape: [2] } };
      const outputs = await sessions.run(`terms ${terms}`, build, { branch, feeds, resident: { id: "w", tensors, layer } });
      return Object.values(outputs).flatMap((values) => [...values]);
    };
    expect(await ask(1, 0, 0)).toEqual([11, 22]);
    expect(await ask(1, 0, 1)).toEqual([13, 24]);
    expect(await ask(1, 1, 1)).toEqual([130, 480, 13, 24]);
    expect(sessions.bytesHeld).toBe(16);
    for (const terms of [2, 3, 4, 5]) expect(await ask(terms, 0, 0)).toEqual([10 + terms, 20 + 2 * terms]);
    expect(sessions.bytesHeld).toBe(3 * 16);
    expect(await ask(1, 0, 1)).toEqual([13, 24]); // given up, and opened again
    await sessions.close();
  });

  it.each([0.3, 1e-6])("in 16 bits give the gradients to 16 bits' precision, with cotangents of %s", async (cotangents) => {
    const drawn = draw(1, cotangents);
    const [exact, half] = [await fed(drawn), await held(drawn, "float16")];
    for (const [name, values] of Object.entries(exact.outputs)) {
      const error = relativeError(half.outputs[name] ?? [], values);
      expect(error, name).toBeLessThan(2e-3);
      expect(error, name).toBeGreaterThan(1e-5);
    }
  });

  it("are written as matrices of 16 bits, outside the model, beside norms and adapters of 32", () => {
    const names = new Set(Object.keys(draw(1).frozen));
    const encoded = encodeOpenModel([graph("bfloat16")], { isResident: (name) => names.has(name), layers: undefined });
    const model = fromBinary(ModelProtoSchema, encoded.model);
    const outside = model.graph?.initializer.filter(({ dataLocation }) => dataLocation === TensorProto_DataLocation.EXTERNAL) ?? [];
    expect(new Set(outside.map(({ name }) => name))).toEqual(names);
    for (const { name, dataType } of outside) expect([name, dataType]).toEqual([name, name.includes("norm") ? 1 : 16]); // FLOAT, BFLOAT16
    expect(model.graph?.input.map(({ name }) => name).filter(isFrozen)).toEqual([]);
  });

  it("are in one model for every bucket", () => {
    const bytesFor = (bucket: AnyBucket): string => {
      const branches = buildAnyLayer(config, bucket, { rank: bucket.rows, compute: "float32" });
      return Buffer.from(encodeOpenModel(branches, { isResident: isFrozen, layers: 2 }).model).toString("base64");
    };
    const one = bytesFor({ rows: 2, length: 9, slots: 128, tokens: 18 });
    // A token after a cache, a long row after none, rows laid out without their padding.
    for (const bucket of [
      { rows: 1, length: 1, slots: 256, tokens: 1 },
      { rows: 1, length: 700, slots: 1, tokens: 700 },
      { rows: 4, length: 32, slots: 384, tokens: 64 },
    ])
      expect(bytesFor(bucket) === one, JSON.stringify(bucket)).toBe(true);
  });
});

const Growth = z.object({
  weightBytes: z.number(),
  headBytes: z.number(),
  after: z.array(z.object({ rssBytes: z.number(), bytesHeld: z.number() })),
});

it("a base is held once, its head once more for its loss, whatever the lengths that are scored, trained and answered", () => {
  const script = new URL("resident-growth.ts", import.meta.url).pathname;
  const told = execFileSync(process.execPath, ["--expose-gc", script], { encoding: "utf8" });
  const { weightBytes, headBytes, after } = Growth.parse(JSON.parse(told));
  for (const { bytesHeld } of after) {
    expect(bytesHeld).toBeGreaterThan(0.99 * weightBytes);
    expect(bytesHeld).toBeLessThanOrEqual(weightBytes + headBytes);
  }
  const [first, ...later] = after.map(({ rssBytes }) => rssBytes);
  expect(later).toHaveLength(3);
  for (const rssBytes of later) expect(rssBytes - (first ?? 0)).toBeLessThan(weightBytes / 4);
}, 120_000);
