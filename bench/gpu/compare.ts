/** The same graphs on a device and on the CPU: how far their gradients are apart. */
import { gradients } from "../../trainer/autodiff/grad.ts";
import { Graph } from "../../trainer/autodiff/graph.ts";
import type { OpName } from "../../trainer/autodiff/op-table.ts";
import { type FloatType, sizeOf } from "../../trainer/autodiff/shape.ts";
import { ResidentSessions } from "../../trainer/engine/resident-sessions.ts";
import { buildLayerGradients, COTANGENT } from "../../trainer/model/layered.ts";
import { encodeModel, graphInputs } from "../../trainer/onnx/encode.ts";
import type { Device } from "../../trainer/onnx/device.ts";
import { type Feeds, GraphSession } from "../../trainer/onnx/session.ts";
import { parseModelConfig } from "../../shared/model-config.ts";
import { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import { QWEN3_0_6B } from "../train-shapes.ts";
import { node, OP_CASES, type OpCase, project } from "./op-cases.ts";

/** The largest ‖device − CPU‖ / ‖CPU‖ over the gradients, and where it is. */
export type Worst = { readonly relativeError: number; readonly where: string };

type Outputs = Record<string, Float32Array>;

const LENGTH = 256;
const SHAPE = {
  rank: 16,
  alpha: 32,
  layers: ["q_proj", "k_proj", "v_proj", "o_proj"]
    .map((name) => `model.layers.0.self_attn.${name}`)
    .concat(["gate_proj", "up_proj", "down_proj"].map((name) => `model.layers.0.mlp.${name}`)),
};

/** Every case of every differentiable operator. */
export async function compareOperators(device: Device): Promise<Worst> {
  let worst: Worst = { relativeError: 0, where: "" };
  for (const [name, cases] of Object.entries(OP_CASES) as [OpName, OpCase | readonly OpCase[]][]) {
    let largest = 0;
    for (const each of [cases].flat() as OpCase[]) {
      const { relativeError } = worstOf(await runCase(each, device), await runCase(each, "cpu"));
      largest = Math.max(largest, relativeError);
      if (relativeError > worst.relativeError) worst = { relativeError, where: name };
    }
    say(`  ${name}: ${largest.toExponential(1)}`);
  }
  return worst;
}

async function runCase({ shapes, build, domain = (value) => value }: OpCase, device: Device): Promise<Outputs> {
  const graph = new Graph();
  const inputs = shapes.map((shape, index) => graph.input(`input${index}`, shape));
  const found = gradients(project(build(inputs)), inputs);
  const outputs = Object.fromEntries(found.map((gradient, index) => [`gradient${index}`, node(gradient ?? undefined)]));
  const session = await GraphSession.open(encodeModel(outputs), { threads: 1, device });
  const random = new Random(5);
  const read = new Set(graphInputs(outputs).map(({ name }) => name));
  const feeds = shapes.map((shape, index) => {
    const values = Float32Array.from({ length: sizeOf(shape) }, () => domain(random.normal()));
    return [`input${index}`, { values, shape }] as const;
  });
  const result = await session.run(Object.fromEntries(feeds.filter(([name]) => read.has(name))));
  await session.close();
  return result;
}

/** One layer of Qwen3-0.6B's sizes over 256 tokens, its frozen matrices in `compute` and resident on the device. */
export async function compareLayer(device: Device, compute: FloatType): Promise<Worst> {
  const worst = worstOf(await runLayer(device, compute), await runLayer("cpu", "float32"));
  say(`  ${compute}: ${worst.relativeError.toExponential(1)} at ${worst.where}`);
  return worst;
}

async function runLayer(device: Device, compute: FloatType): Promise<Outputs> {
  const config = parseModelConfig(QWEN3_0_6B);
  const bucket = { rows: 1, length: LENGTH, positions: 1 };
  const graph = (): ReturnType<typeof buildLayerGradients> =>
    buildLayerGradients(config, bucket, { adapter: SHAPE, keeps: false, compute });
  const random = new Random(6);
  const feeds = graphInputs(graph()).map(({ name, type: { shape } }) => {
    // About as large as trained weights are, so that no score saturates.
    const deviation = name === COTANGENT ? 1e-2 : (shape.length > 1 ? 1 : 0.1) / Math.sqrt(shape.at(-1) ?? 1);
    const centre = name.includes("norm") ? 1 : 0;
    const values = Float32Array.from({ length: sizeOf(shape) }, () => centre + deviation * random.normal());
    return [name, { values, shape }] as const;
  });
  const part = (frozen: boolean): Feeds => Object.fromEntries(feeds.filter(([name]) => name.startsWith("model.") === frozen));
  const sessions = new ResidentSessions({ threads: 2, device });
  const outputs = await sessions.run("layer", () => [graph()], { feeds: part(false), resident: { id: "0", tensors: [part(true)] } });
  await sessions.close();
  return outputs;
}

function worstOf(got: Outputs, expected: Outputs): Worst {
  let worst: Worst = { relativeError: 0, where: "" };
  for (const [where, values] of Object.entries(expected)) {
    const [difference, norm] = [normOf(values.map((value, index) => value - (got[where]?.[index] ?? Number.NaN))), normOf(values)];
    const relativeError = norm === 0 ? difference : difference / norm;
    // NaN is never smaller.
    if (!(relativeError <= worst.relativeError)) worst = { relativeError, where };
  }
  return worst;
}

function normOf(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}
