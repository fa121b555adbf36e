/**
 * Trains a byte-level BPE vocabulary (Sennrich et al., arXiv:1508.07909, on bytes as GPT-2 does) and writes
 * `tokenizer.json`. Digits stand alone, so that numbers are copied digit by digit.
 *
 * A word after a JSON quote is given the same tokens as the word after a space: the normalizer writes `"` + U+0001 +
 * space before a letter and the decoder takes it back. Copying `San Jose` from a sentence into `"city": "San Jose"`
 * is then copying the same ids, which a small model learns far sooner.
 */

/** One byte that text practically never holds; joined to a quote it becomes one token. */
const GLUE = "\u0001";
const WORD_PATTERN = "'(?:[sdmt]|ll|ve|re)|[ _]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

export const SPECIAL_TOKENS = ["<|pad|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<hint>", "<note>"] as const;

export type TrainedBpe = { vocabulary: Map<string, number>; merges: [string, string][] };

/** Counts words of the corpus as the tokenizer will split them. */
export function countWords(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  const pattern = new RegExp(WORD_PATTERN, "gu");
  for (const text of texts) {
    const normalized = text.replace(/"(?=\p{L})/gu, `"${GLUE} `);
    for (const [word] of normalized.matchAll(pattern)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Learns merges until the vocabulary (special tokens, 256 bytes, merges) has `size` entries. */
export function trainBpe(counts: ReadonlyMap<string, number>, size: number): TrainedBpe {
  const vocabulary = new Map<string, number>(SPECIAL_TOKENS.map((token, id) => [token, id]));
  for (const symbol of byteSymbols()) vocabulary.set(symbol, vocabulary.size);
  const words = [...counts].filter(([, count]) => count > 1).map(([word, count]) => ({ symbols: toSymbols(word), count }));
  const merges: [string, string][] = [];
  const pairs = new PairIndex(words);
  while (vocabulary.size < size) {
    const best = pairs.mostFrequent();
    if (best === undefined) break;
    merges.push(best);
    vocabulary.set(best[0] + best[1], vocabulary.size);
    pairs.merge(best);
  }
  return { vocabulary, merges };
}

/** The `tokenizer.json` that `@huggingface/tokenizers` and Python's `tokenizers` load. */
export function tokenizerJson({ vocabulary, merges }: TrainedBpe): Record<string, unknown> {
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: "Replace", pattern: { Regex: '"(?=\\p{L})' }, content: `"${GLUE} ` },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: WORD_PATTERN }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: {
      type: "Sequence",
      decoders: [
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
        { type: "Replace", pattern: { String: `${GLUE} ` }, content: "" },
      ],
    },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary),
      merges: merges.map(([left, right]) => [left, right]),
    },
  };
}

type Word = { symbols: string[]; count: number };

/** Pair counts over all words, kept up to date merge by merge. */
class PairIndex {
  readonly #words: readonly Word[];
  readonly #counts = new Map<string, number>();
  readonly #places = new Map<string, Set<number>>();

  constructor(words: readonly Word[]) {
    this.#words = words;
    words.forEach((_, index) => this.#add(index, 1));
  }

  /** Ties go to the pair that sorts first, so that the vocabulary does not depend on map order. */
  mostFrequent(): [string, string] | undefined {
    let best: string | undefined;
    let bestCount = 1;
    for (const [pair, count] of this.#counts)
      if (count > bestCount || (count === bestCount && best !== undefined && pair < best)) [best, bestCount] = [pair, count];
    return best?.split(" ") as [string, string] | undefined;
  }

  merge([left, right]: [string, string]): void {
    const pair = `${left} ${right}`;
    for (const index of [...(this.#places.get(pair) ?? [])]) {
      const word = this.#words[index];
      if (word === undefined) continue;
      this.#add(index, -1);
      word.symbols = merged(word.symbols, left, right);
      this.#add(index, 1);
    }
    this.#counts.delete(pair);
    this.#places.delete(pair);
  }

  #add(index: number, sign: 1 | -1): void {
    const word = this.#words[index];
    if (word === undefined) return;
    for (let place = 0; place + 1 < word.symbols.length; place++) {
      const pair = `${word.symbols[place]} ${word.symbols[place + 1]}`;
      const count = (this.#counts.get(pair) ?? 0) + sign * word.count;
      if (count > 0) this.#counts.set(pair, count);
      else this.#counts.delete(pair);
      const places = this.#places.get(pair) ?? new Set();
      if (sign === 1) this.#places.set(pair, places.add(index));
      else places.delete(index);
    }
  }
}

function merged(symbols: readonly string[], left: string, right: string): string[] {
  const result: string[] = [];
  for (let place = 0; place < symbols.length; place++) {
    const symbol = symbols[place] ?? "";
    if (symbol === left && symbols[place + 1] === right) {
      result.push(left + right);
      place++;
    } else result.push(symbol);
  }
  return result;
}

const SYMBOL_OF_BYTE = byteSymbols();

function toSymbols(word: string): string[] {
  return Array.from(new TextEncoder().encode(word), (byte) => SYMBOL_OF_BYTE[byte] ?? "");
}

/** GPT-2's byte alphabet: printable bytes stand for themselves, the others for code points from 256 on. */
function byteSymbols(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
    return String.fromCodePoint(printable ? byte : next++);
  });
}
