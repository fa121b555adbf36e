/** Words that nobody has said. */
import { describe, expect, it } from "vitest";
import { madeUpWords, strangeWords, longWordsOf } from "../../../shared/speech/strange-words.ts";
import { readCheckpoint } from "../../../trainer/model/checkpoint.ts";

describe("strangeWords", () => {
  it("are those that nobody has said, of three letters and more", () => {
    const known = new Set(["Call me Captain Lindqvist.", "I found 10 hotels. How about the Ritz?"].flatMap(longWordsOf));
    expect(strangeWords("Captain Lindqvist, capulqvist, I found 10 hotels.", known)).toEqual(["capulqvist"]);
    expect(strangeWords("Captain Lindqvist, how about the Ritz? It is OK.", known)).toEqual([]);
  });
});

describe("madeUpWords", () => {
  const { tokenizer } = readCheckpoint("base");
  const heard = {
    messages: [
      { role: "user" as const, content: "Anything near Vondelparkzicht?" },
      { role: "assistant" as const, content: null, tool_calls: [call('{"near": "Kattenburgerplein"}')] },
      { role: "tool" as const, tool_call_id: "c", content: '["Zwanenburgwal"]' },
    ],
    tools: [{ type: "function" as const, function: { name: "search_gezelligheid", parameters: {} } }],
  };
  const madeUp = (reply: string) => madeUpWords(reply, { tokenizer, heard, others: ["Captain Lindqvist"] });

  it("are neither said, nor called with, nor found, nor a tool's, nor words that the tokenizer knows", () => {
    expect(madeUp("Captain Lindqvist, I found a hotel near Vondelparkzicht, Kattenburgerplein and Zwanenburgwal by gezelligheid.")).toEqual(
      [],
    );
    expect(madeUp("Captain Lindqvist, captist Church, a madam Firairairaira.")).toContain("firairairaira");
    expect(madeUp("Captain Lindqvist, capulqvist, I found 10.")).toEqual(["capulqvist"]);
  });
});

function call(args: string) {
  return { id: "c", type: "function" as const, function: { name: "search_gezelligheid", arguments: args } };
}
