/**
 * The training port on Tinker's service: an adapter here is a model there. Cross-entropy and the clipped objective are losses that it has;
 * what it cannot do, distributions, masks, adapters from elsewhere, is declared and refused by name.
 */
import { z } from "zod";
import { at } from "../../shared/assert.ts";
import { AppError } from "../../shared/errors.ts";
import type { ModelConfig } from "../../shared/model-config.ts";
import type { AdapterLoss, AdapterStepOptions } from "../engine/adapter-trainer.ts";
import type { LossBatch } from "../engine/loss-batch.ts";
import type { AdapterCreation, AdapterWeights } from "../engine/adapters.ts";
import type { PositionBatch } from "../engine/batch.ts";
import type { GenerateOptions, Generation } from "../engine/generator.ts";
import type { AdapterChoice } from "../engine/protocol.ts";
import type { ScoreOptions, Scores } from "../engine/scorer.ts";
import { refuseFor, type TrainingCapabilities, type TrainingPort } from "../engine/training-port.ts";
import { readAdapterFiles } from "../policy/adapter.ts";
import { filesOfTar } from "./archive.ts";
import type { TinkerClient } from "./client.ts";
import { lossesOf, toData, type Places } from "./data.ts";
import { TinkerSession } from "./session.ts";

const TINKER: TrainingCapabilities = {
  title: "Tinker",
  terms: ["crossEntropy", "policy"],
  masks: false,
  distributions: false,
  loadAdapter: false,
  invocation: false,
};

const ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"];
const MLP = ["gate_proj", "up_proj", "down_proj"];

const Created = z.object({ model_id: z.string() });
const Output = z.object({ loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(z.number()) }) })) });
const Stepped = z.object({ metrics: z.record(z.string(), z.number()).nullish() });
const Saved = z.object({ path: z.string().regex(/^tinker:\/\/[^/]+\/[\w./-]+$/, "a tinker:// path expected") });
const Sampled = z.object({ sequences: z.array(z.object({ tokens: z.array(z.number().int()), logprobs: z.array(z.number()) })) });

/** A model of the service, with the number of its next request: the service keeps their order. */
type Model = { readonly id: string; seq: number };

export class TinkerEngine implements TrainingPort {
  readonly capabilities = TINKER;
  readonly #client: TinkerClient;
  readonly #config: ModelConfig;
  readonly #baseModel: string;
  readonly #models = new Map<string, Model>();
  #session: TinkerSession | undefined;

  /** @param options.baseModel as the service names it; @param options.config the base's own, which adapters that come back must fit */
  constructor(client: TinkerClient, { baseModel, config }: { baseModel: string; config: ModelConfig }) {
    this.#client = client;
    this.#baseModel = baseModel;
    this.#config = config;
  }

