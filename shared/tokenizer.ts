/**
 * Text → token ids for prompts, the same on the edge and in the trainer.
 * Only what the chat template itself writes can become a special token: literals such as `<|im_end|>` inside a
 * message are encoded as the plain characters that they are.
 */
import { Template } from "@huggingface/jinja";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { type PromptMessage, spellOutGuidance, type ToolDefinition } from "./chat.ts";
import type { TemplateArguments } from "./engine.ts";
import { AppError } from "./errors.ts";
import { escapeRegExp } from "./regexp.ts";
import { respaceJson, respaceResult } from "./spaced-json.ts";
import { parseObject } from "./speech/calls.ts";
import { partThoughts, THOUGHTS_END } from "./thoughts.ts";

/** The two JSON files of a Hugging Face folder that define text ↔ ids. */
export type TokenizerFiles = {
  tokenizer: { added_tokens?: { id: number; content: string }[] } & Record<string, unknown>;
  /** With the chat template, whichever file it came from. */
  config: Record<string, unknown>;
};

export type Prompt = {
  messages: readonly PromptMessage[];
  tools?: readonly ToolDefinition[] | undefined;
  addGenerationPrompt: boolean;
};

/** A conversation as the chat template writes it. How long it is can be seen before it is encoded. */
export type RenderedPrompt = { /** for people to read */ readonly text: string; readonly encode: () => number[] };

/** `plain` knows no special tokens. */
type Tables = { readonly full: HuggingFaceTokenizer; readonly plain: HuggingFaceTokenizer; readonly template: Template };

// Content is shielded with two private-use sequences while it passes through the template.
const SHIELD = "\uE000";
const SHIELDED_SELF = `${SHIELD}0`;
const BREAK = `${SHIELD}1`; // inside a literal that must not become a token

/** Tokens that templates write by name, as transformers hands them over. */
const NAMED_TOKENS = ["bos_token", "eos_token", "pad_token", "unk_token"] as const;
/** Llama's templates write a day, today's unless they are given one. The same conversation is the same tokens on every day: their own fallback's. */
const TEMPLATE_DAY = "26 Jul 2024";

export class Tokenizer {
  readonly specialIds: ReadonlyMap<string, number>;
  /** Ends a message, as the template writes it. */
  readonly eosId: number;
  /** All that end an answer, `eosId` first: published models end some with others, which no template writes. */
  readonly endIds: readonly number[];
  readonly #tables: Tables;
  readonly #special: RegExp;
  /** What a literal may begin with. */
  readonly #firsts: ReadonlySet<string>;
  readonly #named: Readonly<Record<string, string | undefined>>;
  readonly #files: TokenizerFiles;
  readonly #templateArguments: TemplateArguments;
  #objects: boolean | undefined;
  #thoughts: boolean | undefined;
  #guidance: { notes: boolean; hint: boolean } | undefined;
  #invocation: readonly number[] | undefined;

  /**
   * @param options.endIds that end an answer, too
   * @param options.like one of the same files, whose tables are shared: those of a published vocabulary take a second to make
   * @throws {policy/refused} where there is no chat template, or the end token is not among the added ones
   */
  constructor(
    files: TokenizerFiles,
    {
      endIds = [],
      templateArguments = {},
      like,
    }: { endIds?: readonly number[]; templateArguments?: TemplateArguments; like?: Tokenizer } = {},
  ) {
    const { tokenizer, config } = files;
    this.#files = files;
    this.#templateArguments = templateArguments;
    const added = tokenizer.added_tokens ?? [];
    this.specialIds = new Map(added.map(({ content, id }) => [content, id]));
    const template = config["chat_template"];
    if (typeof template !== "string")
      refuse(`one chat_template expected, as an instruct model has it there or in chat_template.jinja, got ${JSON.stringify(template)}`);
    this.#named = Object.fromEntries(NAMED_TOKENS.map((name) => [name, literalOf(config[name])]));
    const eosToken = this.#named["eos_token"] ?? "";
    const eosId = this.specialIds.get(eosToken);
    if (eosId === undefined) refuse(`eos_token among tokenizer.json's added_tokens expected, got ${JSON.stringify(eosToken)}`);
    this.eosId = eosId;
    this.endIds = [...new Set([eosId, ...endIds])];
    this.#tables = like === undefined ? makeTables(files, template) : like.#tables;
    // The longest first, where one literal begins another.
    const literals = added.map(({ content }) => content).toSorted((one, other) => other.length - one.length);
    this.#special = new RegExp(`(${literals.map(escapeRegExp).join("|")})`);
    this.#firsts = new Set(literals.map((literal) => literal.charAt(0)));
  }

  /** The same, its chat template given these beside the conversation, as engines give it their `chat_template_kwargs`. */
  withTemplateArguments(templateArguments: TemplateArguments): Tokenizer {
    return new Tokenizer(this.#files, { endIds: this.endIds, templateArguments, like: this });
  }

  /** Ids that open an answer: what a generation prompt adds to a conversation. What template arguments make it add comes after them. */
  get invocation(): readonly number[] {
    const open = (plain: Tokenizer, addGenerationPrompt: boolean): number[] =>
      plain.encodePrompt({ messages: [{ role: "user", content: "x" }], addGenerationPrompt });
    const opened = (plain: Tokenizer): number[] => open(plain, true).slice(open(plain, false).length);
    return (this.#invocation ??= opened(this.withTemplateArguments({})));
  }

  /** Ids of plain text: a special token's literal is encoded as characters. */
  encode(text: string): number[] {
    return text === "" ? [] : this.#tables.plain.encode(text, { add_special_tokens: false }).ids;
  }

  /** Text of ids, special tokens included as their literals. */
  decode(ids: readonly number[]): string {
    return ids.length === 0 ? "" : this.#tables.full.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
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
    return this.#write({
      messages: this.#shield(messages.map((message) => this.#prepare(message))),
      tools: tools === undefined || tools.length === 0 ? null : this.#shield(tools),
      add_generation_prompt: addGenerationPrompt,
    });
  }

