/** Layers whose frozen tensors stay on a device: every batch in the one form that `buildAnyLayer` has, through sessions of several layers each. */
import type { ModelConfig } from "../../shared/model-config.ts";
import { listAdapterParameters } from "../model/adapter.ts";
import { type AnyBucket, buildAnyLayer, linearNames, SCALE } from "../model/any-layer.ts";
import { MASKED } from "../model/attention.ts";
import { cachedKeysOf, cachedValuesOf } from "../model/continued.ts";
import { keysOf, valuesOf } from "../model/decoding.ts";
import { type Bucket, tokenCount } from "../model/forward.ts";
import { COTANGENT, HIDDEN, LAYER_OUTPUT } from "../model/layered.ts";
import { gradientOf } from "../model/training.ts";
import type { Feeds, Tensor } from "../onnx/session.ts";
import type { Adapter } from "./adapters.ts";
import { ofLayer } from "./feeds.ts";
import type { ForwardOptions, LayerContext, LayerPass, Trail } from "./layers.ts";
import type { Branches, Resident, ResidentRun, ResidentSessions } from "./resident-sessions.ts";

/** While a session is opened its layers are on the host up to three times more; a run needs its own layer beside them all. */
const GROUP_BYTES = 2 ** 30;

type ResidentPass = LayerPass & { readonly residents: ResidentSessions };

const [FORWARD, GRADIENTS] = [0, 1];

/** As `forwardLayers`, from the embedded tokens. */
export async function forwardResident(
  pass: ResidentPass,
  embedded: Float32Array,
  { keptBytes, caches = false }: ForwardOptions,
): Promise<Trail> {
  const { config } = pass.context;
  const shape = [tokenCount(pass.bucket), config.hiddenSize];
  const trail: Trail = { hidden: embedded, layers: [], cache: {} };
  const wanted = [LAYER_OUTPUT, ...(caches ? [keysOf(0), valuesOf(0)] : [])];
  // The branch that is not run has inputs, too.
  const unread = { [COTANGENT]: { values: new Float32Array(1), shape: [1, 1] } };
  for (let layer = 0; layer < config.layerCount; layer += 1) {
    const input = { [HIDDEN]: { values: trail.hidden, shape } };
    const outputs = await runLayer(pass, layer, { branch: FORWARD, wanted, feeds: { ...unread, ...input } });
    if (keptBytes !== undefined) trail.layers.push(input);
    trail.hidden = of(outputs, LAYER_OUTPUT);
    if (caches) Object.assign(trail.cache, { [keysOf(layer)]: of(outputs, keysOf(0)), [valuesOf(layer)]: of(outputs, valuesOf(0)) });
  }
  return trail;
}

/** Gradients of one layer's adapter, and of `hidden`, under shared names, from `hidden` and `cotangent`. */
export function backwardResident(pass: ResidentPass, layer: number, given: Feeds): Promise<Record<string, Float32Array>> {
  const tensors = pass.adapter === undefined ? {} : ofLayer(pass.adapter.parameters, layer);
  const wanted = [HIDDEN, ...Object.keys(tensors)].map(gradientOf);
  return runLayer(pass, layer, { branch: GRADIENTS, wanted, feeds: given });
}

function runLayer(
  pass: ResidentPass,
  layer: number,
  { feeds, ...run }: Omit<ResidentRun, "resident">,
): Promise<Record<string, Float32Array>> {
  const { context, adapter, residents } = pass;
  const { config, compute } = context;
  const bucket = anyBucket(pass.bucket);
  const rank = adapter?.shape.rank ?? 1;
  const build = (): Branches => buildAnyLayer(config, bucket, { rank, compute });
  return residents.run(`layer ${Object.values(bucket).join()} ${rank}`, build, {
    ...run,
    feeds: { ...sequenceFeeds(pass, layer), ...adapterFeeds(config, adapter, layer), ...feeds },
    resident: residentOf(context, layer),
  });
}

function of(outputs: Readonly<Record<string, Float32Array>>, name: string): Float32Array {
  return outputs[name] ?? new Float32Array(0);
}

function anyBucket(bucket: Bucket): AnyBucket {
  const { rows, length, slots = 1 } = bucket;
  return { rows, length, slots, tokens: tokenCount(bucket) };
}

/** The layer's tensors among those of its session. */
function residentOf({ config, base, byLayer }: LayerContext, layer: number): Resident {
  const layerBytes = 4 * Object.values(base.layer(layer)).reduce((sum, { size }) => sum + size, 0);
  const most = Math.max(1, Math.floor((byLayer?.groupBytes ?? GROUP_BYTES) / layerBytes));
  const first = layer - (layer % most);
  const count = Math.min(most, config.layerCount - first);
  return {
    id: `layers ${first}`,
    tensors: Array.from({ length: count }, (_, index) => base.layer(first + index)),
    layer: layer - first,
  };
}

/** Zero where the adapter has nothing: nothing is added then. */
function adapterFeeds(config: ModelConfig, adapter: Adapter | undefined, layer: number): Feeds {
  const shape = adapter?.shape ?? { rank: 1, alpha: 1 };
  const all = listAdapterParameters({ ...config, layerCount: 1 }, { ...shape, layers: linearNames(config) });
  const own = adapter === undefined ? {} : ofLayer(adapter.parameters, layer);
  const filled = all.map(({ name, shape: dims, size }) => [name, own[name] ?? { values: new Float32Array(size), shape: dims }]);
  return { ...Object.fromEntries(filled), [SCALE]: { values: Float32Array.of(shape.alpha / shape.rank), shape: [] } };
}

/** What a batch's feeds leave out because its own graph does without. */
function sequenceFeeds({ bucket, feeds, context: { config } }: ResidentPass, layer: number): Feeds {
  const { rows, length, slots, tokens } = anyBucket(bucket);
  const batch = rows * config.kvHeadCount;
  const own = (name: string, make: () => Tensor): Tensor => feeds[name] ?? make();
  const order = (): Tensor => ({ values: Int32Array.from({ length: tokens }, (_, index) => index), shape: [tokens] });
  const empty = (): Tensor => ({ values: new Float32Array(batch * slots * config.headDim), shape: [batch, slots, config.headDim] });
  const segments = own("segments", () => ({ values: new Float32Array(batch * length), shape: [batch, 1, length] })).values;
  const places = Float32Array.from({ length }, (_, index) => index);
  return {
    times: own("times", () => ({
      values: BigInt64Array.from({ length: tokens }, (_, row) => BigInt(Math.floor(row / rows))),
      shape: [tokens, 1],
    })),
    cells: own("cells", order),
    held: own("held", order),
    mask: own("mask", () => ({ values: new Float32Array(batch * slots).fill(MASKED), shape: [batch, 1, slots] })),
    [cachedKeysOf(0)]: own(cachedKeysOf(layer), empty),
    [cachedValuesOf(0)]: own(cachedValuesOf(layer), empty),
    queryPlaces: { values: places, shape: [length, 1] },
    keyPlaces: { values: places, shape: [1, length] },
    querySegments: { values: segments, shape: [batch, 1, length, 1] },
    keySegments: { values: segments, shape: [batch, 1, 1, length] },
  };
}
