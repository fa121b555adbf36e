/**
 * Makes a trained decoder deeper without changing what it computes: each new block is a copy of the one below it whose two
 * output projections are zero, so at first it adds nothing to the residual stream (block expansion: LLaMA Pro,
 * arXiv:2401.02415; that depth can be added during training: Gong et al., ICML 2019). What was learnt stays; the copies'
 * attention gives the new blocks something to build on.
 */
import { invariant } from "../../shared/assert.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import { listParameters } from "../model/parameters.ts";

const BLOCK = /^model\.layers\.(\d+)\./;
// What a block writes to the residual stream.
const OUTPUTS = /\.(self_attn\.o_proj|mlp\.down_proj)\.weight$/;

/**
 * Weights of a model like `from` with the blocks of `to`, by their Hugging Face names.
 * @throws Error where anything but the number of blocks differs, or `to` has fewer of them.
 */
export function deepened(weights: ReadonlyMap<string, Float32Array>, from: ModelConfig, to: ModelConfig): Map<string, Float32Array> {
  const { layerCount: had, ...shape } = from;
  const { layerCount: wanted, ...asked } = to;
  if (JSON.stringify(shape) !== JSON.stringify(asked))
    throw new Error(`the checkpoint has ${JSON.stringify(shape)}, the run ${JSON.stringify(asked)}: only layers can be added`);
  if (wanted < had) throw new Error(`the checkpoint has ${had} layers, the run ${wanted}: layers can only be added`);
  const sources = blockSources(had, wanted);
  return new Map(
    listParameters(to).map(({ name, size }) => {
      const source = sources[Number(BLOCK.exec(name)?.[1] ?? 0)];
      invariant(source !== undefined, `a block below that of ${name}`);
      if (source.added && OUTPUTS.test(name)) return [name, new Float32Array(size)];
      const values = weights.get(name.replace(BLOCK, `model.layers.${source.block}.`));
      invariant(values !== undefined, `a checkpoint with block ${source.block}, for ${name}`);
      return [name, values.slice()];
    }),
  );
}

/** For each block of the deeper model the block that it is a copy of; new ones stand evenly among the old. */
function blockSources(had: number, wanted: number): { block: number; added: boolean }[] {
  const added = wanted - had;
  const below = Array.from({ length: added }, (_, index) => Math.max(1, Math.round(((index + 1) * had) / (added + 1))));
  return Array.from({ length: had }, (_, block) => [
    { block, added: false },
    ...below.filter((count) => count === block + 1).map(() => ({ block, added: true })),
  ]).flat();
}
