/** The tokenizer that pretraining makes: lossless, digits apart, and one spelling for a word after a space or a quote. */
import { describe, expect, it } from "vitest";
import { Tokenizer } from "../../../shared/tokenizer.ts";
import { countWords, SPECIAL_TOKENS, tokenizerJson, trainBpe } from "../../../trainer/pretrain/bpe.ts";
import { CHAT_TEMPLATE } from "../../../trainer/pretrain/chat-template.ts";

const corpus = [
  'find a room in San Jose {"city": "San Jose", "rooms": "12"}',
  "rooms in San Jose, rooms in Oslo",
  "a room, a city, a room",
];
const bpe = trainBpe(countWords(corpus), 300);
const tokenizer = new Tokenizer({
  tokenizer: tokenizerJson(bpe),
  config: { chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>", pad_token: "<|pad|>" },
});

describe("trainBpe", () => {
  it("fills the vocabulary with special tokens, bytes and merges, each id once", () => {
    expect([...bpe.vocabulary.values()]).toEqual([...bpe.vocabulary.keys()].map((_, id) => id));
    expect([...bpe.vocabulary.keys()].slice(0, SPECIAL_TOKENS.length)).toEqual([...SPECIAL_TOKENS]);
    expect(bpe.vocabulary.size).toBe(SPECIAL_TOKENS.length + 256 + bpe.merges.length);
  });

  it("merges the most frequent pair first", () => {
    // "ab" stands 5 times, "bc" 3 times.
    expect(
      trainBpe(
        new Map([
          ["abc", 3],
          ["ab", 2],
        ]),
        7 + 256 + 1,
      ).merges,
    ).toEqual([["a", "b"]]);
  });

  it("learns the same merges from the same words in another order", () => {
    const reversed = new Map([...countWords(corpus)].reverse());
    expect(trainBpe(reversed, 300).merges).toEqual(bpe.merges);
  });
});

describe("tokenizer", () => {
  it.each([
    "plain words",
    '{"city": "San Jose", "n": "12"}',
    'say "hi" now',
    "naïve 日本 🙂",
    " two  spaces\n\nlines\t",
    '"',
    "''''",
    "<|im_end|>",
    "x_y-z",
  ])("gives back %j as it was", (text) => {
    expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  it("splits digits", () => {
    expect(tokenizer.encode("2019").map((id) => tokenizer.decode([id]))).toEqual(["2", "0", "1", "9"]);
  });

  it("spells a name alike in a sentence and in a call's JSON", () => {
    const [name, json] = [tokenizer.encode("in San Jose"), tokenizer.encode('{"city": "San Jose"}')];
    const words = name.slice(tokenizer.encode("in").length);
    expect(json.join(" ")).toContain(words.join(" "));
  });
});
