/** The stream of training examples: example `i` depends on the seed and `i` alone, so a run can resume anywhere. */
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { type Elsewhere, withBeside } from "./beside.ts";
import type { Conversation } from "./conversation.ts";
import { drawCommands, drawElsewhere } from "./command.ts";
import { copyExample } from "./copying.ts";
import { drawDrill } from "./drill.ts";
import { drawErrand } from "./errand.ts";
import { actExample, amendedExample, type Example, guidedExample, hintJobExample, judgeExample, teaches } from "./examples.ts";
import { Random, seedAt } from "../random.ts";
import { withRemarks } from "./remarks.ts";
import type { Lexicon } from "./lexicon.ts";
import type { Sgd } from "./sgd.ts";
import { Sources } from "./sources.ts";

type TalkShares = { readonly act: number; readonly amended: number; readonly guided: number };

// Shares of examples. Errands are half as long as dialogues, drills, judge and hint rows a quarter, so they cost less.
const SHARES = { drill: 0.02, command: 0.38, errand: 0.05, act: 0.21, amended: 0.17, guided: 0.13, judge: 0.02, hint: 0.02 } as const;
// Of conversations with services that are no dialogue's; the rest are asked for hints.
const COMMANDS: TalkShares = { act: 0.66, amended: 0.1, guided: 0.21 };
const ERRANDS: TalkShares = { act: 0.3, amended: 0.15, guided: 0.47 };
const REMARKED_SHARE = 0.35; // of acted conversations: something is said of a result that asks for nothing
const BESIDE_SHARE = 0.65; // of acted dialogues and errands: something is said that no tool is for
// Rows of pure copying stand before the rest: many until copying is learnt, few after.
const COPYING = { early: 0.3, late: 0.03, earlyExamples: 1_500 } as const;
// Longer drills would only repeat themselves.
const DRILL_TOKENS = 512;
const MAX_TRIES = 50;

export class Mixture {
  readonly #sources: Sources;
  readonly #tokenizer: Tokenizer;
  readonly #maxTokens: number;
  readonly #vocabSize: number;

  constructor({ sgd, tokenizer, maxTokens, vocabSize }: { sgd: Sgd; tokenizer: Tokenizer; maxTokens: number; vocabSize: number }) {
    this.#sources = new Sources(sgd);
    this.#tokenizer = tokenizer;
    this.#maxTokens = maxTokens;
    this.#vocabSize = vocabSize;
  }

  /** @throws Error when no dialogue yields the drawn kind in many tries, which means that the data is not SGD. */
  at(seed: number, index: number): Example {
    const random = new Random(seedAt(seed, index));
    if (random.chance(index < COPYING.earlyExamples ? COPYING.early : COPYING.late)) return copyExample(this.#vocabSize, random);
    const draw = random.next();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const example = this.#draw(draw, random);
      if (example !== undefined && example.tokens.length <= this.#maxTokens && teaches(example)) return example;
    }
    throw new Error(`no example in ${MAX_TRIES} draws at seed ${seed}, index ${index}`);
  }

  #draw(draw: number, random: Random): Example | undefined {
    if (draw < SHARES.drill) return this.#drill(random);
    if (draw < SHARES.drill + SHARES.command) return this.#talk(drawCommands, COMMANDS, random);
    if (draw < SHARES.drill + SHARES.command + SHARES.errand) return this.#talk(drawErrand, ERRANDS, random);
    const conversation = this.#sources.conversation(random);
    const { lexicon } = this.#sources;
    const rest = draw - SHARES.drill - SHARES.command - SHARES.errand;
    if (rest < SHARES.act) return this.#act(conversation, lexicon, random);
    const { act, amended, guided, judge } = SHARES;
    if (rest < act + amended) return amendedExample(this.#tokenizer, conversation, lexicon, this.#maxTokens, random);
    if (rest < act + amended + guided) return guidedExample(this.#tokenizer, conversation, lexicon, this.#maxTokens, random);
    if (rest < act + amended + guided + judge) return judgeExample(this.#tokenizer, conversation, lexicon, random);
    return hintJobExample(this.#tokenizer, conversation, lexicon, random);
  }

  #act(conversation: Conversation, lexicon: Lexicon, random: Random): Example {
    const { vocabulary } = this.#sources;
    const elsewhere = (from: Random): Elsewhere => drawElsewhere(vocabulary, lexicon.forms, from);
    const remarked = random.chance(REMARKED_SHARE) ? withRemarks(conversation, lexicon, random) : conversation;
    const shown = random.chance(BESIDE_SHARE) ? withBeside(remarked, random, elsewhere) : remarked;
    return actExample(this.#tokenizer, shown, this.#maxTokens);
  }

  #drill(random: Random): Example | undefined {
    const conversation = drawDrill(this.#sources.names, random);
    const job = random.next();
    const limit = Math.min(DRILL_TOKENS, this.#maxTokens);
    if (job < 0.12) return actExample(this.#tokenizer, conversation, limit);
    if (job < 0.9) return guidedExample(this.#tokenizer, conversation, this.#sources.lexicon, limit, random);
    return hintJobExample(this.#tokenizer, conversation, this.#sources.lexicon, random);
  }

  /** What a conversation with services that are no dialogue's teaches. */
  #talk(draw: typeof drawErrand, { act, amended, guided }: TalkShares, random: Random): Example | undefined {
    const { conversation, values } = draw(this.#sources.vocabulary, this.#sources.lexicon.forms, random);
    const lexicon = { ...this.#sources.lexicon, values };
    const job = random.next();
    if (job < act) return this.#act(conversation, lexicon, random);
    if (job < act + amended) return amendedExample(this.#tokenizer, conversation, lexicon, this.#maxTokens, random);
    if (job < act + amended + guided) return guidedExample(this.#tokenizer, conversation, lexicon, this.#maxTokens, random);
    return hintJobExample(this.#tokenizer, conversation, lexicon, random);
  }
}
