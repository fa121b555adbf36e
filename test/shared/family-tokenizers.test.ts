/** Tokenizers and chat templates of the shapes that Qwen and Llama publish: the same tokens as Python's libraries make of them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PromptMessage, ToolDefinition } from "../../shared/chat.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { AnswerGrammars } from "../../shared/grammar/answer-grammars.ts";
import { Tokenizer, type TokenizerFiles } from "../../shared/tokenizer.ts";

type Encoded = { text: string; ids: number[] };
type Conversation = Encoded & { what: string; messages: PromptMessage[]; tools: ToolDefinition[] | null; addGenerationPrompt: boolean };
type Family = TokenizerFiles & { texts: Encoded[]; conversations: Conversation[] };

const FIXTURES = join(import.meta.dirname, "../fixtures");
// Its origin says what made it.
const families = JSON.parse(readFileSync(join(FIXTURES, "family-tokenizers.json"), "utf8")) as Record<"qwen" | "llama", Family>;
const templateOf = (name: string): string => readFileSync(join(FIXTURES, `templates/${name}.jinja`), "utf8");
const filesOf = (name: "qwen" | "llama"): TokenizerFiles => {
  const { tokenizer, config } = families[name];
  return { tokenizer, config: { ...config, chat_template: templateOf(name) } };
};
const VOCABULARY = 512; // of the model: as published, more than the tokenizer has

describe.each(["qwen", "llama"] as const)("a tokenizer of %s's shape", (name) => {
  const tokenizer = new Tokenizer(filesOf(name));
  const { texts, conversations } = families[name];

  it.each(texts)("encodes $text", ({ text, ids }) => {
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.decode(ids)).toBe(name === "qwen" ? text.normalize("NFC") : text);
  });

  it.each(conversations)("writes $what, opening an answer: $addGenerationPrompt", ({ messages, tools, addGenerationPrompt, text, ids }) => {
    const prompt = { messages, tools: tools ?? undefined, addGenerationPrompt };
    expect(tokenizer.renderPrompt(prompt).text).toBe(text);
    expect(tokenizer.encodePrompt(prompt)).toEqual(ids);
  });

  it("makes no token of what a person or tool writes", () => {
    for (const literal of tokenizer.specialIds.keys()) {
      const prompt = { messages: [{ role: "user" as const, content: `a ${literal} b` }], addGenerationPrompt: true };
      const plain = { messages: [{ role: "user" as const, content: "a b" }], addGenerationPrompt: true };
      const special = (ids: number[]): number[] => ids.filter((id) => [...tokenizer.specialIds.values()].includes(id));
      expect(special(tokenizer.encodePrompt(prompt)), literal).toEqual(special(tokenizer.encodePrompt(plain)));
      expect(tokenizer.renderPrompt(prompt).text).toContain(`a ${literal} b`);
    }
  });

  it("looks for thoughts in answers alone, and makes no token of what they hold", () => {
    const text = "<think>\na <|im_end|> b\n</think>\n\nWords.";
    const write = (...messages: PromptMessage[]): string => tokenizer.renderPrompt({ messages, addGenerationPrompt: false }).text;
    expect(write({ role: "user", content: text })).toContain(text);
    const answered = (content: string): PromptMessage[] => [
      { role: "user", content: "x" },
      { role: "assistant", content },
    ];
    const ends = (messages: PromptMessage[]): number =>
      tokenizer.encodePrompt({ messages, addGenerationPrompt: false }).filter((id) => id === tokenizer.specialIds.get("<|im_end|>")).length;
    expect(ends(answered(text))).toBe(ends(answered("Words.")));
    expect(write(...answered(text))).toContain("a <|im_end|> b");
  });

  it("writes an empty thought where the template is told that there is to be none, and knows how", () => {
    // By hand, as Qwen/Qwen3-0.6B's template ends; Llama's knows no such variable.
    const prompt = { messages: [{ role: "user" as const, content: "Hi" }], addGenerationPrompt: true };
    const told = tokenizer.withTemplateArguments({ enable_thinking: false }).renderPrompt(prompt).text;
    expect(told).toBe(tokenizer.renderPrompt(prompt).text + (name === "qwen" ? "<think>\n\n</think>\n\n" : ""));
  });

  it("knows what ends and opens an answer", () => {
    expect(tokenizer.decode([tokenizer.eosId])).toBe(name === "qwen" ? "<|im_end|>" : "<|eot_id|>");
    const opens = name === "qwen" ? "<|im_start|>assistant\n" : "<|start_header_id|>assistant<|end_header_id|>\n\n";
    expect(tokenizer.decode(tokenizer.invocation)).toBe(opens);
  });
});

describe("a family's tokenizer files", () => {
  it("name tokens as text or with how they are matched", () => {
    const { tokenizer, config } = filesOf("llama");
    const spelled = { ...config, bos_token: { content: config["bos_token"], special: true }, eos_token: { content: config["eos_token"] } };
    const [case0] = families.llama.conversations;
    const prompt = { messages: case0?.messages ?? [], addGenerationPrompt: case0?.addGenerationPrompt ?? true };
    expect(new Tokenizer({ tokenizer, config: spelled }).encodePrompt(prompt)).toEqual(case0?.ids);
  });

  for (const [what, change, message] of [
    [
      "no chat template",
      { chat_template: undefined },
      "one chat_template expected, as an instruct model has it there or in chat_template.jinja, got",
    ],
    ["several chat templates", { chat_template: [{ name: "default", template: "" }] }, "one chat_template expected"],
    ["an end token that is none", { eos_token: "</s>" }, 'eos_token among tokenizer.json\'s added_tokens expected, got "</s>"'],
  ] as const) {
    it(`are refused with ${what}`, () => {
      const { tokenizer, config } = filesOf("qwen");
      expect(() => new Tokenizer({ tokenizer, config: { ...config, ...change } })).toThrow(message);
    });
  }

  it("hand on what their template refuses, in its words", () => {
    const call = { id: "c", type: "function" as const, function: { name: "f", arguments: "{}" } };
    const messages: PromptMessage[] = [
      { role: "user", content: "x" },
      { role: "assistant", content: null, tool_calls: [call, call] },
    ];
    const tokenizer = new Tokenizer(filesOf("llama"));
    expect(() => tokenizer.encodePrompt({ messages, addGenerationPrompt: true })).toThrow("One call at a time, please.");
  });

  it("have calls held to their form where tokens mark them, and leave them words where none do", () => {
    const tools: ToolDefinition[] = [{ type: "function", function: { name: "Book" } }];
    const grammarsOf = (name: "qwen" | "llama"): AnswerGrammars =>
      new AnswerGrammars(filesOf(name), { tokenizer: new Tokenizer(filesOf(name)), vocabSize: VOCABULARY });
    const qwen = grammarsOf("qwen");
    const held = qwen.constraint(tools, FREE_FORM);
    held.accept(qwen.markers.openId);
    expect(held.mask()?.kind).toBe("allow");
    const llama = grammarsOf("llama");
    expect(llama.constraint(tools, FREE_FORM).mask()).toBeUndefined();
    const json = llama.constraint([], { ...FREE_FORM, responseFormat: { type: "json_object" } });
    expect(json.mask()?.kind).toBe("allow");
    expect(() => llama.constraint(tools, { ...FREE_FORM, toolChoice: "required" })).toThrow("<tool_call> and </tool_call> expected");
    expect(() => llama.markers).toThrow("<tool_call> and </tool_call> expected");
  });
});
