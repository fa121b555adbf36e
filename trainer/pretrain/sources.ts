/** What examples are drawn from: dialogues that no tuning asks about, their schemas, and the words, names and values that the data has. */
import { drawConversation } from "./augment.ts";
import type { Conversation } from "./conversation.ts";
import { NameSource } from "./drill.ts";
import { Vocabulary } from "./errand-tools.ts";
import { type Lexicon, readLexicon } from "./lexicon.ts";
import type { Random } from "../random.ts";
import { Revaluer } from "./revalue.ts";
import { type Dialogue, isTuning, type Sgd } from "./sgd.ts";

export class Sources {
  readonly lexicon: Lexicon;
  readonly names: NameSource;
  readonly vocabulary: Vocabulary;
  readonly #dialogues: readonly Dialogue[];
  readonly #schemas: Sgd["schemas"];
  readonly #revaluer: Revaluer;

  constructor({ dialogues, schemas }: Sgd) {
    this.#dialogues = dialogues.filter((dialogue) => !isTuning(dialogue));
    this.#schemas = schemas;
    this.lexicon = readLexicon({ dialogues: this.#dialogues, schemas });
    this.names = new NameSource(schemas, this.lexicon.values);
    const slots = [...schemas.original.values()].flatMap((service) => service.slots);
    this.vocabulary = new Vocabulary(
      this.lexicon,
      slots.map(({ possible_values }) => possible_values),
    );
    this.#revaluer = new Revaluer(this.lexicon);
  }

  conversation(random: Random): Conversation {
    return drawConversation(random.pick(this.#dialogues), this.#schemas, this.#revaluer, random);
  }
}
