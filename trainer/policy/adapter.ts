/** An adapter between three forms: the engine's tensors, PEFT files on the wire, and values as they will be stored. */
import { decodeBfloat16, encodeBfloat16 } from "../../shared/float16.ts";
import { boundFault } from "../../shared/lora-bound.ts";
import { loraTensorName, parseAdapter, writeAdapter, LINEAR_PATHS, type LoraPair, linearNames } from "../../shared/lora.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { AppError } from "../../shared/errors.ts";
import type { AdapterWeights } from "../engine/adapters.ts";

/** Tensors under their PEFT names. */
export type AdapterTensors = AdapterWeights;

export type AdapterBytes = {
  readonly rank: number;
  readonly alpha: number;
  readonly configBytes: Uint8Array<ArrayBuffer>;
  readonly weightBytes: Uint8Array<ArrayBuffer>;
};

/** What is published is bfloat16; rounding comes before measuring, so what was measured is what answers. */
export function roundAdapter({ tensors, ...adapter }: AdapterTensors): AdapterTensors {
  return { ...adapter, tensors: new Map([...tensors].map(([name, values]) => [name, decodeBfloat16(encodeBfloat16(values))])) };
}

export function writeAdapterFiles(
  config: ModelConfig,
  { rank, alpha, invocation, tensors }: AdapterTensors,
  baseModel: string,
): AdapterBytes {
  const pairs = listPairs(config, tensors);
  const adapter = { rank, alpha, ...(invocation && { invocation }), pairs };
  const { adapterConfig, adapterModel } = writeAdapter(config, adapter, { baseModel, type: "BF16" });
  return { rank, alpha, configBytes: new TextEncoder().encode(adapterConfig), weightBytes: adapterModel };
}

/** @throws {policy/refused} for files that do not fit the model, and for weights so large that an answer would overflow */
export function readAdapterFiles(
  config: ModelConfig,
  { configBytes, weightBytes }: Pick<AdapterBytes, "configBytes" | "weightBytes">,
): AdapterTensors {
  const { pairs, ...adapter } = parseAdapter(config, { adapterConfig: new TextDecoder().decode(configBytes), adapterModel: weightBytes });
  const fault = boundFault({ ...adapter, pairs });
  if (fault !== undefined) throw new AppError("policy/refused", fault);
  const tensors = new Map<string, Float32Array>();
  for (const { layer, linear, a, b } of pairs) {
    tensors.set(loraTensorName(layer, linear, "A"), a);
    tensors.set(loraTensorName(layer, linear, "B"), b);
  }
  return { ...adapter, tensors };
}

function listPairs(config: ModelConfig, tensors: AdapterTensors["tensors"]): LoraPair[] {
  return Array.from({ length: config.layerCount }, (_, layer) => layer).flatMap((layer) =>
    linearNames().flatMap((linear) => {
      const a = tensors.get(loraTensorName(layer, linear, "A"));
      const b = tensors.get(loraTensorName(layer, linear, "B"));
      if (a === undefined && b === undefined) return [];
      if (a === undefined || b === undefined)
        throw new AppError("policy/refused", `adapter: both halves of ${LINEAR_PATHS[linear]} in layer ${layer} expected, got one`);
      return [{ layer, linear, a, b }];
    }),
  );
}
