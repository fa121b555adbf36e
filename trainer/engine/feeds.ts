/** What every part of the engine shares, and how stored tensors become feeds. */
import type { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import type { AdapterShape } from "../model/adapter.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { ParameterBuffer } from "../model/parameters.ts";
import type { Invocation } from "../../shared/lora.ts";
import type { Feeds } from "../onnx/session.ts";
import type { PrefixStore } from "./prefixes.ts";
import type { SessionCache } from "./session-cache.ts";

export type EngineContext = {
  readonly config: ModelConfig;
  readonly parameters: ParameterBuffer;
  readonly sessions: SessionCache;
  readonly prefixes: PrefixStore;
  /** Where answers begin, in prompts of the base's own template; absent in an engine that was started without a tokenizer. */
  readonly invocation: Invocation | undefined;
  /** Absent in an engine that was started without a tokenizer. */
  readonly grammars: AnswerGrammars | undefined;
};

/** Views of every tensor of a buffer: nothing is copied. */
export function tensorFeeds(buffer: ParameterBuffer): Feeds {
  return Object.fromEntries(
    buffer.parameters.map((parameter) => [parameter.name, { values: buffer.view(parameter), shape: parameter.shape }]),
  );
}

/** The part of a session's key that says which adapter its graph is for. */
export function adapterKey(shape: AdapterShape | undefined): string {
  return shape === undefined ? "base" : `${shape.rank}/${shape.alpha} ${shape.layers.join()}`;
}
