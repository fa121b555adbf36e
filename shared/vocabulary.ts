/** The bytes of every token of a byte-level BPE tokenizer, and which tokens are special. */
import { z } from "zod";
import { AppError } from "./errors.ts";
import type { TokenizerFiles } from "./tokenizer.ts";

const ByteLevel = z.object({ type: z.literal("ByteLevel") });
/** Takes out a literal that the normalizer put in. */
const Erasure = z.object({ type: z.literal("Replace"), pattern: z.object({ String: z.string().min(1) }), content: z.literal("") });

const TokenizerJson = z.object({
  added_tokens: z.array(z.object({ id: z.number().int(), content: z.string() })).default([]),
  decoder: z.union([ByteLevel, z.object({ type: z.literal("Sequence"), decoders: z.tuple([ByteLevel]).rest(Erasure) })]),
  model: z.object({ type: z.literal("BPE"), vocab: z.record(z.string(), z.number().int()) }),
});

const NO_BYTES = new Uint8Array(0);

export class Vocabulary {
  /** Literals that are no part of the text that tokens stand for. */
  readonly erased: readonly string[];
  /** Ids that the model knows, those without bytes included. */
  readonly size: number;
  readonly #bytes: Uint8Array[] = [];
  readonly #special = new Set<number>();
  #longest: number | undefined;

  /** @throws {policy/refused} for a tokenizer that is no byte-level BPE or has ids outside the model's vocabulary */
  constructor({ tokenizer }: TokenizerFiles, vocabSize: number) {
    const parsed = TokenizerJson.safeParse(tokenizer);
    if (!parsed.success) throw new AppError("policy/refused", `tokenizer.json: ${z.prettifyError(parsed.error)}`, { cause: parsed.error });
    const { added_tokens: added, model, decoder } = parsed.data;
    this.erased = decoder.type === "Sequence" ? decoder.decoders.slice(1).map((step) => erasedLiteral(step)) : [];
    this.size = vocabSize;
    const byteOf = byteAlphabet();
    for (const [token, id] of Object.entries(model.vocab)) this.#bytes[id] = decodeToken(token, byteOf);
    for (const { id, content } of added) {
      this.#bytes[id] = new TextEncoder().encode(content);
      this.#special.add(id);
    }
    if (this.#bytes.length > vocabSize)
      throw new AppError("policy/refused", `tokenizer.json: ids below ${vocabSize} expected, got ${this.#bytes.length - 1}`);
  }

  /** Bytes of the longest token, literals of special ones included. */
  get longestBytes(): number {
    return (this.#longest ??= this.#bytes.reduce((longest, { length }) => Math.max(longest, length), 0));
  }

  /** A token's bytes; a special token's are its literal's, an unused id has none. */
  bytesOf(id: number): Uint8Array {
    return this.#bytes[id] ?? NO_BYTES;
  }

  isSpecial(id: number): boolean {
    return this.#special.has(id);
  }

  /** Every token that is not special and stands for bytes. */
  forEachPlain(visit: (id: number, bytes: Uint8Array) => void): void {
    this.#bytes.forEach((bytes, id) => {
      if (bytes.length > 0 && !this.#special.has(id)) visit(id, bytes);
    });
  }
}

function erasedLiteral(step: z.infer<typeof ByteLevel> | z.infer<typeof Erasure>): string {
  return step.type === "Replace" ? step.pattern.String : "";
}

/** GPT-2's printable stand-ins: bytes that print stand for themselves, the others for code points from 256. */
function byteAlphabet(): Map<string, number> {
  const alphabet = new Map<string, number>();
  let shifted = 256;
  for (let byte = 0; byte < 256; byte++) {
    const prints = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    alphabet.set(String.fromCodePoint(prints ? byte : shifted++), byte);
  }
  return alphabet;
}

function decodeToken(token: string, byteOf: ReadonlyMap<string, number>): Uint8Array {
  return Uint8Array.from(token, (character) => {
    const byte = byteOf.get(character);
    if (byte === undefined) throw new AppError("policy/refused", `tokenizer.json: byte-level token expected, got ${JSON.stringify(token)}`);
    return byte;
  });
}
