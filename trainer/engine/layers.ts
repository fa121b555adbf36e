/**
 * Passes through the layers one at a time. What is kept between forward and backward is each layer's input and, as far as a
 * budget goes, the products of its frozen matrices; everything else is computed again (arXiv:1604.06174, arXiv:2205.05198 §5).
 */
import { invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { sizeOf } from "../autodiff/shape.ts";
import type { AdapterShape } from "../model/adapter.ts";
import { cachedKeysOf, cachedValuesOf } from "../model/continued.ts";
import { keysOf, valuesOf } from "../model/decoding.ts";
import { type Bucket, tokenCount } from "../model/forward.ts";
import {
  buildLayer,
  buildLayerGradients,
  COTANGENT,
  HIDDEN,
  keptProducts,
  LAYER_OUTPUT,
  inLayer,
  layerOf,
  shapeInLayer,
} from "../model/layered.ts";
import { EMBEDDING, listParameters } from "../model/parameters.ts";
import { gradientOf } from "../model/training.ts";
import type { Device } from "../onnx/device.ts";
import type { Feeds } from "../onnx/session.ts";
import type { Adapter } from "./adapters.ts";
import { type EngineContext, type LayerOptions, adapterKey, ofLayer } from "./feeds.ts";
import { backwardResident, forwardResident } from "./resident-layers.ts";

/** Larger bases are run a layer at a time. Smaller ones are one graph each: trained in seconds, and what it takes in memory is little. */
const WHOLE_PARAMETERS = 100e6;

/** Beside a base that is run by layer it is little, and holds all products of 370 tokens of a base of 0.6B. */
const KEPT_BYTES = 512 * 2 ** 20;
const LOGIT_BYTES = 80 * 2 ** 20;

/** How a base of this size is run. Away from the CPU nothing is kept: products would cross twice, and take longer than to compute again. */
export function layerOptions(config: ModelConfig, device: Device): LayerOptions | false {
  const parameters = listParameters(config).reduce((sum, { size }) => sum + size, 0);
  return parameters > WHOLE_PARAMETERS && { keptBytes: device === "cpu" ? KEPT_BYTES : 0, logitBytes: LOGIT_BYTES };
}

/** What all layers of a batch share. */
export type LayerPass = {
  readonly context: LayerContext;
  readonly bucket: Bucket;
  /** As `prepareBatch` gives them. */
  readonly feeds: Feeds;
  readonly adapter: Adapter | undefined;
};

export type LayerContext = Pick<EngineContext, "config" | "base" | "sessions" | "byLayer" | "compute">;

/** What a forward pass leaves for the backward pass, which takes it apart as it goes. */
export type Trail = {
  /** After the last layer [M, D]. */
  hidden: Float32Array;
  /** By layer: its input, and what it kept. */
  readonly layers: Feeds[];
  /** Every layer's keys and values [M, J·K] by the names of `decoding.ts`, where they were asked for. */
  readonly cache: Record<string, Float32Array>;
};

/** `keptBytes`: what gradients read is kept, the inputs of all layers, and products of the last ones. `caches`: keys and values are kept. */
export type ForwardOptions = Partial<LayerOptions> & { readonly caches?: boolean };

/** From tokens to the residual stream after the last layer. */
export async function forwardLayers(pass: LayerPass, options: ForwardOptions = {}): Promise<Trail> {
  const { context, bucket } = pass;
  const hidden = embed(pass);
  const { residents } = context.sessions;
  if (residents !== undefined) return forwardResident({ ...pass, residents }, hidden, options);
  const { config, compute, sessions } = context;
  const { keptBytes, caches = false } = options;
  const shape = [tokenCount(bucket), config.hiddenSize];
  const products = keptProducts(config, bucket);
  const bytesEach = 4 * [...products.values()].reduce((sum, of) => sum + sizeOf(of), 0);
  const keepsFrom = keptBytes === undefined ? config.layerCount : config.layerCount - Math.floor(keptBytes / bytesEach);
  const trail: Trail = { hidden, layers: [], cache: {} };
  for (let layer = 0; layer < config.layerCount; layer += 1) {
    const { key, adapter } = graphOf(pass, layer);
    const keeps = layer >= keepsFrom;
    const input = { [HIDDEN]: { values: trail.hidden, shape } };
    const outputs = await sessions.run(
      `layer ${key} ${keeps} ${caches}`,
      () => buildLayer(config, bucket, { adapter, keeps, caches, compute }),
      { ...feedsOf(pass, layer), ...input },
    );
    const { [LAYER_OUTPUT]: output, [keysOf(0)]: keys, [valuesOf(0)]: values, ...kept } = outputs;
    invariant(output !== undefined, "the layer's output expected");
    if (keys && values) Object.assign(trail.cache, { [keysOf(layer)]: keys, [valuesOf(layer)]: values });
    const keptFeeds = Object.entries(kept).map(([name, each]) => [name, { values: each, shape: products.get(name) ?? [] }]);
    if (keptBytes !== undefined) trail.layers.push({ ...input, ...Object.fromEntries(keptFeeds) });
    trail.hidden = output;
  }
  return trail;
}

/** From the gradient with respect to the trail's last hidden states to those of the adapter's tensors, by gradient name. */
export async function backwardLayers(pass: LayerPass, { layers }: Trail, cotangent: Float32Array): Promise<Record<string, Float32Array>> {
  const { context, bucket, adapter: whole } = pass;
  const { config, compute, sessions } = context;
  const { residents } = sessions;
  const found: Record<string, Float32Array> = {};
  const lowest = Math.min(...(whole?.shape.layers.map(layerOf) ?? []));
  let passed = cotangent;
  for (let layer = config.layerCount - 1; layer >= lowest; layer -= 1) {
    const input = layers.pop();
    invariant(input !== undefined, "a trail through every layer expected");
    const keeps = Object.keys(input).length > 1;
    const { key, adapter } = graphOf(pass, layer);
    const given = { ...input, [COTANGENT]: { values: passed, shape: [tokenCount(bucket), config.hiddenSize] } };
    const outputs = await (residents === undefined
      ? sessions.run(`layer gradients ${key} ${keeps}`, () => buildLayerGradients(config, bucket, { adapter, keeps, compute }), {
          ...feedsOf(pass, layer),
          ...given,
        })
      : backwardResident({ ...pass, residents }, layer, given));
    for (const [name, values] of Object.entries(outputs))
      if (name === gradientOf(HIDDEN)) passed = values;
      else found[inLayer(name, layer)] = values;
  }
  return found;
}

function graphOf({ bucket, adapter }: LayerPass, layer: number): { key: string; adapter: AdapterShape | undefined } {
  const shape = shapeInLayer(adapter?.shape, layer);
  return { key: `${bucket.rows} ${bucket.length} ${bucket.slots ?? bucket.packed} ${bucket.tokens} ${adapterKey(shape)}`, adapter: shape };
}

/** A layer's own parameters and the adapter's under shared names, and what all layers share. */
function feedsOf({ context, feeds, adapter }: LayerPass, layer: number): Feeds {
  const [keys, values] = [feeds[cachedKeysOf(layer)], feeds[cachedValuesOf(layer)]];
  return {
    ...ofLayer(context.base.buffer, layer),
    ...feeds,
    ...(keys && values && { [cachedKeysOf(0)]: keys, [cachedValuesOf(0)]: values }),
    ...(adapter && ofLayer(adapter.parameters, layer)),
  };
}

/** Rows of the embedding by tokens → [M, D]. */
function embed({ context: { base }, feeds }: LayerPass): Float32Array {
  const tokens = feeds["tokens"]?.values;
  invariant(tokens instanceof Int32Array, "tokens expected");
  return base.rows(EMBEDDING, tokens);
}
