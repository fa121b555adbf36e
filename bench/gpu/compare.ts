/** The same graphs on a device and on the CPU: how far what they give is apart. */
import { gradients } from "../../trainer/autodiff/grad.ts";
import { Graph, type Node } from "../../trainer/autodiff/graph.ts";
import type { OpName } from "../../trainer/autodiff/op-table.ts";
import { type FloatType, sizeOf } from "../../trainer/autodiff/shape.ts";
import { Adapter } from "../../trainer/engine/adapters.ts";
import { backwardLayers, forwardLayers } from "../../trainer/engine/layers.ts";
import { type Placement, SessionCache } from "../../trainer/engine/session-cache.ts";
import { targetedLayers } from "../../trainer/model/adapter.ts";
import { BaseWeights } from "../../trainer/model/base-weights.ts";
import type { Parameter } from "../../trainer/model/parameters.ts";
import { encodeModel, graphInputs } from "../../trainer/onnx/encode.ts";
import type { Device } from "../../trainer/onnx/device.ts";
import { GraphSession } from "../../trainer/onnx/session.ts";
import { parseModelConfig } from "../../shared/model-config.ts";
import { Random } from "../../trainer/random.ts";
import { say } from "../bench.ts";
import { QWEN3_0_6B } from "../train-shapes.ts";
import { INDEX_CASES, node, OP_CASES, type OpCase, project } from "./op-cases.ts";
import { TARGETS } from "./step.ts";

/** The largest ‖device − CPU‖ / ‖CPU‖ over all outputs, and where it is. */
export type Worst = { readonly relativeError: number; readonly where: string };

type Outputs = Record<string, Float32Array>;

const LENGTH = 256;
/** Every case of every operator: gradients where it has them, else what it gives. */
export async function compareOperators(device: Device): Promise<Worst> {
  let worst: Worst = { relativeError: 0, where: "" };
  for (const [name, cases] of [...Object.entries(OP_CASES), ...Object.entries(INDEX_CASES)] as [OpName, OpCase | readonly OpCase[]][]) {
    let largest = 0;
    for (const each of [cases].flat() as OpCase[]) {
      const outputsOf = name in INDEX_CASES ? valueOf : gradientsOf;
      const { relativeError } = worstOf(await runCase(each, outputsOf, device), await runCase(each, outputsOf, "cpu"));
      largest = Math.max(largest, relativeError);
      if (relativeError > worst.relativeError) worst = { relativeError, where: name };
    }
    say(`  ${name}: ${largest.toExponential(1)}`);
  }
  return worst;
}

type OutputsOf = (inputs: readonly Node[], build: OpCase["build"]) => Record<string, Node>;

const valueOf: OutputsOf = (inputs, build) => ({ value: build(inputs) });

const gradientsOf: OutputsOf = (inputs, build) => {
  const found = gradients(project(build(inputs)), inputs);
  return Object.fromEntries(found.map((gradient, index) => [`gradient${index}`, node(gradient ?? undefined)]));
};

async function runCase({ shapes, build, domain = (value) => value }: OpCase, outputsOf: OutputsOf, device: Device): Promise<Outputs> {
  const graph = new Graph();
  const inputs = shapes.map((shape, index) => graph.input(`input${index}`, shape));
  const outputs = outputsOf(inputs, build);
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

/** Of the gradient with respect to what the last layer gives: as large as in a sum over few tokens, and as small as in a mean over many. */
export const COTANGENTS = [1e-2, 1e-6] as const;

/**
 * What two layers of Qwen3-0.6B's sizes give for 256 tokens, and the gradients of an adapter on them, their frozen matrices in
 * `compute` and resident on the device, against graphs on the CPU that are fed them.
 */
export async function compareLayers(device: Device, compute: FloatType): Promise<Worst> {
  let worst: Worst = { relativeError: 0, where: "" };
  for (const cotangents of COTANGENTS) {
    const each = worstOf(
      await runLayers({ device, placement: "device", compute, cotangents }),
      await runLayers({ device: "cpu", placement: "inputs", compute: "float32", cotangents }),
    );
    say(`  ${compute}, cotangents of ${cotangents}: ${each.relativeError.toExponential(1)} at ${each.where}`);
    if (!(each.relativeError <= worst.relativeError)) worst = each;
  }
  return worst;
}

type LayersRun = { readonly device: Device; readonly placement: Placement; readonly compute: FloatType; readonly cotangents: number };

async function runLayers({ device, placement, compute, cotangents }: LayersRun): Promise<Outputs> {
  const config = parseModelConfig({ ...QWEN3_0_6B, num_hidden_layers: 2, vocab_size: 512 });
  const random = new Random(6);
  const base = new BaseWeights(config);
  for (const parameter of base.parameters) fill(base.buffer.view(parameter), parameter, random);
  const adapter = new Adapter(config, { rank: 16, alpha: 32, layers: targetedLayers(config, TARGETS) }, undefined);
  for (const parameter of adapter.parameters.parameters) fill(adapter.parameters.view(parameter), parameter, random);
  const tokens = Int32Array.from({ length: LENGTH }, () => Math.floor(random.next() * config.vocabSize));
  const cotangent = Float32Array.from({ length: LENGTH * config.hiddenSize }, () => cotangents * random.normal());
  const sessions = new SessionCache({ threads: 2, device, placement });
  const pass = {
    context: { config, base, sessions, byLayer: undefined, compute },
    bucket: { rows: 1, length: LENGTH, positions: 1 },
    feeds: { tokens: { values: tokens, shape: [LENGTH] } },
    adapter,
  };
  const trail = await forwardLayers(pass, { keptBytes: 0 });
  const found = await backwardLayers(pass, trail, cotangent);
  await sessions.close();
  return { hidden: trail.hidden, ...found };
}

/** About as large as trained weights are, so that no score saturates. */
function fill(values: Float32Array, { kind, shape }: Parameter, random: Random): void {
  const [centre, deviation] = kind === "norm" ? [1, 0.1] : [0, kind === "embedding" ? 1 : 1 / Math.sqrt(shape.at(-1) ?? 1)];
  for (let index = 0; index < values.length; index += 1) values[index] = centre + deviation * random.normal();
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
