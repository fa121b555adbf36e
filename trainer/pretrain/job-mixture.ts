/** The stream of examples that the judge's adapter is trained on: the base's jobs beside acting, as they are asked about real answers. */
import { hintPrompt, judgePrompt, rewardText, wishPrompt } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { Random, seedAt } from "../random.ts";
import { drawErrand } from "./errand.ts";
import { type Example, hintJobExample, jobExample, judgeExample } from "./examples.ts";
import { naturalExchanges, objectedExchange, wishedExchange } from "./exchanges.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";

// Shares of examples: whether a rejection is heard decides everything after it.
const SHARES = { judge: 0.4, hint: 0.2, errandHint: 0.06, wish: 0.2 } as const; // and the rest objections
const NATURAL_WISHES = 0.3; // of wishes: the data's own words, none of which is one
const UNHINTED = 0.15; // of objections, asked what argument should have been different: none is said
const MAX_TRIES = 50;

export class JobMixture {
  readonly #sources: Sources;
  readonly #tokenizer: Tokenizer;
  readonly #maxTokens: number;

  constructor({ sgd, tokenizer, maxTokens }: { sgd: Sgd; tokenizer: Tokenizer; maxTokens: number }) {
    this.#sources = new Sources(sgd);
    this.#tokenizer = tokenizer;
    this.#maxTokens = maxTokens;
  }

  /** Example `index` depends on the seed and the index alone. @throws Error when no dialogue yields the drawn kind in many tries. */
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
    const { lexicon } = this.#sources;
    const tokenizer = this.#tokenizer;
    if (draw < SHARES.errandHint) {
      const { conversation, values } = drawErrand(this.#sources.vocabulary, lexicon.forms, random);
      return hintJobExample(tokenizer, conversation, { ...lexicon, values }, random);
    }
    const rest = draw - SHARES.errandHint;
    const conversation = this.#sources.conversation(random);
    if (rest < SHARES.judge) return judgeExample(tokenizer, conversation, lexicon, random);
    if (rest < SHARES.judge + SHARES.hint) return hintJobExample(tokenizer, conversation, lexicon, random);
    if (rest < SHARES.judge + SHARES.hint + SHARES.wish) {
      if (random.chance(NATURAL_WISHES)) {
        const natural = naturalExchanges(conversation.steps);
        if (natural.length === 0) return undefined;
        return jobExample(tokenizer, wishPrompt(random.pick(natural).exchange), "none");
      }
      const wished = wishedExchange(conversation, random);
      return wished === undefined ? undefined : jobExample(tokenizer, wishPrompt(wished.exchange), wished.wish);
    }
    const objected = objectedExchange(conversation, lexicon, random);
    if (objected === undefined) return undefined;
    if (random.chance(UNHINTED)) return objected.tools.length === 0 ? undefined : jobExample(tokenizer, hintPrompt(objected), "none");
    return jobExample(tokenizer, judgePrompt(objected), rewardText(-1));
  }
}
