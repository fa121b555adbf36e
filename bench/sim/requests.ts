/** Fresh conversations drawn from SGD: everything that was said before a dialogue's first call, and what the call should be. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { plainConversation } from "../../trainer/pretrain/augment.ts";
import { type ArgumentValue, callArguments, type ParameterView, type Step, toMessages } from "../../trainer/pretrain/conversation.ts";
import { bySpeech, isGuidable } from "../../trainer/pretrain/guidance.ts";
import type { Dialogue, Sgd } from "../../trainer/pretrain/sgd.ts";

export type FreshRequest = {
  readonly dialogueId: string;
  readonly service: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The call that the data makes here. */
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, ArgumentValue>> };
  /** What the tool gives back to that call. */
  readonly result: string;
  /** Optional parameters that nobody has spoken of, and parameters whose value the user stated. */
  readonly silent: readonly ParameterView[];
  readonly stated: readonly ParameterView[];
};

/** The first call of every dialogue that has one in answer to a user message, and that a client can ask for. @param mostChars of a request with its tools, as JSON */
export function freshRequests(sgd: Sgd, { mostChars = Number.POSITIVE_INFINITY } = {}): FreshRequest[] {
  const requests = sgd.dialogues.flatMap((dialogue) => firstCall(dialogue, sgd)).filter(({ tools }) => isAskable(tools));
  return requests.filter((request) => JSON.stringify(request).length <= mostChars);
}

/** Whether tools have names of their own: two services of one dialogue may both have a FindMovies. */
export function isAskable(tools: readonly ToolDefinition[]): boolean {
  return new Set(tools.map(({ function: { name } }) => name)).size === tools.length;
}

function firstCall(dialogue: Dialogue, sgd: Sgd): FreshRequest[] {
  const { system, tools, steps } = plainConversation(dialogue, sgd.schemas);
  const at = steps.findIndex(({ kind }) => kind === "call");
  const call = steps[at];
  if (call?.kind !== "call" || !isGuidable(steps, at)) return [];
  const { silent, stated } = bySpeech(steps, at, call);
  const users = userStated(steps.slice(0, at));
  return [
    {
      dialogueId: dialogue.id,
      service: call.service,
      messages: toMessages(system, steps.slice(0, at)),
      tools,
      call: { name: call.tool.name, arguments: callArguments(call.tool, call.values) },
      result: resultAfter(steps, at),
      silent,
      stated: stated.filter(({ slot }) => users.has(slot)),
    },
  ];
}

function userStated(steps: readonly Step[]): Set<string> {
  return new Set(
    steps.flatMap((step) =>
      step.kind === "user" ? step.acts.flatMap(([act, slot, values]) => (act === "INFORM" && values.length > 0 ? [slot] : [])) : [],
    ),
  );
}

function resultAfter(steps: readonly Step[], at: number): string {
  const result = steps[at + 1];
  return result?.kind === "result" ? result.content : '{"count": 0, "results": []}';
}
