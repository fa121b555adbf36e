/** What the Worker's own kernel runs: small models of the shipped one's family. Everything else is served by an engine. */
import { AppError } from "./errors.ts";
import { linearNames, linearShape } from "./lora.ts";
import type { ModelConfig } from "./model-config.ts";

const MOST_PARAMETERS = 10_000_000; // 40 MB as float32, of an isolate's 128

/** @throws {policy/refused} saying what the kernel would compute otherwise, or cannot hold */
export function checkEmbeddedShape(config: ModelConfig): void {
  const parameters = parameterCount(config);
  const reasons = [
    ...(config.qkNorm && !config.qkvBias ? [] : ["model_type qwen3"]),
    ...(config.ropeScaling === undefined ? [] : [`no rope_scaling, got ${config.ropeScaling.kind}`]),
    ...(parameters <= MOST_PARAMETERS
      ? []
      : [`at most ${MOST_PARAMETERS.toLocaleString("en")} parameters, got ${parameters.toLocaleString("en")}`]),
  ];
  if (reasons.length === 0) return;
  throw new AppError(
    "policy/refused",
    `config.json: the Worker's own kernel expects ${reasons.join("; ")}. Serve this base with an engine (engine openai) instead`,
  );
}

/** Norms and biases left out: they are thousandths. */
function parameterCount(config: ModelConfig): number {
  const embeddings = config.vocabSize * config.hiddenSize * (config.tiedHead ? 1 : 2);
  const layer = linearNames().reduce((sum, name) => sum + linearShape(config, name).out * linearShape(config, name).in, 0);
  return embeddings + config.layerCount * layer;
}
