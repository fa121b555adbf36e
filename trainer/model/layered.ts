/**
 * Graphs for bases that are run a layer at a time: every layer of a bucket goes through the same one forward and the same one
 * backward, under the names of the first, and the head through a third. What a graph holds is one layer's, however many there are.
 */
import { customGradient, rmsNorm } from "../autodiff/build.ts";
import { pullback } from "../autodiff/grad.ts";
import { Graph, type Node } from "../autodiff/graph.ts";
import type { FloatType, Shape } from "../autodiff/shape.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { TermOptions } from "../loss/terms.ts";
import type { AdapterShape } from "./adapter.ts";
import { type Attend, buildBlock, headWeight } from "./decoder.ts";
import { keysOf, valuesOf } from "./decoding.ts";
import { type Bucket, sequenceInputs, tokenCount } from "./forward.ts";
import { modelInputs } from "./inputs.ts";
import { multiply, type Weights } from "./linear.ts";
import { FINAL_NORM, projections } from "./parameters.ts";
import { buildScores } from "./scoring.ts";
import { type Outputs, buildLoss, gradientOf, gradientOutputs } from "./training.ts";

/** The residual stream [M, D] before a layer, and, of the head, the rows [C, D] that predict. */
export const HIDDEN = "hidden";
/** Gradient of the loss with respect to what a layer gives [M, D]. */
export const COTANGENT = "cotangent";
export const LAYER_OUTPUT = "output";

const keptOf = (layer: string): string => `kept:${layer}`;

/** Products that gradients of a layer read, with their shapes: all but the last, which is only added. */
export function keptProducts(config: ModelConfig, bucket: Bucket): Map<string, Shape> {
  const read = Object.entries(projections(config)).filter(([name]) => name !== "mlp.down_proj");
  return new Map(read.map(([name, { out }]) => [keptOf(`model.layers.0.${name}`), [tokenCount(bucket), out]]));
}

/** A tensor of any layer under the name that it has in the graph all layers share. */
export function sharedName(name: string): string {
  return name.replace(/\.layers\.\d+\./, ".layers.0.");
}

/** The same tensor in another layer. */
export function inLayer(shared: string, layer: number): string {
  return shared.replace(".layers.0.", `.layers.${layer}.`);
}

/** The layer that a tensor or linear layer belongs to; −1 for those of none. */
export function layerOf(name: string): number {
  return Number(/\.layers\.(\d+)\./.exec(name)?.[1] ?? -1);
}

/** The part of an adapter that one layer has, under shared names; undefined where it has none. */
export function shapeInLayer(adapter: AdapterShape | undefined, layer: number): AdapterShape | undefined {
  const layers = adapter?.layers.filter((name) => layerOf(name) === layer).map(sharedName) ?? [];
  return adapter === undefined || layers.length === 0 ? undefined : { ...adapter, layers };
}

type LayerOptions = {
  readonly adapter: AdapterShape | undefined;
  readonly keeps: boolean;
  /** Whether the layer's keys and values are outputs. */
  readonly caches?: boolean;
  /** Of frozen matrices. */ readonly compute: FloatType;
};

/** Output `output` [M, D] of one layer and, where it `keeps`, every one of `keptProducts`; where it `caches`, keys and values [M, J·K]. */
export function buildLayer(config: ModelConfig, bucket: Bucket, { adapter, keeps, caches = false, compute }: LayerOptions): Outputs {
  const products = new Map<string, Node>();
  const { output, keys, values } = oneLayer(config, bucket, {
    adapter,
    compute,
    kept: (layer, product) => {
      products.set(keptOf(layer), product);
      return product;
    },
  });
  const names = keeps ? keptProducts(config, bucket) : new Map<string, Shape>();
  return {
    [LAYER_OUTPUT]: output,
    ...(caches && { [keysOf(0)]: keys, [valuesOf(0)]: values }),
    ...Object.fromEntries([...products].filter(([name]) => names.has(name))),
  };
}

/**
 * Gradients of one layer's adapter, and of `hidden`, from `hidden` and `cotangent`. The layer is computed again from `hidden`;
 * where `keeps`, without its large matrix products, which are inputs then.
 */
export function buildLayerGradients(config: ModelConfig, bucket: Bucket, { adapter, keeps, compute }: LayerOptions): Outputs {
  const names = keptProducts(config, bucket);
  const stand = (layer: string, product: Node): Node =>
    names.has(keptOf(layer))
      ? customGradient(product.graph.input(keptOf(layer), product.type.shape), [product], (cotangent) => [cotangent])
      : product;
  const { graph, hidden, output, tensors } = oneLayer(config, bucket, { adapter, compute, ...(keeps && { kept: stand }) });
  const targets = new Map([[HIDDEN, hidden], ...tensors]);
  const found = pullback(output, { seed: graph.input(COTANGENT, output.type.shape), targets: [...targets.values()] });
  return Object.fromEntries([...targets.keys()].flatMap((name, index) => (found[index] ? [[gradientOf(name), found[index]]] : [])));
}

function oneLayer(
  config: ModelConfig,
  bucket: Bucket,
  { adapter, compute, kept }: Omit<LayerOptions, "keeps"> & { readonly kept?: Weights["kept"] },
): { graph: Graph; hidden: Node; output: Node; keys: Node; values: Node; tensors: ReadonlyMap<string, Node> } {
  const graph = new Graph();
  const one = { ...config, layerCount: 1 };
  const inputs = modelInputs(graph, one, adapter, compute);
  const hidden = graph.input(HIDDEN, [tokenCount(bucket), config.hiddenSize]);
  const weights = { ...inputs, ...(kept && { kept }) };
  const { rotary, attend } = sequenceInputs(graph, one, bucket);
  let cached: { keys: Node; values: Node } = { keys: hidden, values: hidden };
  const keeping: Attend = (operands, layer) => {
    cached = { keys: operands.key, values: operands.value };
    return attend(operands, layer);
  };
  const output = buildBlock(hidden, { config: one, layer: 0, weights, rotary, attend: keeping });
  return { graph, hidden, output, ...cached, tensors: inputs.adapter };
}

/** Positions C of a chunk. */
type HeadOptions = { readonly count: number; readonly compute: FloatType };

/** Outputs `logProbs` [C] of the targets, each term's loss [C], and the gradient of their weighted sum for `hidden` [C, D]. */
export function buildHeadTraining(config: ModelConfig, of: HeadOptions, terms: TermOptions): Outputs {
  const { graph, hidden, logits } = head(config, of);
  const { loss, outputs } = buildLoss(graph, logits, terms);
  return { ...outputs, ...gradientOutputs(loss, new Map([[HIDDEN, hidden]])) };
}

/** Outputs as those of `buildScoring`, for C rows. */
export function buildHeadScoring(config: ModelConfig, of: HeadOptions, { full }: { full: boolean }): Outputs {
  const { graph, logits } = head(config, of);
  return buildScores(graph, logits, { full });
}

function head(config: ModelConfig, { count, compute }: HeadOptions): { graph: Graph; hidden: Node; logits: Node } {
  const graph = new Graph();
  const weights = modelInputs(graph, config, undefined, compute);
  const hidden = graph.input(HIDDEN, [count, config.hiddenSize]);
  const normalised = rmsNorm(hidden, weights.weight(FINAL_NORM), config.rmsNormEps);
  return { graph, hidden, logits: graph.scope("head", () => multiply(normalised, headWeight(config, weights))) };
}
