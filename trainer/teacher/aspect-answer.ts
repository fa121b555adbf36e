/** Whether an answer is what an aspect asks for, by the policy itself: its notes end by the same rule by which a gate takes its cases for kept. */
import { ASK_FIRST } from "../../shared/aspects.ts";
import { asks } from "../../shared/asking.ts";
import { type Held, isWorded } from "../../shared/held-notes.ts";
import { isReplyAspect } from "../../shared/wording.ts";
import type { Heard } from "../../shared/yielding.ts";
import type { ReadAnswer } from "./answer-text.ts";

/**
 * Whether it is the other tool's call, a question in place of this one's, this one's, the reply as it is to be worded.
 * @param where.before the reply in whose place it is, which a reply has to be as good as
 */
export function doesSo(
  { tool, parameter, value }: Held,
  { calls, text, finished }: Pick<ReadAnswer, "calls" | "text" | "finished">,
  { before, heard }: { before: string; heard: Heard },
): boolean {
  if (!finished) return false;
  const [call] = calls;
  if (isReplyAspect(parameter))
    return isWorded({ tool, parameter, value }, { before: { calls: [], text: before }, after: { calls, text }, heard });
  if (parameter === "@tool") return call?.name === value;
  return value === ASK_FIRST ? call === undefined && asks(text) : call?.name === tool;
}
