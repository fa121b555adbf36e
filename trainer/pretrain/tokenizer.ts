/** Trains the base's tokenizer on SGD train and writes the two JSON files of a Hugging Face folder. */
import type { TokenizerFiles } from "../../shared/tokenizer.ts";
import { drawConversation } from "./augment.ts";
import { countWords, SPECIAL_TOKENS, tokenizerJson, trainBpe } from "./bpe.ts";
import { CHAT_TEMPLATE } from "./chat-template.ts";
import { toMessages } from "./conversation.ts";
import { readLexicon } from "./lexicon.ts";
import { Random, seedAt } from "../random.ts";
import { Revaluer } from "./revalue.ts";
import type { Sgd } from "./sgd.ts";
import { HINT_SYSTEM, JUDGE_SYSTEM } from "../../shared/jobs.ts";

/** Drawn conversations rather than raw text, so that variants, made-up names and JSON shape the vocabulary too. */
export function trainTokenizer(sgd: Sgd, { size, seed, context }: { size: number; seed: number; context: number }): TokenizerFiles {
  const counts = countWords(corpus(sgd, seed));
  return { tokenizer: tokenizerJson(trainBpe(counts, size)), config: tokenizerConfig(context) };
}

function* corpus(sgd: Sgd, seed: number): Generator<string> {
  const revaluer = new Revaluer(readLexicon(sgd));
  for (const [index, dialogue] of sgd.dialogues.entries()) {
    const { system, tools, steps } = drawConversation(dialogue, sgd.schemas, revaluer, new Random(seedAt(seed, index)));
    for (const { function: tool } of tools) yield ` ${tool.name}: ${tool.description ?? ""}\n${parameterLines(tool.parameters)}`;
    for (const message of toMessages(system, steps)) {
      yield `${message.role}\n${message.content ?? ""}`;
      if (message.role === "assistant")
        for (const call of message.tool_calls ?? []) yield `{"name": "${call.function.name}", "arguments": ${call.function.arguments}}`;
    }
  }
  for (const job of [JUDGE_SYSTEM, HINT_SYSTEM]) for (let copy = 0; copy < 200; copy++) yield job;
}

function parameterLines(parameters: Record<string, unknown> | undefined): string {
  const properties = (parameters?.properties ?? {}) as Record<string, { description?: string; enum?: unknown[] }>;
  return Object.entries(properties)
    .map(([name, { description = "", enum: options = [] }]) => `- ${name}* [ ${options.join(", ")} ]: ${description}`)
    .join("\n");
}

/** The chat template may gain words between runs; what it writes for a prompt of the kinds that were trained stays. */
export function tokenizerConfig(context: number): TokenizerFiles["config"] {
  return {
    tokenizer_class: "PreTrainedTokenizerFast",
    model_max_length: context,
    eos_token: "<|im_end|>",
    pad_token: "<|pad|>",
    bos_token: null,
    unk_token: null,
    add_prefix_space: false,
    clean_up_tokenization_spaces: false,
    additional_special_tokens: [...SPECIAL_TOKENS],
    chat_template: CHAT_TEMPLATE,
  };
}
