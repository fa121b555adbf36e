/**
 * Tools that a user tells apart by what each does, in the words that only one of their names has: "I wanted a draft, not to send it" and "I only wanted a
 * draft." of `send_email` and `draft_email`.
 */
import type { ToolDefinition } from "../../shared/chat.ts";
import { humanise } from "../../shared/speech/parameters.ts";
import { clausesOf } from "../../shared/speech/sentences.ts";
import { isRefused } from "../../shared/speech/wanted.ts";
import { sameStem, wordsOf } from "../../shared/speech/words.ts";
import { ORDER_VERBS } from "../../shared/correction/orders.ts";

/** What somebody says that they wanted and nothing more, "I only wanted a quote.", "Drafts only from now on", or as what it should have been kept, "as a draft". */
const WANTED_ALONE = [
  /\b(?:only|just|merely) (?:wanted|needed|asked (?:you )?for|meant) (?:an?|the|some) (\p{L}+)(?=\s*(?:$|[.,;!?]))/iu,
  /^\W*(?:(?:no|ok|please|just)\W+)*(\p{L}+) only (?:from now on|next time|in future|for me)\b/iu,
  /\b(?:keep|kept|leave|left|save|saved)(?: (?:it|this|that|them|mine))? as an? (\p{L}+)/iu,
];
// Of whom else it is said, or about being asked, is none of another tool: "You should have called me before".
const SHOULD_HAVE =
  /\byou (?:should|could|might)(?: have|'ve) (?:(?:just|simply|first|only|rather|better) )*(\p{L}+)(?! (?:me|us|my|with me|for my)\b)/iu;
// Verbs of asking and telling, beside those that anything is ordered with: "you should have made it two" is of no tool that makes something.
const ASKING = new Set("approve ask change check confirm consult notify pay run say tell verify wait".split(" "));

/** The one other tool that a rejection chooses outright: the user wanted its own word alone, or says that its verb is what should have been done. */
export function chosenOutright(text: string, called: string, tools: readonly ToolDefinition[]): string | undefined {
  const said = text.replaceAll("’", "'").toLowerCase();
  const wanted = WANTED_ALONE.flatMap((each) => each.exec(said)?.[1] ?? []);
  const done = SHOULD_HAVE.exec(said)?.[1] ?? "";
  const verbOf = (name: string): string => wordsOf(humanise(name))[0] ?? "";
  const isGeneral = (verb: string): boolean => ORDER_VERBS.has(verb) || ASKING.has(verb);
  const doing = tools.filter(({ function: { name } }) => !isGeneral(verbOf(name)) && sameForm(done, verbOf(name)));
  return onlyOwner(wanted, called, tools) ?? onlyOwner([done], called, doing);
}

/** The one tool that has one of the words in its name, which the called one has not. */
function onlyOwner(words: readonly string[], called: string, tools: readonly ToolDefinition[]): string | undefined {
  const own = wordsOf(humanise(called));
  const [one, ...more] = tools
    .map((tool) => tool.function.name)
    .filter((name) => name !== called && lacking(wordsOf(humanise(name)), own).some((word) => words.some((said) => sameForm(said, word))));
  return more.length > 0 ? undefined : one;
}

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

/** "sending", "drafts" and "compared" are of `send`, `draft` and `compare`. */
function sameForm(left: string, right: string): boolean {
  const stem = left.replace(/(?:ing|ed)$/, "");
  return [left, ...(stem === left ? [] : [stem, `${stem}e`])].some((each) => sameStem(each, right));
}
