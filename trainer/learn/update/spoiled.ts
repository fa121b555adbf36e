/** What an update does to replies that it is not about: a name that is learned in part is said in part, "Madam F F F F". */
import { zipStrict } from "../../../shared/assert.ts";
import { correctionText } from "../../../shared/jobs.ts";
import { madeUpWords } from "../../../shared/speech/strange-words.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import { readAnswer, repeats } from "../../teacher/answer-text.ts";
import { type Lesson, mustStay } from "../../teacher/answers.ts";
import type { Correction } from "../../teacher/contexts.ts";
import type { AskPolicy } from "../../teacher/lead.ts";
import { refuse, type RefusedCorrection } from "./result.ts";

const MOST_SPOILED = 0.25; // share of replies; a policy that is whole misspells a name of several tokens now and then, too
const SHOWN = 5;
const SHOWN_CHARS = 80;

export async function refuseSpoiled(
  lessons: readonly Lesson[],
  { correction: { hint, tool }, ...policy }: { correction: Correction; ask: AskPolicy; tokenizer: Tokenizer },
): Promise<RefusedCorrection | undefined> {
  const { share, replies } = await spoiledReplies(lessons, policy);
  if (share <= MOST_SPOILED) return undefined;
  return refuse(
    "update/notLearned",
    `"${correctionText(hint, tool.function.name)}": replies elsewhere that make up nothing and do not repeat themselves expected, got ${JSON.stringify(replies.slice(0, SHOWN))}`,
  );
}

/** Of the lessons' replies that are to stay as they are, those in whose place the policy makes words up or repeats itself, and their share. */
export async function spoiledReplies(
  lessons: readonly Lesson[],
  { ask, tokenizer }: { ask: AskPolicy; tokenizer: Tokenizer },
): Promise<{ share: number; replies: string[] }> {
  const staying = lessons.filter(({ context, own }) => mustStay(context) && readAnswer(tokenizer, own).calls.length === 0 && !repeats(own));
  const answers = await ask(staying.map(({ studentPrompt: prompt, context: { tools }, own: supposed }) => ({ prompt, tools, supposed })));
  const others = lessons.map(({ own }) => readAnswer(tokenizer, own).text); // a word that it said before is one that there is
  const replies = zipStrict(staying, answers).flatMap(([{ context: heard }, answer]) => {
    const { text } = readAnswer(tokenizer, answer);
    return repeats(answer) || madeUpWords(text, { tokenizer, heard, others }).length > 0 ? [text.slice(0, SHOWN_CHARS)] : [];
  });
  return { share: replies.length / Math.max(1, staying.length), replies };
}
