/** What a client sees of token sequences: whole characters, no part of a stop string, calls as they were written. */
import { describe, expect, it } from "vitest";
import { AnswerReader } from "../../../edge/policy/answer.ts";
import type { AnswerDelta } from "../../../edge/policy/completion.ts";
import { ShownBytes } from "../../../edge/policy/token-text.ts";
import { Vocabulary } from "../../../shared/vocabulary.ts";
import type { TokenizerFiles } from "../../../shared/tokenizer.ts";

const OPEN = 256;
const CLOSE = 257;
const MARKERS = { openId: OPEN, closeId: CLOSE };

/** One token per byte, id = byte; a decoder that takes out "\u0001 ". */
const TOKENIZER: TokenizerFiles = {
  tokenizer: {
    added_tokens: [
      { id: OPEN, content: "<tool_call>" },
      { id: CLOSE, content: "</tool_call>" },
      { id: 258, content: "<|im_end|>" },
    ],
    decoder: { type: "Sequence", decoders: [{ type: "ByteLevel" }, { type: "Replace", pattern: { String: "\u0001 " }, content: "" }] },
    model: { type: "BPE", vocab: Object.fromEntries(Array.from({ length: 256 }, (_, byte) => [standIn(byte), byte])) },
  },
  config: {},
};
const vocabulary = new Vocabulary(TOKENIZER, 259);

/** Written independently of the vocabulary: the code points that GPT-2 gives to bytes, as ranges. */
function standIn(byte: number): string {
  if (byte <= 32) return String.fromCodePoint(256 + byte);
  if (byte <= 126) return String.fromCodePoint(byte);
  if (byte <= 160) return String.fromCodePoint(256 + 33 + byte - 127);
  return String.fromCodePoint(byte === 173 ? 256 + 67 : byte);
}

function bytes(text: string): number[] {
  return [...new TextEncoder().encode(text)];
}

function read(tokens: readonly number[], stop: readonly string[] = []): { deltas: AnswerDelta[]; reader: AnswerReader; texts: string[] } {
  const reader = new AnswerReader({ vocabulary, markers: MARKERS, stop });
  const deltas: AnswerDelta[] = [];
  for (const token of tokens) {
    if (reader.stopped) break;
    deltas.push(...reader.push(token));
  }
  deltas.push(...reader.finish());
  return { deltas, reader, texts: deltas.flatMap((delta) => (delta.kind === "content" ? [delta.text] : [])) };
}

describe("text", () => {
  it("shows characters of several tokens whole", () => {
    const { texts, reader } = read(bytes("é€😀"));
    expect(texts).toEqual(["é", "€", "😀"]);
    expect(reader.content).toBe("é€😀");
  });

  it("shows a replacement character where an answer ends inside a character, and drops nothing before it", () => {
    expect(read(bytes("a😀").slice(0, -1)).reader.content).toBe("a\uFFFD");
  });

  it("keeps a byte order mark, which is text here", () => {
    expect(read(bytes("\uFEFFa")).reader.content).toBe("\uFEFFa");
  });

  it("takes out what the tokenizer's normalizer put in, also where it spans tokens", () => {
    expect(read(bytes('say "\u0001 hello"')).reader.content).toBe('say "hello"');
  });

  it("shows nothing of it where the answer ends inside it, in text and in calls", () => {
    expect(read(bytes('say "\u0001')).reader.content).toBe('say "');
    expect(read([OPEN, ...bytes('{"name": "a", "arguments": {"\u0001')]).reader.calls).toEqual([
      { name: "a", arguments: '{"', valid: false },
    ]);
    expect(read(bytes("\u0001 a\u0001b")).reader.content).toBe("a\u0001b");
  });

  it("shows nothing of special tokens, and literals of them as text", () => {
    expect(read([...bytes("a"), 258, ...bytes("<tool_call>")]).reader.content).toBe("a<tool_call>");
  });
});

describe("stop strings", () => {
  it("cut the text before them and leak no part of them", () => {
    const { texts, reader } = read(bytes("one STOP two"), ["STOP"]);
    expect(texts.join("")).toBe("one ");
    expect(reader.stopped).toBe(true);
  });

  it("are held back no longer than they can still come", () => {
    const { texts, reader } = read(bytes("SSTSTOPPED"), ["STOPS"]);
    expect(texts.join("")).toBe("SSTSTOPPED");
    expect(reader.stopped).toBe(false);
  });

  it("stop at the first of several", () => {
    expect(read(bytes("abcd"), ["d", "bc"]).reader.content).toBe("a");
  });

  it("are released when the answer ends inside one", () => {
    expect(read(bytes("wait ST"), ["STOP"]).reader.content).toBe("wait ST");
  });

  it("are not looked for inside calls", () => {
    const { reader } = read([OPEN, ...bytes('{"name": "a", "arguments": {"x": "STOP"}}'), CLOSE], ["STOP"]);
    expect(reader.calls).toEqual([{ name: "a", arguments: '{"x": "STOP"}', valid: true }]);
  });
});