  /** The service chooses alpha; what comes back says which. */
  async createAdapter(name: string, { rank, targets, seed, invocation }: AdapterCreation): Promise<void> {
    if (invocation !== undefined) refuseFor(TINKER, "an adapter that acts on everything", "one with an invocation");
    const [attention, mlp] = [ATTENTION, MLP].map((group) => group.filter((each) => targets.includes(each)).length / group.length);
    if ([attention, mlp].some((share) => share !== 0 && share !== 1))
      refuseFor(TINKER, `all of ${ATTENTION.join(", ")}, all of ${MLP.join(", ")}, or both`, targets.join(", "));
    this.#session ??= await TinkerSession.open(this.#client);
    const { model_id: id } = await this.#client.run(Created, "/api/v1/create_model", {
      type: "create_model",
      session_id: this.#session.id,
      model_seq_id: this.#session.made++,
      base_model: this.#baseModel,
      lora_config: { rank, seed, train_unembed: false, train_mlp: mlp === 1, train_attn: attention === 1 },
    });
    this.#models.set(name, { id, seq: 1 });
  }

  /** What training goes on from: weights as the service keeps them, under an address of its own. */
  async saveState(name: string): Promise<string> {
    return (await this.#save(name, "save_weights")).path;
  }

  /** Puts an adapter that was just made where an earlier one has stopped; its moments begin at zero. */
  async loadState(name: string, path: string): Promise<void> {
    const model = this.#model(name);
    await this.#client.run(z.unknown(), "/api/v1/load_weights", {
      ...{ type: "load_weights", model_id: model.id, path, optimizer: false },
      seq_id: model.seq++,
    });
  }

  async loadAdapter(): Promise<void> {
    return refuseFor(TINKER, "an adapter that it has made itself", "one from elsewhere, which no published call takes");
  }

  /** As it stands, downloaded. @throws {policy/refused} for files that are not of PEFT's layout */
  async readAdapter(name: string): Promise<AdapterWeights> {
    const { id, path } = await this.#save(name, "save_weights_for_sampler");
    const checkpoint = path.slice(`tinker://${id}/`.length);
    if (!path.startsWith(`tinker://${id}/`)) throw new AppError("upstream/invalid", `tinker: weights of model ${id} expected, got ${path}`);
    const files = filesOfTar(await this.#client.download(`/api/v1/training_runs/${id}/checkpoints/${checkpoint}/archive`));
    const [configBytes, weightBytes] = [files.get("adapter_config.json"), files.get("adapter_model.safetensors")];
    if (configBytes === undefined || weightBytes === undefined)
      throw new AppError(
        "upstream/invalid",
        `tinker: adapter_config.json and adapter_model.safetensors in its archive expected, got ${[...files.keys()].join(", ") || "nothing"}`,
      );
    return readAdapterFiles(this.#config, { configBytes, weightBytes });
  }

  async dropAdapter(name: string): Promise<void> {
    const { id } = this.#model(name);
    this.#models.delete(name);
    try {
      await this.#client.run(z.unknown(), "/api/v1/unload_model", { type: "unload_model", model_id: id });
    } finally {
      if (this.#models.size === 0) this.close();
    }
  }

  /** Lets the session end; the next adapter is made in another. */
  close(): void {
    this.#session?.end();
    this.#session = undefined;
  }

  async accumulateAdapter(name: string, batch: LossBatch): Promise<AdapterLoss> {
    for (const term of ["forwardKl", "reverseKl", "distillation"] as const)
      if (batch[term] !== undefined) refuseFor(TINKER, `a loss of ${TINKER.terms.join(" and ")}`, term);
    if (batch.policy?.masks !== undefined) refuseFor(TINKER, "targets drawn from the whole vocabulary", "targets drawn under masks");
    const losses = lossesOf(batch);
    if (losses.length === 0) throw new AppError("train/refused", "loss terms: one or more expected, got none");
    let logProbs = new Float32Array(0);
    for (const { loss, places } of losses) logProbs = await this.#pass(name, "forward_backward", { ...loss, places });
    return { logProbs, losses: valuesOf(batch, logProbs) };
  }

  /** `gradNorm` is NaN where the service does not tell it. */
  async stepAdapter(name: string, options: AdapterStepOptions): Promise<{ gradNorm: number }> {
    const { lr, divisor = 1, clipNorm = 1, weightDecay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 } = options;
    if (divisor !== 1) refuseFor(TINKER, "gradients that are not divided (fold it into the weights)", `divisor ${divisor}`);
    const model = this.#model(name);
    const { metrics } = await this.#client.run(Stepped, "/api/v1/optim_step", {
      type: "optim_step",
      model_id: model.id,
      seq_id: model.seq++,
      adam_params: { learning_rate: lr, beta1, beta2, eps: epsilon, weight_decay: weightDecay, grad_clip_norm: clipNorm },
    });
    return { gradNorm: Object.entries(metrics ?? {}).find(([key]) => key.includes("grad") && key.includes("norm"))?.[1] ?? Number.NaN };
  }

  /** `argmax` is −1 everywhere: the service does not tell. */
  async score(batch: PositionBatch, { adapter, fullLogProbs = false, topK }: ScoreOptions & AdapterChoice = {}): Promise<Scores> {
    if (fullLogProbs || topK !== undefined) refuseFor(TINKER, "log-probs of the targets alone", "whole distributions asked for");
    if (adapter === undefined) refuseFor(TINKER, "an adapter's log-probs", "the bare base's; make an adapter that changes nothing");
    const places = toData(batch, { weights: new Float32Array(batch.positions.length) });
    const logProbs = await this.#pass(adapter, "forward", { loss_fn: "cross_entropy", places });
    return { logProbs, argmax: new Int32Array(batch.positions.length).fill(-1) };
  }

  async generate(options: GenerateOptions & AdapterChoice): Promise<Generation[]> {
    const { prompts, maxTokens, stopTokens, temperature, seed, forms, adapter } = options;
    if (forms !== undefined) refuseFor(TINKER, "free answers", "answers held to a form");
    const from =
      adapter === undefined
        ? { base_model: this.#baseModel }
        : { model_path: (await this.#save(adapter, "save_weights_for_sampler")).path };
    return Promise.all(
      prompts.map(async (prompt, index) => {
        const { sequences } = await this.#client.run(Sampled, "/api/v1/asample", {
          type: "sample",
          ...from,
          num_samples: 1,
          prompt: { chunks: [{ type: "encoded_text", tokens: [...prompt] }] },
          sampling_params: { max_tokens: maxTokens, seed: seed + index, stop: [...stopTokens], temperature, top_k: -1, top_p: 1 },
        });
        const { tokens, logprobs } = at(sequences, 0);
        return { tokens: Int32Array.from(tokens), logProbs: Float32Array.from(logprobs) };
      }),
    );
  }

  /** Nothing is kept here. */
  async forgetPrefixes(): Promise<void> {}

  /** One pass over a batch; ln π of its targets, by position. */
  async #pass(
    name: string,
    kind: "forward" | "forward_backward",
    { places: { data, where }, ...loss }: { places: Places; loss_fn: string },
  ): Promise<Float32Array<ArrayBuffer>> {
    const model = this.#model(name);
    const { loss_fn_outputs: outputs } = await this.#client.run(Output, `/api/v1/${kind}`, {
      [`${kind}_input`]: { data, ...loss },
      model_id: model.id,
      seq_id: model.seq++,
    });
    if (outputs.length !== data.length)
      throw new AppError("upstream/invalid", `tinker ${kind}: ${data.length} outputs expected, got ${outputs.length}`);
    return Float32Array.from(where, ({ datum, place }) => at(at(outputs, datum).logprobs.data, place));
  }

  async #save(name: string, type: "save_weights" | "save_weights_for_sampler"): Promise<{ id: string; path: string }> {
    const model = this.#model(name);
    const { path } = await this.#client.run(Saved, `/api/v1/${type}`, {
      type,
      model_id: model.id,
      path: `nextstate-${model.seq}`,
      seq_id: model.seq++,
    });
    return { id: model.id, path };
  }

  #model(name: string): Model {
    const model = this.#models.get(name);
    if (model === undefined)
      throw new AppError("input/notFound", `adapter: one of ${[...this.#models.keys()].join(", ") || "none"} expected, got ${name}`);
    return model;
  }
}

/** Weighted sum of each term, from the log-probs before the step: what the engine in this process reports. */
function valuesOf({ crossEntropy, policy }: LossBatch, logProbs: Float32Array): AdapterLoss["losses"] {
  const sum = (weights: Float32Array, lossOf: (index: number) => number): number =>
    weights.reduce((total, weight, index) => (weight === 0 ? total : total + weight * lossOf(index)), 0);
  return {
    ...(crossEntropy && { crossEntropy: sum(crossEntropy.weights, (index) => -at(logProbs, index)) }),
    ...(policy && {
      policy: sum(policy.weights, (index) => {
        const ratio = Math.exp(at(logProbs, index) - at(policy.oldLogProbs, index));
        const clipped = Math.min(Math.max(ratio, 1 - policy.clipLow), 1 + policy.clipHigh);
        return Math.max(-at(policy.advantages, index) * ratio, -at(policy.advantages, index) * clipped);
      }),
    }),
  };
}
