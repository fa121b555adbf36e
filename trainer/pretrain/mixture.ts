/** The stream of training examples: example `i` depends on the seed and `i` alone, so a run can resume anywhere. */
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { drawConversation } from "./augment.ts";
import { actExample, type Example, guidedExample, hintJobExample, judgeExample } from "./examples.ts";
import type { ValuePool } from "./guidance.ts";
import { Random, seedAt } from "./random.ts";
import { type Dialogue, isTuning, type Sgd } from "./sgd.ts";

// Shares of examples. Judge and hint rows are a quarter as long as the others, so they cost little.
const SHARES = { act: 0.3, guided: 0.4, judge: 0.13, hint: 0.17 } as const;
const MAX_TRIES = 50;

export class Mixture {
  readonly #dialogues: readonly Dialogue[];
  readonly #sgd: Sgd;
  readonly #pool: ValuePool;
  readonly #tokenizer: Tokenizer;
  readonly #maxTokens: number;

  constructor({ sgd, tokenizer, maxTokens }: { sgd: Sgd; tokenizer: Tokenizer; maxTokens: number }) {
    this.#dialogues = sgd.dialogues.filter((dialogue) => !isTuning(dialogue));
    this.#sgd = sgd;
    this.#pool = valuePool(sgd.dialogues);
    this.#tokenizer = tokenizer;
    this.#maxTokens = maxTokens;
  }

  /** @throws Error when no dialogue yields the drawn kind in many tries, which means that the data is not SGD. */
  at(seed: number, index: number): Example {
    const random = new Random(seedAt(seed, index));
    const draw = random.next();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const example = this.#draw(draw, random);
      if (example !== undefined && example.tokens.length <= this.#maxTokens) return example;
    }
    throw new Error(`no example in ${MAX_TRIES} draws at seed ${seed}, index ${index}`);
  }

  #draw(draw: number, random: Random): Example | undefined {
    const conversation = drawConversation(random.pick(this.#dialogues), this.#sgd.schemas, random);
    if (draw < SHARES.act) return actExample(this.#tokenizer, conversation, this.#maxTokens);
    if (draw < SHARES.act + SHARES.guided) return guidedExample(this.#tokenizer, conversation, this.#pool, this.#maxTokens, random);
    if (draw < SHARES.act + SHARES.guided + SHARES.judge) return judgeExample(this.#tokenizer, conversation, this.#pool, random);
    return hintJobExample(this.#tokenizer, conversation, this.#pool, random);
  }
}

/** Values of each slot over all calls, without repeats. */
export function valuePool(dialogues: readonly Dialogue[]): ValuePool {
  const pool = new Map<string, Set<string>>();
  for (const { turns } of dialogues)
    for (const { calls = [] } of turns)
      for (const { parameters } of calls)
        for (const [slot, value] of Object.entries(parameters)) pool.set(slot, (pool.get(slot) ?? new Set()).add(value));
  return new Map([...pool].map(([slot, values]) => [slot, [...values].sort()]));
}
