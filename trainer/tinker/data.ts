/**
 * A batch of ours as Tinker's data (pure). One datum per row, its tokens as the model's input, and at each position what is predicted
 * there with what the loss needs (https://tinker-docs.thinkingmachines.ai/tinker/losses). Positions that no term weighs carry zeros.
 */
import { at } from "../../shared/assert.ts";
import type { LossBatch } from "../engine/loss-batch.ts";
import type { PositionBatch } from "../engine/batch.ts";

type Tensor = { readonly data: readonly number[]; readonly dtype: "int64" | "float32"; readonly shape: readonly number[] };
export type Datum = {
  readonly model_input: { readonly chunks: readonly [{ readonly type: "encoded_text"; readonly tokens: readonly number[] }] };
  readonly loss_fn_inputs: Readonly<Record<string, Tensor>>;
};

/** A loss that the service has, as it is asked for. */
export type TinkerLoss = { readonly loss_fn: "cross_entropy" | "ppo"; readonly loss_fn_config?: Readonly<Record<string, number>> };
export type Places = {
  /** Rows that predict anything */ readonly data: Datum[];
  /** By position of the batch, its datum and place in it */ readonly where: { datum: number; place: number }[];
};

/** Terms of a batch one by one, as gradients add up over calls. Weights are folded in: each term is linear in them, and in the advantages. */
export function lossesOf(batch: LossBatch): { loss: TinkerLoss; places: Places }[] {
  const { crossEntropy, policy } = batch;
  return [
    ...(crossEntropy === undefined
      ? []
      : [{ loss: { loss_fn: "cross_entropy" as const }, places: toData(batch, { weights: crossEntropy.weights }) }]),
    ...(policy === undefined
      ? []
      : [
          {
            loss: {
              loss_fn: "ppo" as const,
              loss_fn_config: { clip_low_threshold: 1 - policy.clipLow, clip_high_threshold: 1 + policy.clipHigh },
            },
            places: toData(batch, {
              logprobs: policy.oldLogProbs,
              advantages: policy.advantages.map((advantage, index) => advantage * at(policy.weights, index)),
            }),
          },
        ]),
  ];
}

/** @param inputs by name, one value for each position of the batch */
export function toData({ length, tokens, positions, targets }: PositionBatch, inputs: Readonly<Record<string, Float32Array>>): Places {
  const byRow = new Map<number, number[]>();
  positions.forEach((position, index) => {
    const row = Math.floor(position / length);
    byRow.set(row, [...(byRow.get(row) ?? []), index]);
  });
  const where: Places["where"] = Array.from(positions, () => ({ datum: -1, place: -1 }));
  const data = [...byRow].map(([row, indices], datum) => {
    const reach = Math.max(...indices.map((index) => at(positions, index) - row * length)) + 1;
    const wanted = new Array<number>(reach).fill(0);
    const values = Object.fromEntries(Object.keys(inputs).map((name) => [name, new Array<number>(reach).fill(0)]));
    for (const index of indices) {
      const place = at(positions, index) - row * length;
      where[index] = { datum, place };
      wanted[place] = at(targets, index);
      for (const [name, given] of Object.entries(inputs)) at([values[name] ?? []], 0)[place] = at(given, index);
    }
    return {
      model_input: { chunks: [{ type: "encoded_text", tokens: [...tokens.subarray(row * length, row * length + reach)] }] },
      loss_fn_inputs: {
        target_tokens: { data: wanted, dtype: "int64", shape: [reach] },
        ...Object.fromEntries(Object.entries(values).map(([name, each]) => [name, { data: each, dtype: "float32", shape: [reach] }])),
      },
    } satisfies Datum;
  });
  return { data, where };
}
