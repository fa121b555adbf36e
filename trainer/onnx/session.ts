/** The only door to ONNX Runtime. Sessions run synchronously on the calling thread: use them from a worker thread. */
import { createRequire } from "node:module";
import type * as Ort from "onnxruntime-node";
import { AppError } from "../../shared/errors.ts";
import type { Shape } from "../autodiff/shape.ts";

// The package is CommonJS; require keeps its native part loaded once per process.
const ort: typeof Ort = createRequire(import.meta.url)("onnxruntime-node");

export type TensorValues = Float32Array | Int32Array | BigInt64Array;
export type Tensor = { readonly values: TensorValues; readonly shape: Shape };
export type Feeds = Readonly<Record<string, Tensor>>;

/** A graph that is ready to be run, on this thread or another. Inputs are read in place, outputs are fresh arrays. */
export type OpenGraph = {
  /** Runs once; float32 outputs by name, by default all of them. @throws {internal} where the runtime fails. */
  run(feeds: Feeds, wanted?: readonly string[]): Promise<Record<string, Float32Array>>;
  close(): Promise<void>;
};

export type SessionOptions = {
  /** Threads inside one operator. */
  readonly threads: number;
  /** Default: the CPU. What a provider has no kernel for runs on the CPU. */
  readonly device?: "cpu" | "cuda" | "webgpu";
  /**
   * Whether the graph keeps the memory of its runs. Without it, all graphs of a thread take theirs from one heap, which is hardly slower
   * while no single value is as large as `HEAP_BYTES`. Default: it does.
   */
  readonly arena?: boolean;
  /** What the model names as external data, by location. */
  readonly external?: ReadonlyMap<string, Uint8Array>;
};

/** A value as large or larger is worth an arena: from 32 MiB at the latest glibc maps it for itself and gives it back each time (DEFAULT_MMAP_THRESHOLD_MAX). */
export const HEAP_BYTES = 16 * 2 ** 20;

/** A compiled graph on the calling thread. */
export class GraphSession implements OpenGraph {
  readonly #session: Ort.InferenceSession;

  private constructor(session: Ort.InferenceSession) {
    this.#session = session;
  }

  /** @throws {graph/unsupported} where the runtime refuses the model. */
  static async open(model: Uint8Array, { threads, device = "cpu", arena = true, external }: SessionOptions): Promise<GraphSession> {
    try {
      return new GraphSession(
        await ort.InferenceSession.create(model, {
          intraOpNumThreads: threads,
          interOpNumThreads: 1,
          executionMode: "sequential",
          // On the CPU our graphs have the fused operators already: the same bits at the same speed, opened in half the time.
          graphOptimizationLevel: device === "cpu" ? "disabled" : "all",
          // Threads that wait would take the cores from those that work: every session has its own, and other processes have theirs.
          // Matrices that are resident would be there once more, in the layout of the CPU's kernels.
          extra: { session: { intra_op: { allow_spinning: "0" }, ...(external && { disable_prepacking: "1" }) } },
          enableCpuMemArena: arena,
          enableMemPattern: false, // a third of the peak memory, at no measured cost in time
          logSeverityLevel: 3,
          ...(device !== "cpu" && { executionProviders: [device, "cpu"] }),
          ...(external && { externalData: [...external].map(([path, data]) => ({ path, data })) }),
        }),
      );
    } catch (cause) {
      throw new AppError("graph/unsupported", `a graph ONNX Runtime can load expected, got: ${reason(cause)}`, { cause });
    }
  }

  async run(feeds: Feeds, wanted: readonly string[] = this.#session.outputNames): Promise<Record<string, Float32Array>> {
    const tensors = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)]));
    let outputs: Ort.InferenceSession.OnnxValueMapType;
    try {
      outputs = await this.#session.run(tensors, wanted);
    } catch (cause) {
      throw new AppError("internal", `internal: graph run failed: ${reason(cause)}`, { cause });
    }
    return Object.fromEntries(Object.entries(outputs).map(([name, value]) => [name, toFloats(name, value)]));
  }

  async close(): Promise<void> {
    await this.#session.release();
  }
}

function toOrt({ values, shape }: Tensor): Ort.Tensor {
  if (values instanceof Float32Array) return new ort.Tensor("float32", values, shape);
  return values instanceof Int32Array ? new ort.Tensor("int32", values, shape) : new ort.Tensor("int64", values, shape);
}

function toFloats(name: string, value: Ort.OnnxValue): Float32Array {
  if ("data" in value && value.data instanceof Float32Array) return value.data;
  throw new AppError("internal", `internal: float32 output expected, got another type for ${name}`);
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
