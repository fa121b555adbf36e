/**
 * What an update must leave as it was where it has no lessons of its own to say so: the agent's replayed turns, answered by the
 * parent, and errands that no step of it sees.
 */
import { at, invariant } from "../../../shared/assert.ts";
import type { TokenBatch } from "../../engine/batch.ts";
import { lastOf } from "../../last-of.ts";
import { Random, seedAt } from "../../random.ts";
import type { ReplayTurn } from "../../teacher/replay.ts";
import { askGreedily, type Adapters, type LearnerDependencies } from "../update/candidate.ts";
import { drawErrandBatch } from "./errands.ts";
import type { UpdateRequest } from "../update/learner.ts";
import { ANSWER_TOKENS } from "./lessons.ts";
import { fits } from "./rows.ts";
import { scoreRows } from "./scores.ts";
import type { TaughtLesson } from "../update/train.ts";

const UNSEEN = 1_009; // apart from every seed that an update draws its own errands with

/** Replayed turns, but for those that are learned from, with the parent's own answers and distributions. */
export async function stayingLessons(
  { engine, base: { tokenizer, config, rowTokens }, settings, onTaught }: LearnerDependencies,
  { request, own, adapters }: { request: Pick<UpdateRequest, "replay" | "seed">; own: ReadonlySet<string>; adapters: Adapters },
): Promise<TaughtLesson[]> {
  const others = request.replay.filter(({ turnId }) => !own.has(turnId));
  const turns = lastOf(others, settings.replayed);
  const prompted = turns
    .map((turn) => ({ turn, prompt: promptOf(turn) }))
    .filter(({ prompt }) => fits({ rowTokens }, prompt.length, ANSWER_TOKENS));
  if (prompted.length < turns.length) onTaught?.({ "replayed too long": turns.length - prompted.length });
  const ask = askGreedily(engine, { adapter: adapters.parent, endIds: tokenizer.endIds, seed: request.seed });
  const answers = await ask(prompted.map(({ turn, prompt }) => ({ prompt, tools: turn.tools })));
  const answered = prompted.flatMap(({ turn, prompt }, index) => {
    const answer = answers[index] ?? [];
    return answer.length === 0 ? [] : [{ turn, prompt, answer }];
  });
  const scores = await scoreRows(engine, answered, { adapter: adapters.parent, full: true, vocabSize: config.vocabSize });
  return answered.map(({ turn: { turnId, messages, tools }, prompt, answer }, index) => {
    const { full, logProbs } = at(scores, index);
    const context = { kind: "other", origin: turnId, messages, tools, tool: "" } as const;
    return {
      lesson: { context, guidance: "none", teacherPrompt: prompt, studentPrompt: prompt, answer, own: answer },
      teacherLogProbs: full,
      teacherLogProb: logProbs.reduce((sum, value) => sum + value, 0),
    };
  });

  function promptOf({ messages, tools }: ReplayTurn): number[] {
    return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
  }
}

/** Mean KL(parent ‖ adapter) per token over errands that are never trained on, nats. 0 where the tokenizer leaves none. */
export class UnseenErrands {
  readonly #deps: LearnerDependencies;
  readonly #parent: string | undefined;
  readonly #batch: TokenBatch;
  #before: Float32Array | undefined;

  constructor(deps: LearnerDependencies, { parent, seed }: { parent: string | undefined; seed: number }) {
    this.#deps = deps;
    this.#parent = parent;
    this.#batch = drawErrandBatch(deps.base.tokenizer, new Random(seedAt(seed, UNSEEN)), deps.base.config);
  }

  async drift(adapter: string | undefined): Promise<number> {
    const { vocabSize } = this.#deps.base.config;
    const { weights } = this.#batch;
    const kept = weights.reduce((sum, weight) => sum + weight, 0);
    if (kept === 0) return 0;
    const before = (this.#before ??= await this.#ask(this.#parent));
    const after = await this.#ask(adapter);
    let sum = 0;
    weights.forEach((weight, position) => {
      if (weight === 0) return;
      for (let index = position * vocabSize; index < (position + 1) * vocabSize; index += 1)
        sum += weight * Math.exp(at(before, index)) * (at(before, index) - at(after, index));
    });
    return sum / kept;
  }

  async #ask(adapter: string | undefined): Promise<Float32Array> {
    const { full } = await this.#deps.engine.score(this.#batch, { fullLogProbs: true, ...(adapter === undefined ? {} : { adapter }) });
    invariant(full !== undefined, "whole distributions were asked for");
    return full;
  }
}
