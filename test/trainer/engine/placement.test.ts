/** Layers whose frozen tensors stay in their sessions, as they do on a GPU: the same results, less that crosses, and 16-bit matrices. */
import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema, TensorProto_DataLocation } from "onnx-buf";
import { describe, expect, it } from "vitest";
import type { FloatType } from "../../../trainer/autodiff/shape.ts";
import { sizeOf } from "../../../trainer/autodiff/shape.ts";
import { SessionCache } from "../../../trainer/engine/session-cache.ts";
import { buildLayerGradients } from "../../../trainer/model/layered.ts";
import { encodeModel, graphInputs } from "../../../trainer/onnx/encode.ts";
import type { Feeds } from "../../../trainer/onnx/session.ts";
import { Random } from "../../../trainer/random.ts";
import { relativeError, tinyConfig } from "../tiny.ts";

const config = tinyConfig({ hidden_size: 64, intermediate_size: 96, head_dim: 16 });
const adapter = { rank: 2, alpha: 4, layers: ["model.layers.0.self_attn.q_proj", "model.layers.0.mlp.gate_proj"] };
const graph = (compute: FloatType): ReturnType<typeof buildLayerGradients> =>
  buildLayerGradients(config, { rows: 2, length: 9, positions: 1 }, { adapter, keeps: false, compute });
const isFrozen = (name: string): boolean => name.startsWith("model.");

/** Random values for every input: those of the layer's own parameters, and the rest. */
function draw(seed: number): { frozen: Feeds; moving: Feeds } {
  const random = new Random(seed);
  const feeds = graphInputs(graph("float32")).map(({ name, type: { shape } }) => {
    const values = Float32Array.from({ length: sizeOf(shape) }, () => 0.3 * random.normal());
    return [name, { values, shape }] as const;
  });
  const part = (frozen: boolean): Feeds => Object.fromEntries(feeds.filter(([name]) => isFrozen(name) === frozen));
  return { frozen: part(true), moving: part(false) };
}

const bytesOf = (feeds: Feeds): number => Object.values(feeds).reduce((sum, { values }) => sum + values.byteLength, 0);

type Ran = { readonly outputs: Record<string, Float32Array>; readonly bytesMoved: number };

async function run(placement: "inputs" | "device", compute: FloatType): Promise<Ran> {
  const cache = new SessionCache({ threads: 1, placement });
  const { frozen, moving } = draw(1);
  const outputs = await cache.run("layer", () => graph(compute), moving, { id: "0", feeds: frozen });
  const { bytesMoved } = cache;
  await cache.close();
  return { outputs, bytesMoved };
}

describe("tensors that stay on the device", () => {
  it("give the same bits, and no longer cross", async () => {
    const [fed, held] = [await run("inputs", "float32"), await run("device", "float32")];
    expect(held.outputs).toEqual(fed.outputs);
    expect(fed.bytesMoved - held.bytesMoved).toBe(bytesOf(draw(1).frozen));
  });

  it("are another layer's under another id, and new ones once they are forgotten", async () => {
    const cache = new SessionCache({ threads: 1, placement: "device" });
    const [{ frozen, moving }, other] = [draw(1), draw(2).frozen];
    const ask = (id: string, feeds: Feeds): Promise<Record<string, Float32Array>> =>
      cache.run("layer", () => graph("float32"), moving, { id, feeds });
    const first = await ask("0", frozen);
    const second = await ask("1", other);
    expect(second).not.toEqual(first);
    await cache.forgetResident();
    expect(await ask("0", other)).toEqual(second);
    await cache.close();
  });

  it("in 16 bits give the gradients to 16 bits' precision", async () => {
    const [exact, half] = [await run("inputs", "float32"), await run("device", "float16")];
    for (const [name, values] of Object.entries(exact.outputs)) {
      const error = relativeError(half.outputs[name] ?? [], values);
      expect(error, name).toBeLessThan(2e-3);
      expect(error, name).toBeGreaterThan(1e-5);
    }
  });

  it("are written as matrices of 16 bits, outside the model, beside norms and adapters of 32", () => {
    const frozen = new Set(Object.keys(draw(1).frozen));
    const model = fromBinary(ModelProtoSchema, encodeModel(graph("bfloat16"), frozen));
    const held = model.graph?.initializer.filter(({ dataLocation }) => dataLocation === TensorProto_DataLocation.EXTERNAL) ?? [];
    expect(new Set(held.map(({ name }) => name))).toEqual(frozen);
    for (const { name, dataType } of held) expect([name, dataType]).toEqual([name, name.includes("norm") ? 1 : 16]); // FLOAT, BFLOAT16
    expect(model.graph?.input.map(({ name }) => name).filter(isFrozen)).toEqual([]);
  });
});
