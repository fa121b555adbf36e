/** The adapters an engine holds, by name, each with what its training needs. */
import { AppError } from "../../shared/errors.ts";
import { type AdapterShape, initialiseAdapter, layersOfTensors, listAdapterParameters, targetedLayers } from "../model/adapter.ts";
import type { Invocation } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { ParameterBuffer } from "../model/parameters.ts";
import { Random } from "../random.ts";

export type AdapterWeights = {
  readonly rank: number;
  readonly alpha: number;
  /** Absent where the adapter acts on every token. */
  readonly invocation?: Invocation | undefined;
  /** By PEFT name. */ readonly tensors: Map<string, Float32Array>;
};
export type AdapterCreation = {
  readonly rank: number;
  readonly alpha: number;
  /** Last parts of layer names, e.g. `q_proj`. */
  readonly targets: readonly string[];
  readonly seed: number;
  /** Where the adapter begins to act; on every token where absent. */
  readonly invocation?: Invocation | undefined;
};

/** An adapter's tensors with its gradient and moments, which begin at zero. */
export class Adapter {
  readonly shape: AdapterShape;
  readonly invocation: Invocation | undefined;
  readonly parameters: ParameterBuffer;
  readonly gradient: ParameterBuffer;
  readonly first: ParameterBuffer;
  readonly second: ParameterBuffer;
  /** Updates so far. */
  steps = 0;

  constructor(config: ModelConfig, shape: AdapterShape, invocation: Invocation | undefined) {
    if (invocation !== undefined && invocation.length < 2)
      throw new AppError("input/invalid", `adapter invocation: two tokens or more expected, got ${invocation.length}`);
    const parameters = listAdapterParameters(config, shape);
    this.shape = shape;
    this.invocation = invocation;
    this.parameters = new ParameterBuffer(parameters, { shared: true });
    this.gradient = new ParameterBuffer(parameters);
    this.first = new ParameterBuffer(parameters);
    this.second = new ParameterBuffer(parameters);
  }
}

export class AdapterStore {
  readonly #config: ModelConfig;
  readonly #adapters = new Map<string, Adapter>();

  constructor(config: ModelConfig) {
    this.#config = config;
  }

  /** Makes an adapter that changes nothing yet, in place of any of that name. */
  create(name: string, { rank, alpha, targets, seed, invocation }: AdapterCreation): void {
    const adapter = new Adapter(this.#config, checkShape({ rank, alpha, layers: targetedLayers(this.#config, targets) }), invocation);
    initialiseAdapter(adapter.parameters, new Random(seed));
    this.#adapters.set(name, adapter);
  }

  /** Takes an adapter's tensors, in place of any of that name. @throws {input/invalid} naming the tensor at fault. */
  load(name: string, { rank, alpha, tensors, invocation }: AdapterWeights): void {
    const adapter = new Adapter(
      this.#config,
      checkShape({ rank, alpha, layers: layersOfTensors(this.#config, tensors.keys()) }),
      invocation,
    );
    adapter.parameters.load(tensors);
    this.#adapters.set(name, adapter);
  }

  read(name: string): AdapterWeights {
    const { shape, invocation, parameters } = this.get(name);
    return { rank: shape.rank, alpha: shape.alpha, ...(invocation && { invocation }), tensors: parameters.read() };
  }

  drop(name: string): void {
    this.get(name);
    this.#adapters.delete(name);
  }

  /** @throws {input/notFound} */
  get(name: string): Adapter {
    const adapter = this.#adapters.get(name);
    if (adapter === undefined)
      throw new AppError("input/notFound", `adapter: one of ${[...this.#adapters.keys()].join(", ") || "none"} expected, got ${name}`);
    return adapter;
  }
}

function checkShape(shape: AdapterShape): AdapterShape {
  if (!Number.isInteger(shape.rank) || shape.rank < 1)
    throw new AppError("input/invalid", `adapter rank: a positive integer expected, got ${shape.rank}`);
  if (!Number.isFinite(shape.alpha)) throw new AppError("input/invalid", `adapter alpha: a finite number expected, got ${shape.alpha}`);
  if (shape.layers.length === 0) throw new AppError("input/invalid", "adapter: tensors of one layer or more expected, got none");
  return shape;
}
