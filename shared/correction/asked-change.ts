/**
 * What the reply to a question about a call changes in it ("Yes, but insured please"): values with the names of their parameters and no other words, or, after a
 * yes, the one thing that would be heard outright of the call itself (heard.ts). It is heard before anything is done, so the user sees what came of it.
 */
import type { ChatMessage, ToolDefinition } from "../chat.ts";
import type { Hint } from "../jobs.ts";
import type { Call } from "../speech/calls.ts";
import { heardCorrection } from "./heard.ts";
import { plainChanges } from "./plain-changes.ts";

type Asked = { readonly tool: ToolDefinition; readonly call: Pick<Call, "name" | "arguments"> };

/** @param words the reply without the yes or no that it opens with @param asked.before the conversation before the question @returns one value for each changed parameter; none where that is not plain */
export function changesIn(
  words: string,
  { before, tool, call, isAssent }: Asked & { readonly before: readonly ChatMessage[]; readonly isAssent: boolean },
): Hint[] {
  const made = { id: "asked", type: "function" as const, function: { name: call.name, arguments: JSON.stringify(call.arguments) } };
  const answered: ChatMessage[] = [{ role: "assistant", content: null, tool_calls: [made] }];
  const nextState: ChatMessage[] = [{ role: "user", content: words }];
  const outright = heardCorrection({ messages: [...before, ...answered, ...nextState], tools: [tool] });
  if (isAssent && outright !== undefined) return [outright];
  return plainChanges(words, { before, answered, tool, call: { status: "read", ...call } });
}
