/** The streams of examples that the judge's adapters are trained on: the base's jobs beside acting, as they are asked about real answers. */
import { hintPrompt, judgePrompt, rewardText, wishPrompt } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { JudgeAdapter } from "../policy/judge-adapter.ts";
import { Random, seedAt } from "../random.ts";
import { drawCommands } from "./command.ts";
import type { Conversation } from "./conversation.ts";
import { drawErrand } from "./errand.ts";
import { type Example, hintJobExample, jobExample, naturalVerdict } from "./examples.ts";
import { correctedExchange, naturalExchanges, objectedExchange, plainExchange, wishedExchange } from "./exchanges.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";

// Shares of the judge's examples.
const HINTS = 0.22;
const ERRAND_HINTS = 0.1; // half of them about commands
const UNHINTED = 0.03; // objections, asked what argument should have been different: none is said
// Of its verdicts, and the rest objections. Rejections in all their kinds are half of them: a judge that saw more takes approvals for rejections.
const VERDICTS = { natural: 0.58, plain: 0.23, corrected: 0.09 } as const;
const NATURAL_WISHES = 0.3; // of wishes: the data's own words, none of which is one
const CORRECTED_WISHES = 0.1; // and corrections, which are none either
const MAX_TRIES = 50;

export class JobMixture {
  readonly #sources: Sources;
  readonly #tokenizer: Tokenizer;
  readonly #maxTokens: number;
  readonly #draw: (conversation: Conversation, random: Random) => Example | undefined;

  /** @param options.adapter whose jobs */
  constructor({ sgd, tokenizer, maxTokens, adapter }: { sgd: Sgd; tokenizer: Tokenizer; maxTokens: number; adapter: JudgeAdapter }) {
    this.#sources = new Sources(sgd);
    this.#tokenizer = tokenizer;
    this.#maxTokens = maxTokens;
    this.#draw = adapter === "wish" ? this.#drawWish.bind(this) : this.#drawJudged.bind(this);
  }

  /** Example `index` depends on the seed and the index alone. @throws Error when no dialogue yields one in many tries. */
  at(seed: number, index: number): Example {
    const random = new Random(seedAt(seed, index));
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const example = this.#draw(this.#sources.conversation(random), random);
      if (example !== undefined && example.tokens.length <= this.#maxTokens) return example;
    }
    throw new Error(`no example in ${MAX_TRIES} draws at seed ${seed}, index ${index}`);
  }

  #drawJudged(conversation: Conversation, random: Random): Example | undefined {
    const { lexicon, vocabulary } = this.#sources;
    const tokenizer = this.#tokenizer;
    const draw = random.next();
    if (draw < ERRAND_HINTS) {
      const errand = (random.chance(0.5) ? drawErrand : drawCommands)(vocabulary, lexicon.forms, random);
      return hintJobExample(tokenizer, errand.conversation, { ...lexicon, values: errand.values }, random);
    }
    if (draw < ERRAND_HINTS + HINTS) return hintJobExample(tokenizer, conversation, lexicon, random);
    if (draw < ERRAND_HINTS + HINTS + UNHINTED) {
      const objected = objectedExchange(conversation, lexicon, random);
      return objected === undefined || objected.tools.length === 0 ? undefined : jobExample(tokenizer, hintPrompt(objected), "none");
    }
    return this.#drawVerdict(conversation, random);
  }

  #drawVerdict(conversation: Conversation, random: Random): Example | undefined {
    const { lexicon } = this.#sources;
    const draw = random.next();
    const { natural, plain, corrected } = VERDICTS;
    if (draw < natural) return naturalVerdict(this.#tokenizer, conversation, random);
    if (draw < natural + plain) {
      const reacted = plainExchange(conversation, random);
      return reacted && jobExample(this.#tokenizer, judgePrompt(reacted.exchange), rewardText(reacted.reward));
    }
    const rejected =
      draw < natural + plain + corrected
        ? correctedExchange(conversation, lexicon, random)?.exchange
        : objectedExchange(conversation, lexicon, random);
    return rejected && jobExample(this.#tokenizer, judgePrompt(rejected), rewardText(-1));
  }

  #drawWish(conversation: Conversation, random: Random): Example | undefined {
    const draw = random.next();
    if (draw >= NATURAL_WISHES + CORRECTED_WISHES) {
      const wished = wishedExchange(conversation, random);
      return wished && jobExample(this.#tokenizer, wishPrompt(wished.exchange), wished.wish);
    }
    const natural = naturalExchanges(conversation.steps);
    const other =
      draw < CORRECTED_WISHES
        ? correctedExchange(conversation, this.#sources.lexicon, random)
        : natural.length === 0
          ? undefined
          : random.pick(natural);
    return other && jobExample(this.#tokenizer, wishPrompt(other.exchange), "none");
  }
}
