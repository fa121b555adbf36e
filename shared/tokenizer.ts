/**
 * Text → token ids for prompts, the same on the edge and in the trainer.
 * Only what the chat template itself writes can become a special token: literals such as `<|im_end|>` inside a
 * message are encoded as the plain characters that they are.
 */
import { Template } from "@huggingface/jinja";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { escapeRegExp } from "./regexp.ts";
import type { PromptMessage, ToolDefinition } from "./chat.ts";
import { respaceJson } from "./spaced-json.ts";

/** The two JSON files of a Hugging Face folder that define text ↔ ids. */
export type TokenizerFiles = {
  tokenizer: { added_tokens?: { id: number; content: string }[] } & Record<string, unknown>;
  config: { chat_template?: string; eos_token?: string; pad_token?: string } & Record<string, unknown>;
};

export type Prompt = {
  messages: readonly PromptMessage[];
  tools?: readonly ToolDefinition[] | undefined;
  addGenerationPrompt: boolean;
};

/** A conversation as the chat template writes it. How long it is can be seen before it is encoded. */
export type RenderedPrompt = { /** for people to read */ readonly text: string; readonly encode: () => number[] };

// Content is shielded with two private-use sequences while it passes through the template.
const SHIELD = "\uE000";
const SHIELDED_SELF = `${SHIELD}0`;
const SHIELDED_OPEN = `${SHIELD}1`;

export class Tokenizer {
  readonly specialIds: ReadonlyMap<string, number>;
  readonly eosId: number;
  readonly #plain: HuggingFaceTokenizer;
  readonly #full: HuggingFaceTokenizer;
  readonly #template: Template;
  readonly #special: RegExp;
  #showsNotes: boolean | undefined;
  #invocation: readonly number[] | undefined;

  /** @throws Error when the folder has no chat template or names an end token that is not a special token. */
  constructor({ tokenizer, config }: TokenizerFiles) {
    const added = tokenizer.added_tokens ?? [];
    this.specialIds = new Map(added.map(({ content, id }) => [content, id]));
    if (config.chat_template === undefined) throw new Error("tokenizer_config.json has no chat_template");
    const eosId = this.specialIds.get(config.eos_token ?? "");
    if (eosId === undefined) throw new Error(`eos_token must be an added token, got ${String(config.eos_token)}`);
    this.eosId = eosId;
    this.#full = new HuggingFaceTokenizer(tokenizer, config);
    this.#plain = new HuggingFaceTokenizer({ ...tokenizer, added_tokens: [] }, config);
    this.#template = new Template(config.chat_template);
    this.#special = new RegExp(`(${added.map(({ content }) => escapeRegExp(content)).join("|")})`);
  }

  /** Whether the chat template writes notes; one that knows none leaves them out without a word. */
  get showsNotes(): boolean {
    const show = (notes: string[]): string =>
      this.#render({ messages: [{ role: "user", content: "x", notes }], addGenerationPrompt: true });
    return (this.#showsNotes ??= show(["y"]) !== show([]));
  }

  /** Ids that open an answer: what a generation prompt adds to a conversation. */
  get invocation(): readonly number[] {
    const open = (addGenerationPrompt: boolean): number[] =>
      this.encodePrompt({ messages: [{ role: "user", content: "x" }], addGenerationPrompt });
    return (this.#invocation ??= open(true).slice(open(false).length));
  }

  /** Ids of plain text: a special token's literal is encoded as characters. */
  encode(text: string): number[] {
    return text === "" ? [] : this.#plain.encode(text, { add_special_tokens: false }).ids;
  }

  /** Text of ids, special tokens included as their literals. */
  decode(ids: readonly number[]): string {
    return ids.length === 0 ? "" : this.#full.decode([...ids], { skip_special_tokens: false });
  }

  /** Ids of a rendered conversation. */
  encodePrompt(prompt: Prompt): number[] {
    return this.#encodeRendered(this.#render(prompt));
  }

  renderPrompt(prompt: Prompt): RenderedPrompt {
    const rendered = this.#render(prompt);
    return { text: unshield(rendered), encode: () => this.#encodeRendered(rendered) };
  }

  #encodeRendered(rendered: string): number[] {
    const ids: number[] = [];
    for (const piece of rendered.split(this.#special)) {
      const special = this.specialIds.get(piece);
      if (special !== undefined) ids.push(special);
      else for (const id of this.encode(unshield(piece))) ids.push(id); // spread, a long text would overflow the stack
    }
    return ids;
  }

  #render({ messages, tools, addGenerationPrompt }: Prompt): string {
    return this.#template.render({
      messages: this.#shield(messages.map(withRespacedCalls)),
      tools: tools === undefined || tools.length === 0 ? null : this.#shield(tools),
      add_generation_prompt: addGenerationPrompt,
    });
  }

  #shield<Value>(value: Value): Value {
    if (typeof value === "string") return this.#shieldText(value) as Value;
    if (Array.isArray(value)) return value.map((each: unknown) => this.#shield(each)) as Value;
    if (value !== null && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.#shieldText(key), this.#shield(each)])) as Value;
    return value;
  }

  #shieldText(text: string): string {
    if (!text.includes("<") && !text.includes(SHIELD)) return text;
    const safe = text.replaceAll(SHIELD, SHIELDED_SELF);
    return safe
      .split(this.#special)
      .map((piece) => (this.specialIds.has(piece) ? SHIELDED_OPEN + piece.slice(1) : piece))
      .join("");
  }
}

function withRespacedCalls(message: PromptMessage): PromptMessage {
  if (message.role !== "assistant" || message.tool_calls === undefined) return message;
  const calls = message.tool_calls.map((call) => ({
    ...call,
    function: { ...call.function, arguments: respaceJson(call.function.arguments) },
  }));
  return { ...message, tool_calls: calls };
}

function unshield(text: string): string {
  return text.includes(SHIELD) ? text.replaceAll(SHIELDED_OPEN, "<").replaceAll(SHIELDED_SELF, SHIELD) : text;
}
