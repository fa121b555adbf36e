/** What an engine is started with, and the calls that it answers, on its own thread or on who calls it. */
import type { ModelConfig } from "../../shared/model-config.ts";
import type { FloatType } from "../autodiff/shape.ts";
import type { Device } from "../onnx/device.ts";
import type { TokenizerFiles } from "../../shared/tokenizer.ts";
import type { AdapterLoss, AdapterStepOptions } from "./adapter-trainer.ts";
import type { LossBatch } from "./loss-batch.ts";
import type { AdapterCreation, AdapterWeights } from "./adapters.ts";
import type { PositionBatch, TokenBatch } from "./batch.ts";
import type { LayerOptions } from "./feeds.ts";
import type { GenerateOptions, Generation } from "./generator.ts";
import type { ScoreOptions, Scores } from "./scorer.ts";
import type { Placement } from "./session-cache.ts";

export type EngineOptions = {
  readonly config: ModelConfig;
  /** Threads that compute: on the CPU up to four graphs at once, and what is left over inside their operators. */
  readonly threads: number;
  /** Needed where answers are held to a form. */
  readonly tokenizer?: TokenizerFiles;
  /** Runs a base a layer at a time, or never. Default: as `runsByLayer` has it. */
  readonly byLayer?: LayerOptions | false;
  /** Where graphs run. Default: the CPU. */
  readonly device?: Device;
  /** Where the frozen tensors of a base that is run by layer are. Default: fed on the CPU, else held on the device. */
  readonly placement?: Placement;
  /** What frozen matrices of a base that is run by layer are multiplied in; has to be among the device's. Default float32. */
  readonly compute?: FloatType;
};

export type StepOptions = {
  readonly lr: number;
  /** Where given, hidden matrices are trained by Muon at this rate and the rest by AdamW at `lr`. */
  readonly muonLr?: number;
  /** Decoupled decay of matrices, per unit of learning rate; norms and biases do not decay. Default 0. */
  readonly weightDecay?: number;
  /** Bound on the global gradient norm. Default 1. */
  readonly clipNorm?: number;
  /** Default 0.9. */
  readonly beta1?: number;
  /** Default 0.95. */
  readonly beta2?: number;
  /** Default 1e-8. */
  readonly epsilon?: number;
  /** Of Muon. Default 0.95. */
  readonly momentum?: number;
};

export type BatchLoss = {
  /** Weighted mean cross-entropy, nats per token. */
  readonly loss: number;
  /** Positions with a weight. */
  readonly tokens: number;
};

/** The adapter to run with; the bare base without. */
export type AdapterChoice = { readonly adapter?: string };

/** Under which name keys and values are kept: what one keeps never meets another. Default: one that all share. */
export type PrefixScope = { readonly scope?: string };

/** Everything an engine does; the proxy and the core both implement it. */
export interface EngineCalls {
  initialise(options: { seed: number }): Promise<void>;
  loadCheckpoint(folder: string): Promise<void>;
  loadWeights(weights: ReadonlyMap<string, Float32Array>): Promise<void>;
  readWeights(): Promise<Map<string, Float32Array>>;
  accumulate(batch: TokenBatch): Promise<BatchLoss>;
  step(options: StepOptions): Promise<{ gradNorm: number }>;
  createAdapter(name: string, options: AdapterCreation): Promise<void>;
  loadAdapter(name: string, weights: AdapterWeights): Promise<void>;
  readAdapter(name: string): Promise<AdapterWeights>;
  dropAdapter(name: string): Promise<void>;
  accumulateAdapter(name: string, batch: LossBatch, options?: PrefixScope): Promise<AdapterLoss>;
  stepAdapter(name: string, options: AdapterStepOptions): Promise<{ gradNorm: number }>;
  score(batch: PositionBatch, options?: ScoreOptions & AdapterChoice & PrefixScope): Promise<Scores>;
  generate(options: GenerateOptions & AdapterChoice & PrefixScope): Promise<Generation[]>;
  forgetPrefixes(options?: PrefixScope): Promise<void>;
}
