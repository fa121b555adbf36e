/** The stream of examples that the judge's adapter is trained on: the base's jobs beside acting, as they are asked about real answers. */
import { hintPrompt, judgePrompt, rewardText, wishPrompt } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { Random, seedAt } from "../random.ts";
import type { Conversation } from "./conversation.ts";
import { drawErrand } from "./errand.ts";
import { type Example, hintJobExample, jobExample } from "./examples.ts";
import { correctedExchange, type JudgedExchange, naturalExchanges, objectedExchange, plainExchange, wishedExchange } from "./exchanges.ts";
import type { Lexicon } from "./lexicon.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";

// Shares of examples: whether a rejection is heard decides everything after it.
const SHARES = { judge: 0.45, hint: 0.2, errandHint: 0.06, wish: 0.21 } as const; // and the rest objections
const NATURAL_WISHES = 0.5; // of wishes: the data's own words, none of which is one
const UNHINTED = 0.15; // of objections, asked what argument should have been different: none is said
const [NATURAL, PLAIN] = [0.58, 0.3]; // of verdicts, and the rest about corrections
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
    if (rest < SHARES.judge) return judgement(tokenizer, conversation, lexicon, random);
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

/** Verdicts, each about as often: a judge that has seen more rejections than people make finds them everywhere. */
function judgement(tokenizer: Tokenizer, conversation: Conversation, lexicon: Lexicon, random: Random): Example | undefined {
  const draw = random.next();
  const judged =
    draw < NATURAL
      ? naturalOf(random.pick([-1, 0, 1]), conversation, random)
      : draw < NATURAL + PLAIN
        ? plainExchange(conversation, random)
        : correctedExchange(conversation, lexicon, random);
  if (judged === undefined) return undefined;
  return jobExample(tokenizer, judgePrompt(judged.exchange), rewardText("reward" in judged ? judged.reward : -1));
}

function naturalOf(wanted: number, { steps }: Conversation, random: Random): JudgedExchange | undefined {
  const found = naturalExchanges(steps).filter(({ reward }) => reward === wanted);
  return found.length === 0 ? undefined : random.pick(found);
}
