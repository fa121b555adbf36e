/** Words that a small policy which was pushed too far makes up letter by letter: "Captain Lindqvist, capulqvist, I found". */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Tokenizer } from "../tokenizer.ts";

const FEWEST_TOKENS = 3; // a word that a policy knows has one or two

/** Words of three letters and more, in small letters. */
export function longWordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
}

/** Words of a text that stand nowhere else. */
export function strangeWords(text: string, known: ReadonlySet<string>): string[] {
  return longWordsOf(text).filter((word) => !known.has(word));
}

/** Words of a reply that neither the conversation has, nor its tools, nor the tokenizer as a word. @param options.others further texts that it may have words of */
export function madeUpWords(
  reply: string,
  {
    tokenizer,
    heard: { messages, tools },
    others,
  }: {
    tokenizer: Pick<Tokenizer, "encode">;
    heard: { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] };
    others: readonly string[];
  },
): string[] {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []));
  const said = [...messages.map(({ content }) => content ?? ""), ...calls.map((call) => call.function.arguments), ...others];
  const known = new Set([...said, JSON.stringify(tools)].flatMap(longWordsOf));
  return strangeWords(reply, known).filter((word) => tokenizer.encode(` ${word}`).length >= FEWEST_TOKENS);
}
