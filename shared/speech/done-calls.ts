/**
 * Calls that are done: made for the user's message before, told of, and not asked for again. A small policy takes approval, small talk and questions about a
 * result for one more request, and a room that is booked twice is two rooms.
 */
import { asksForMore, awaitsAnswer } from "../asking.ts";
import type { ChatMessage } from "../chat.ts";
import { type Call, readableCalls, sameCall } from "./calls.ts";
import { saysFailure } from "./failure.ts";
import { tellingWords } from "./words.ts";

/** Those that an answer to the user's last message is not to make once more, argument by argument the same; none where a tool failed, or a question is open. */
export function doneCalls(messages: readonly ChatMessage[]): Call[] {
  const last = messages.at(-1);
  if (last?.role !== "user" || ASKS_AGAIN.test(last.content ?? "")) return [];
  const before = messages.slice(0, -1);
  const asked = before.findLastIndex(({ role }) => role === "user");
  if (isSaidAgain(before[asked]?.content ?? "", last.content ?? "")) return [];
  const answered = before.slice(asked + 1);
  const reply = answered.at(-1);
  const told = reply?.role === "assistant" ? (reply.content ?? "") : "";
  if (told === "" || (awaitsAnswer(told) && !asksForMore(told))) return [];
  if (answered.some((message) => message.role === "tool" && saysFailure(message.content))) return [];
  return answered.flatMap(readableCalls);
}

/** Whether somebody says all of their request once more, whatever else. */
function isSaidAgain(asked: string, said: string): boolean {
  const words = tellingWords(said);
  return tellingWords(asked).every((word) => words.includes(word));
}

/** Whether all that an answer calls is done. */
export function isDone(calls: readonly Pick<Call, "name" | "arguments">[], done: readonly Call[]): boolean {
  return calls.length > 0 && calls.every((call) => done.some((each) => sameCall(call, each)));
}

// Of 872 calls of the tuning dialogues ten are the one before once more, each after "other" or "else" (by a script that is not in the repository).
const ASKS_AGAIN =
  /\b(?:again|more|another|others?|else|same|too|also|extra|twice|still|yet|now|latest|updates?|updated|check|try|re-?(?:book|check|count|do|fresh|load|open|peat|print|run|send|start|try))\b/i;
