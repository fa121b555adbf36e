/**
 * The frozen tensors of a base. Graphs read them in place, from one buffer; or they are left in the files that they came in, and
 * sessions that hold them on a device take them one at a time: the host then has no copy of what the device has.
 */
import { invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { layerOf, sharedName } from "./layered.ts";
import { checkWeights, loadWeights, openWeights } from "./load-weights.ts";
import { listParameters, type Parameter, ParameterBuffer } from "./parameters.ts";
import type { WeightFiles } from "./weight-files.ts";

/** A tensor that is read when somebody takes it: `size` float32 values, in place or freshly read. */
export type StoredTensor = { readonly size: number; read(): Float32Array };
export type StoredTensors = Readonly<Record<string, StoredTensor>>;

export class BaseWeights {
  readonly parameters: readonly Parameter[];
  readonly #config: ModelConfig;
  readonly #leaves: boolean;
  readonly #layers: readonly StoredTensors[];
  #buffer: ParameterBuffer | undefined;
  #files: WeightFiles | undefined;

  /** `leaves`: those of a checkpoint stay in its files. Default: they are read. */
  constructor(config: ModelConfig, { leaves = false }: { leaves?: boolean } = {}) {
    this.#config = config;
    this.#leaves = leaves;
    this.parameters = listParameters(config);
    this.#layers = Array.from({ length: config.layerCount }, (_, layer) =>
      this.stored((name) => (layerOf(name) === layer ? sharedName(name) : undefined)),
    );
  }

  /** All in memory, read and written in place on any thread; what was left in files is read now. Zero before anything is loaded. */
  get buffer(): ParameterBuffer {
    if (this.#buffer !== undefined) return this.#buffer;
    const [buffer, files] = [new ParameterBuffer(this.parameters, { shared: true }), this.#files];
    if (files !== undefined) for (const parameter of this.parameters) files.readInto(parameter.name, buffer.view(parameter));
    this.close();
    this.#buffer = buffer;
    return buffer;
  }

  /** @throws {policy/refused} naming the tensor at fault */
  load(folder: string): void {
    if (!this.#leaves) return loadWeights(folder, this.#config, this.buffer);
    const files = openWeights(folder, this.#config);
    try {
      checkWeights(files, this.#config);
    } catch (error) {
      files.close();
      throw error;
    }
    this.close();
    this.#buffer = undefined;
    this.#files = files;
  }

  /** The tensors of one layer under the names that all layers share. */
  layer(index: number): StoredTensors {
    const tensors = this.#layers[index];
    invariant(tensors !== undefined, `one of ${this.#layers.length} layers expected, got ${index}`);
    return tensors;
  }

  /** The tensors that `nameOf` gives a name. */
  stored(nameOf: (name: string) => string | undefined): StoredTensors {
    return Object.fromEntries(
      this.parameters.flatMap((parameter): [string, StoredTensor][] => {
        const name = nameOf(parameter.name);
        return name === undefined ? [] : [[name, { size: parameter.size, read: () => this.#read(parameter) }]];
      }),
    );
  }

  /** Rows of a matrix → [rows, width]. */
  rows(name: string, rows: Int32Array): Float32Array {
    const matrix = this.parameters.find((parameter) => parameter.name === name);
    const width = matrix?.shape[1];
    invariant(matrix !== undefined && width !== undefined, `a matrix expected, got ${name}`);
    const [found, files] = [new Float32Array(rows.length * width), this.#files];
    const whole = files === undefined ? this.buffer.view(matrix) : undefined;
    rows.forEach((row, place) => {
      const target = found.subarray(place * width, (place + 1) * width);
      if (whole !== undefined) target.set(whole.subarray(row * width, (row + 1) * width));
      else files?.readInto(name, target, row * width);
    });
    return found;
  }

  /** Copies everything out by name. */
  read(): Map<string, Float32Array> {
    return new Map(this.parameters.map((parameter) => [parameter.name, this.#read(parameter).slice()]));
  }

  /** Closes the files. */
  close(): void {
    this.#files?.close();
    this.#files = undefined;
  }

  #read(parameter: Parameter): Float32Array {
    if (this.#files === undefined) return this.buffer.view(parameter);
    const values = new Float32Array(parameter.size);
    this.#files.readInto(parameter.name, values);
    return values;
  }
}
