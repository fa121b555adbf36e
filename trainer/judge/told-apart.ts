/**
 * Two tools that a user tells apart by what each does, in the words that only one of their names has: "I wanted a draft, not to send it"
 * of `send_email` and `draft_email`.
 */
import type { ToolDefinition } from "../../shared/chat.ts";
import { humanise } from "../../shared/speech/parameters.ts";
import { clausesOf, isRefused } from "../../shared/speech/wanted.ts";
import { sameStem, wordsOf } from "../../shared/speech/words.ts";

/** The one tool that shares a word of its name with `called` and whose own word the user asks for, where they refuse the called one's own word. */
export function toldApart(text: string, called: string, tools: readonly ToolDefinition[]): string | undefined {
  const clauses = clausesOf(text).map(wordsOf);
  const [one, ...more] = tools
    .map((tool) => tool.function.name)
    .filter((name) => {
      const [own, others] = [wordsOf(humanise(called)), wordsOf(humanise(name))];
      const isShared = own.some((word) => others.includes(word));
      return isShared && says(clauses, lacking(own, others), true) && says(clauses, lacking(others, own), false);
    });
  return more.length > 0 ? undefined : one;
}

/** Words of the one that the other lacks. */
function lacking(own: readonly string[], others: readonly string[]): string[] {
  return own.filter((word) => word.length > 2 && !others.some((other) => sameForm(word, other)));
}

/** Whether a clause has one of the words, refused or not. */
function says(clauses: readonly (readonly string[])[], words: readonly string[], refused: boolean): boolean {
  return clauses.some((clause) =>
    clause.some((said, at) => words.some((word) => sameForm(said, word)) && isRefused(clause, at) === refused),
  );
}

/** "sending" and "drafts" are of `send` and `draft`. */
function sameForm(left: string, right: string): boolean {
  return sameStem(left, right) || sameStem(left.replace(/(?:ing|ed)$/, ""), right);
}
