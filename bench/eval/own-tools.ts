/**
 * What the policy does with tools that somebody built for themselves, of trades that training has none of (`own-tools.jsonl`), and of everyday ones, which
 * are asked for in other words than the tool's (`everyday.jsonl`). Both were written for this project by people who had seen neither what training draws
 * nor what the policy answers.
 */
import { z } from "zod";
import { ChatMessage } from "../../shared/chat.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { type Answered, answersOf, DUE_CALL, holds, isExact, ownAgentOf } from "./own-agents.ts";
import { argumentOf, beginsCall, declines, type EvaluatedPolicy, parseCall } from "./policy.ts";
import { type Share, share } from "./share.ts";

const Case = z.union([
  z.strictObject({ messages: z.array(ChatMessage), ...DUE_CALL }),
  z.strictObject({ messages: z.array(ChatMessage), asks: z.literal(true) }),
  z.strictObject({ messages: z.array(ChatMessage), words: z.literal(true) }),
]);
type Case = z.infer<typeof Case>;
export const OwnAgent = ownAgentOf(Case);
export const OWN_TOOLS = new URL("own-tools.jsonl", import.meta.url);
export const EVERYDAY = new URL("everyday.jsonl", import.meta.url);

/**
 * By split. `callMade` and `rightTool` of calls that are due; `declined`: of those, told that they cannot be helped with; `exact`: calls with that tool and
 * those arguments, no more and no fewer; `arguments`: of arguments that are due, those with their value; `asked`: answers in words where an argument is
 * missing; `inWords`: where no call is due at all.
 */
export async function evaluateOwnTools(
  policy: EvaluatedPolicy,
  encode: Tokenizer["encodePrompt"],
  { file, label }: { file: URL; label: string },
) {
  const agents = readJsonLines(file, OwnAgent);
  const { tuning, report } = await answersOf(agents, ({ messages }) => messages, { policy, encode, label });
  return { tuning: figuresOf(tuning), report: figuresOf(report) };
}

function figuresOf(answered: readonly Answered<Case>[]): Record<string, Share> {
  const due = answered.flatMap(({ given, text }) => ("call" in given ? [{ given, made: parseCall(text), text }] : []));
  const silent = (kind: "asks" | "words"): Share =>
    share(answered.filter(({ given }) => kind in given).map(({ text }) => !beginsCall(text)));
  return {
    callMade: share(due.map(({ text }) => beginsCall(text))),
    declined: share(due.map(({ text }) => declines(text))),
    rightTool: share(due.map(({ given, made }) => made?.name === given.call.name)),
    exact: share(due.map(({ given, made }) => isExact(given, made))),
    arguments: share(
      due.flatMap(({ given, made }) =>
        Object.keys(given.call.arguments).map((name) => made?.name === given.call.name && holds(given, name, argumentOf(made, name))),
      ),
    ),
    asked: silent("asks"),
    inWords: silent("words"),
  };
}
