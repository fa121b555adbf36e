/** What the policy makes of what no tool of the conversation is for: at its beginning, and after its first answers. */
import { at } from "../../shared/assert.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { type Conversation, type Step, toMessages } from "../../trainer/pretrain/conversation.ts";
import type { Random } from "../../trainer/random.ts";
import { ANSWER_TOKENS } from "./cases.ts";
import { beginsCall, declines, type EvaluatedPolicy } from "./policy.ts";
import { type Share, share } from "./share.ts";
import { SPOKEN } from "./spoken.ts";
import { ABILITIES, GREETINGS, OFF_TOPIC } from "./spoken-beside.ts";

const MOST_CONVERSATIONS = 300;

/** Whether a saying begins a conversation, comes after two answers, or after the reply to what a call gave. */
type Place = "first" | "later" | "called";

/**
 * Each saying in a conversation of its own, with that conversation's tools, as served. `words`: answers that begin no call; `declined`: of
 * requests for something else, answers that say so; `abilities`: answers in words, and none that declines, to who asks what the assistant
 * is or can do; the others: answers in words to who greets, who wants to be asked first, who rejects a call without a word on what
 * should be different, and who likes it.
 * @throws where no conversation leaves room for a saying
 */
export async function evaluateBeside(
  policy: EvaluatedPolicy,
  encode: Tokenizer["encodePrompt"],
  conversations: readonly Conversation[],
  { context, random }: { context: number; random: Random },
) {
  const shuffled = random.shuffled(conversations).slice(0, MOST_CONVERSATIONS);
  const answersTo = (label: string, sayings: readonly string[], place: Place): Promise<string[]> => {
    const begun = shuffled.flatMap(({ system, tools, steps }) => {
      const end = placeIn(steps, place);
      return end === undefined ? [] : [{ tools, before: toMessages(system, steps.slice(0, end)) }];
    });
    let next = 0;
    const cases = sayings.map((content) => {
      for (const end = next + begun.length; next < end;) {
        const { tools, before } = at(begun, next++ % begun.length);
        const prompt = encode({ messages: [...before, { role: "user" as const, content }], tools, addGenerationPrompt: true });
        if (prompt.length + ANSWER_TOKENS <= context) return { tools, prompt };
      }
      throw new Error(`${label}: none of ${begun.length} conversations leaves room for ${JSON.stringify(content)} in ${context} tokens`);
    });
    const prompts = cases.map(({ prompt }) => prompt);
    return policy.answers(label, prompts, { maxTokens: ANSWER_TOKENS, tools: cases.map(({ tools }) => tools) });
  };
  const inWords = (answers: readonly string[]): Share => share(answers.map((text) => !beginsCall(text)));
  const beside = [...(await answersTo("beside, at first", OFF_TOPIC, "first")), ...(await answersTo("beside, later", OFF_TOPIC, "later"))];
  const asked = await answersTo("asked what it can do", ABILITIES, "first");
  return {
    words: inWords(beside),
    declined: share(beside.map(declines)),
    abilities: share(asked.map((text) => !beginsCall(text) && !declines(text))),
    greetings: inWords(await answersTo("greeted", GREETINGS, "first")),
    wishes: inWords(await answersTo("wishes to be asked", SPOKEN.ask, "called")),
    rejections: inWords(await answersTo("rejections", SPOKEN.rejections, "called")),
    approvals: inWords(await answersTo("approvals", SPOKEN.approvals, "called")),
  };
}

/** How many steps come before the place, undefined where the conversation has none. */
function placeIn(steps: readonly Step[], place: Place): number | undefined {
  if (place === "first") return 0;
  const replies = steps.flatMap(({ kind }, index) => (kind === "reply" ? [index + 1] : []));
  if (place === "later") return replies[1];
  const called = steps.findIndex(({ kind }) => kind === "call");
  return called === -1 ? undefined : replies.find((index) => index > called);
}
