/** The grammars of answers, made once for each list of tools and each response format, and kept while they are in use. */
import type { ToolDefinition } from "../chat.ts";
import { AppError } from "../errors.ts";
import { Recent } from "../recent.ts";
import type { Tokenizer, TokenizerFiles } from "../tokenizer.ts";
import { Vocabulary } from "../vocabulary.ts";
import type { HeldForm } from "./answer-form.ts";
import { callRule } from "./calls.ts";
import { type CallMarkers, Constraint } from "./constraint.ts";
import { literals, type Rule } from "./rule.ts";
import { compileSchema } from "./schema.ts";
import { TokenGrammar } from "./token-grammar.ts";

// A grammar takes up to ten megabytes where many of its states were visited, most take one.
const KEPT = 8;

export class AnswerGrammars {
  readonly vocabulary: Vocabulary;
  readonly #markers: CallMarkers | undefined;
  readonly #eosId: number;
  readonly #kept = new Recent<string, TokenGrammar>(KEPT);

  /** @throws {policy/refused} for a tokenizer that is no byte-level BPE */
  constructor(files: TokenizerFiles, { tokenizer, vocabSize }: { tokenizer: Tokenizer; vocabSize: number }) {
    this.vocabulary = new Vocabulary(files, vocabSize);
    this.#markers = callMarkers(tokenizer);
    this.#eosId = tokenizer.eosId;
  }

  /** @throws {policy/refused} where the tokenizer has no tokens that mark calls, as Llama's has none */
  get markers(): CallMarkers {
    if (this.#markers === undefined)
      throw new AppError("policy/refused", "tokenizer.json: tokens <tool_call> and </tool_call> expected, got none");
    return this.#markers;
  }

  /**
   * What an answer with these tools may be. A named tool is the only one that can be called, and once. Without tokens that mark
   * calls, a call is words like any other. @param options.once for one answer alone: its grammars are not kept in the place of others that will be
   * used again @throws {policy/refused} where a call must be held to its form all the same
   */
  constraint(
    tools: readonly ToolDefinition[],
    { toolChoice, parallelToolCalls, responseFormat }: HeldForm,
    { once = false }: { once?: boolean } = {},
  ): Constraint {
    const named = typeof toolChoice === "object";
    const callable = toolChoice === "none" ? [] : named ? tools.filter((tool) => tool.function.name === toolChoice.name) : tools;
    const mustCall = toolChoice === "required" || named;
    const markers = mustCall ? this.markers : this.#markers;
    return new Constraint({
      calls:
        callable.length === 0 || !markers
          ? undefined
          : this.#grammar(callable, markers.closeId, { once, compile: () => callRule(callable) }),
      text: this.#textGrammar(responseFormat),
      mustCall,
      single: !parallelToolCalls || named,
      markers,
      eosId: this.#eosId,
    });
  }

  #textGrammar(format: HeldForm["responseFormat"]): TokenGrammar | undefined {
    if (format.type === "text") return undefined;
    if (format.type === "exact") return this.#grammar(format, this.#eosId, { once: true, compile: () => literals([format.text]) });
    const schema = format.type === "json_object" ? { type: "object" } : format.schema;
    return this.#grammar(schema, this.#eosId, { once: false, compile: () => compileSchema(schema, { path: "" }) });
  }

  #grammar(source: unknown, endId: number, { once, compile }: { once: boolean; compile: () => Rule }): TokenGrammar {
    const key = `${endId} ${JSON.stringify(source)}`;
    const kept = this.#kept.get(key);
    const grammar = kept ?? new TokenGrammar(compile(), { vocabulary: this.vocabulary, endId });
    if (kept !== undefined || !once) this.#kept.set(key, grammar); // what was used last goes last
    return grammar;
  }
}

function callMarkers({ specialIds }: Tokenizer): CallMarkers | undefined {
  const [openId, closeId] = [specialIds.get("<tool_call>"), specialIds.get("</tool_call>")];
  return openId === undefined || closeId === undefined ? undefined : { openId, closeId };
}
