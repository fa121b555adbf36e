/** What every part of the engine shares, and how stored tensors become feeds. */
import type { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import type { FloatType } from "../autodiff/shape.ts";
import type { AdapterShape } from "../model/adapter.ts";
import { layerOf, sharedName } from "../model/layered.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { BaseWeights } from "../model/base-weights.ts";
import type { ParameterBuffer } from "../model/parameters.ts";
import type { Invocation } from "../../shared/lora.ts";
import type { SharedPool } from "../onnx/pool.ts";
import type { Feeds } from "../onnx/session.ts";
import type { PrefixStore } from "./prefixes.ts";
import type { SessionCache } from "./session-cache.ts";

export type LayerOptions = {
  /** Of products kept between forward and backward, at most; what is not kept is computed again. */
  readonly keptBytes: number;
  /** Of one chunk's logits, at most, from 16 positions on; two or three arrays of the size are there at a time. */
  readonly logitBytes: number;
  /** Of the float32 values of layers that one session holds, at most but for one layer, where sessions hold them. Default 1 GiB. */
  readonly groupBytes?: number;
};

export type EngineContext = {
  readonly config: ModelConfig;
  readonly base: BaseWeights;
  readonly sessions: SessionCache;
  readonly prefixes: PrefixStore;
  /** For what one call needs. */
  readonly pool: SharedPool;
  /** How a base is run that is run a layer at a time; absent where it is one graph. */
  readonly byLayer: LayerOptions | undefined;
  /** What frozen matrices are multiplied in, of a base that is run by layer. */
  readonly compute: FloatType;
  /** Where answers begin, in prompts of the base's own template; absent in an engine that was started without a tokenizer. */
  readonly invocation: Invocation | undefined;
  /** Absent in an engine that was started without a tokenizer. */
  readonly grammars: AnswerGrammars | undefined;
};

/** Views of the tensors of a buffer that `nameOf` gives a name, by default of all under their own: nothing is copied. */
export function tensorFeeds(buffer: ParameterBuffer, nameOf: (name: string) => string | undefined = (name) => name): Feeds {
  return Object.fromEntries(
    buffer.parameters.flatMap((parameter) => {
      const name = nameOf(parameter.name);
      return name === undefined ? [] : [[name, { values: buffer.view(parameter), shape: parameter.shape }]];
    }),
  );
}

/** Views of one layer's tensors under the names that all layers share. */
export function ofLayer(buffer: ParameterBuffer, layer: number): Feeds {
  return tensorFeeds(buffer, (name) => (layerOf(name) === layer ? sharedName(name) : undefined));
}

/** The part of a session's key that says which adapter its graph is for. */
export function adapterKey(shape: AdapterShape | undefined): string {
  return shape === undefined ? "base" : `${shape.rank}/${shape.alpha} ${shape.layers.join()}`;
}