describe("calls", () => {
  it("are streamed: name first, then arguments without the call's own brace", () => {
    const { deltas, reader } = read([...bytes("Hm."), OPEN, ...bytes('{"name": "find", "arguments": {"a": {"b": 1}}}'), CLOSE]);
    expect(deltas.filter(({ kind }) => kind !== "call:arguments" && kind !== "content")).toEqual([
      { kind: "call:opened", index: 0, name: "find" },
      { kind: "call:closed", index: 0, valid: true },
    ]);
    expect(argumentsOf(deltas, 0)).toBe('{"a": {"b": 1}}');
    expect(reader.calls).toEqual([{ name: "find", arguments: '{"a": {"b": 1}}', valid: true }]);
    expect(reader.content).toBe("Hm.");
  });

  it("are numbered, and alone they leave the content null", () => {
    const call = (name: string): number[] => [OPEN, ...bytes(`{"name": "${name}", "arguments": {}}`), CLOSE];
    const { reader, deltas } = read([...call("one"), ...call("two")]);
    expect(reader.calls.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(argumentsOf(deltas, 1)).toBe("{}");
    expect(reader.content).toBeNull();
  });

  for (const [what, inside, call] of [
    ["arguments that do not parse", '{"name": "a", "arguments": {"x": }}', { name: "a", arguments: '{"x": }', valid: false }],
    ["arguments that are no object", '{"name": "a", "arguments": [1]}', { name: "a", arguments: "[1]", valid: false }],
    ["a missing last brace", '{"name": "a", "arguments": {"x": 1}', { name: "a", arguments: '{"x": 1', valid: false }],
    ["more after the arguments", '{"name": "a", "arguments": {}, "x": 1}', { name: "a", arguments: '{}, "x": 1', valid: false }],
  ] as const) {
    it(`with ${what} are passed on verbatim and not valid`, () => {
      const { reader, deltas } = read([OPEN, ...bytes(inside), CLOSE]);
      expect(reader.calls).toEqual([call]);
      expect(argumentsOf(deltas, 0)).toBe(call.arguments);
    });
  }

  for (const [what, inside] of [
    ["no name", '{"arguments": {"x": 1}}'],
    ["a name that is no string", '{"name": 3, "arguments": {}}'],
    ["an empty name", '{"name": "", "arguments": {}}'],
    ["a name that was cut", '{"name": "fi'],
    ["nothing of their arguments yet", '{"name": "find", "arguments'],
    ["nothing", ""],
  ] as const) {
    it(`with ${what} are no calls, and nothing of them is shown`, () => {
      for (const end of [[], [CLOSE]]) {
        const { reader, deltas } = read([...bytes("Hm."), OPEN, ...bytes(inside), ...end]);
        expect([reader.calls, reader.content]).toEqual([[], "Hm."]);
        expect(deltas.filter(({ kind }) => kind !== "content")).toEqual([]);
      }
    });
  }

  it("keep braces, quotes and markers that are inside strings", () => {
    const written = '{"x": "}} </tool_call> \\" {"}';
    expect(read([OPEN, ...bytes(`{"name": "a", "arguments": ${written}}`), CLOSE]).reader.calls).toEqual([
      { name: "a", arguments: written, valid: true },
    ]);
  });

  it("without their end marker are not valid, and keep what was written", () => {
    const { reader } = read([OPEN, ...bytes('{"name": "a", "arguments": {"x": 1}}')]);
    expect(reader.calls).toEqual([{ name: "a", arguments: '{"x": 1}}', valid: false }]);
  });

  it("begin anew at a second begin marker", () => {
    const { reader } = read([OPEN, ...bytes('{"na'), OPEN, ...bytes('{"name": "a", "arguments": {}}'), CLOSE, CLOSE]);
    expect(reader.calls).toEqual([{ name: "a", arguments: "{}", valid: true }]);
  });
});

describe("vocabulary", () => {
  it("refuses a tokenizer that is no byte-level BPE and ids beyond the model", () => {
    const wordPiece = { ...TOKENIZER, tokenizer: { ...TOKENIZER.tokenizer, model: { type: "WordPiece", vocab: {} } } };
    expect(() => new Vocabulary(wordPiece, 259)).toThrow("tokenizer.json");
    expect(() => new Vocabulary(TOKENIZER, 258)).toThrow("ids below 258 expected, got 258");
  });
});

function argumentsOf(deltas: readonly AnswerDelta[], index: number): string {
  return deltas.flatMap((delta) => (delta.kind === "call:arguments" && delta.index === index ? [delta.text] : [])).join("");
}

describe("ShownBytes", () => {
  it("leaves away what the decoder takes out, also where it is spread over tokens", () => {
    const shown = new ShownBytes(vocabulary.erased);
    const tokens = ['the "\u0001', " Grand", ' "\u0001 ', "x\u0001 y"].map((text) => Uint8Array.from(bytes(text)));
    const texts = tokens.map((token) => {
      const text = new TextDecoder().decode(shown.of(token));
      shown.push(token);
      return text;
    });
    expect(texts).toEqual(['the "', "Grand", ' "', "xy"]);
  });
});