  /** @throws {input/unsupported} for a conversation that the template refuses, with its own words */
  #write(values: Record<string, unknown>): string {
    try {
      return this.#tables.template.render({ ...this.#named, date_string: TEMPLATE_DAY, ...this.#templateArguments, ...values });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AppError("input/unsupported", `messages: a conversation that the chat template can write expected, got: ${reason}`, {
        cause,
      });
    }
  }

  /** A message as templates expect it: an answer that only calls has empty words, arguments are text or an object, as the template takes them, thoughts that it would look for stand apart, and what a tool gives back as JSON has one form. */
  #prepare(message: PromptMessage): object {
    if (message.role === "user") return message.notes || message.hint ? spellOutGuidance(message, this.#writesGuidance) : message;
    if (message.role === "tool") return { ...message, content: respaceResult(message.content) };
    if (message.role !== "assistant") return message;
    const { tool_calls: calls, ...said } = { ...message, content: message.content ?? "" };
    const rest = said.content.includes(THOUGHTS_END) && this.#partsThoughts ? { ...said, ...partThoughts(said.content) } : said;
    if (calls === undefined) return rest;
    const read = (text: string): unknown => (this.#takesObjects ? (parseObject(text) ?? text) : respaceJson(text));
    return {
      ...rest,
      tool_calls: calls.map((call) => ({ ...call, function: { ...call.function, arguments: read(call.function.arguments) } })),
    };
  }

  /** What the template knows of guidance: what it does not know it would leave out without a word. */
  get #writesGuidance(): { notes: boolean; hint: boolean } {
    const shows = (guidance: Pick<PromptMessage, "notes" | "hint">): boolean =>
      this.#write({ messages: [{ role: "user", content: "", ...guidance }], tools: null }).includes("guidance");
    return (this.#guidance ??= { notes: shows({ notes: ["guidance"] }), hint: shows({ hint: "guidance" }) });
  }

  /** Whether the template parts thoughts from an answer, by whose end it knows them, and takes them apart as well: in a message that is shielded it cannot find it. */
  get #partsThoughts(): boolean {
    const user = { role: "user", content: "x" };
    const written = (answer: { content: string }): string[] => {
      const said = { role: "assistant", ...answer };
      return [
        [user, said, user],
        [user, said],
      ].map((messages) => this.#write({ messages, tools: null }));
    };
    const content = "<think>\nwhy\n</think>\n\ny";
    return (this.#thoughts ??= written({ content }).join() === written(partThoughts(content)).join());
  }

  /** Whether the template writes arguments as JSON itself, so that text would be quoted; some take either, and get text, which stays as it was written. */
  get #takesObjects(): boolean {
    const call = { id: "call", type: "function", function: { name: "f", arguments: '{"x": 1}' } };
    const messages = [
      { role: "user", content: "x" },
      { role: "assistant", content: "", tool_calls: [call] },
    ];
    return (this.#objects ??= !this.#write({ messages, tools: null }).includes('{"x": 1}'));
  }

  #shield<Value>(value: Value): Value {
    if (typeof value === "string") return this.#shieldText(value) as Value;
    if (Array.isArray(value)) return value.map((each: unknown) => this.#shield(each)) as Value;
    if (value !== null && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [this.#shieldText(key), this.#shield(each)])) as Value;
    return value;
  }

  #shieldText(text: string): string {
    if (!this.#mayHoldLiteral(text)) return text;
    const safe = text.replaceAll(SHIELD, SHIELDED_SELF);
    return safe
      .split(this.#special)
      .map((piece) => (this.specialIds.has(piece) ? piece.charAt(0) + BREAK + piece.slice(1) : piece))
      .join("");
  }

  #mayHoldLiteral(text: string): boolean {
    if (text.includes(SHIELD)) return true;
    for (const first of this.#firsts) if (text.includes(first)) return true;
    return false;
  }
}

function makeTables({ tokenizer, config }: TokenizerFiles, template: string): Tables {
  return {
    full: new HuggingFaceTokenizer(tokenizer, config),
    plain: new HuggingFaceTokenizer({ ...tokenizer, added_tokens: [] }, config),
    template: new Template(template),
  };
}

/** A token's text, which files write as such or with how it is to be matched. */
function literalOf(token: unknown): string | undefined {
  const content: unknown = token !== null && typeof token === "object" && "content" in token ? token.content : token;
  return typeof content === "string" ? content : undefined;
}

function refuse(what: string): never {
  throw new AppError("policy/refused", `tokenizer_config.json: ${what}`);
}

function unshield(text: string): string {
  return text.includes(SHIELD) ? text.replaceAll(BREAK, "").replaceAll(SHIELDED_SELF, SHIELD) : text;
}
