/** What the policy makes of what no tool of the conversation is for: at its beginning, and after its first answers. */
import { at } from "../../shared/assert.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { type Conversation, type Step, toMessages } from "../../trainer/pretrain/conversation.ts";
import type { Random } from "../../trainer/random.ts";
import { ANSWER_TOKENS } from "./cases.ts";
import { type EvaluatedPolicy, parseCall } from "./policy.ts";
import { type Share, share } from "./share.ts";
import { SPOKEN } from "./spoken.ts";
import { ABILITIES, GREETINGS, OFF_TOPIC } from "./spoken-beside.ts";

const MOST_CONVERSATIONS = 300;
const DECLINES = /\b(?:can(?:no|['’])t|not able|unable|nothing that I can)\b/i;

/** Whether a saying begins a conversation, comes after two answers, or after the reply to what a call gave. */
type Place = "first" | "later" | "called";

/**
 * Each saying in a conversation of its own, with that conversation's tools, as served. `words`: answers that call nothing; `declined`: of
 * requests for something else, answers that say so; `abilities`: answers in words, and none that declines, to who asks what the assistant is or can do; `wishes`, `rejections`, `approvals`:
 * answers in words to who wants to be asked first, who rejects a call without a word on what should be different, and who likes it.
 */
export async function evaluateBeside(
  policy: EvaluatedPolicy,
  encode: Tokenizer["encodePrompt"],
  conversations: readonly Conversation[],
  { context, random }: { context: number; random: Random },
): Promise<Record<"words" | "declined" | "abilities" | "greetings" | "wishes" | "rejections" | "approvals", Share>> {
  const shuffled = random.shuffled(conversations).slice(0, MOST_CONVERSATIONS);
  const caseOf = ({ system, tools, steps }: Conversation, content: string, place: Place) => {
    const messages = [...toMessages(system, steps.slice(0, placeIn(steps, place))), { role: "user" as const, content }];
    return { tools, prompt: encode({ messages, tools, addGenerationPrompt: true }) };
  };
  const answersTo = (label: string, sayings: readonly string[], place: Place): Promise<string[]> => {
    const longest = sayings.reduce((one, other) => (other.length > one.length ? other : one), "");
    const roomy = shuffled.filter((each) => caseOf(each, longest, place).prompt.length + ANSWER_TOKENS <= context);
    const cases = sayings.map((content, index) => caseOf(at(roomy, index % roomy.length), content, place));
    const prompts = cases.map(({ prompt }) => prompt);
    return policy.answers(label, prompts, { maxTokens: ANSWER_TOKENS, tools: cases.map(({ tools }) => tools) });
  };
  const calls = (text: string): boolean => parseCall(text) !== undefined;
  const inWords = (answers: readonly string[]): Share => share(answers.map((text) => !calls(text)));
  const beside = [...(await answersTo("beside, at first", OFF_TOPIC, "first")), ...(await answersTo("beside, later", OFF_TOPIC, "later"))];
  const asked = await answersTo("asked what it can do", ABILITIES, "first");
  return {
    words: inWords(beside),
    declined: share(beside.map((text) => !calls(text) && DECLINES.test(text))),
    abilities: share(asked.map((text) => !calls(text) && !DECLINES.test(text))),
    greetings: inWords(await answersTo("greeted", GREETINGS, "first")),
    wishes: inWords(await answersTo("wishes to be asked", SPOKEN.ask, "called")),
    rejections: inWords(await answersTo("rejections", SPOKEN.rejections, "called")),
    approvals: inWords(await answersTo("approvals", SPOKEN.approvals, "called")),
  };
}

function placeIn(steps: readonly Step[], place: Place): number {
  if (place === "first") return 0;
  const replies = steps.flatMap(({ kind }, index) => (kind === "reply" ? [index + 1] : []));
  const called = steps.findIndex(({ kind }) => kind === "call");
  return (place === "later" ? replies[1] : replies.find((index) => index > called)) ?? steps.length;
}
