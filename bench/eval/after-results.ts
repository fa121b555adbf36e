/**
 * What the policy does with the message after a tool's result and its reply, which may ask for nothing (`after-results.jsonl`, of tools that somebody
 * built for themselves, written for this project by somebody who had seen neither what training draws nor what the policy answers).
 */
import { z } from "zod";
import type { ChatMessage } from "../../shared/chat.ts";
import { escapeRegExp } from "../../shared/regexp.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { type Answered, answersOf, DUE_CALL, isExact, OwnCall, ownAgentOf } from "./own-agents.ts";
import { beginsCall, type EvaluatedPolicy, parseCall } from "./policy.ts";
import { type Share, share } from "./share.ts";

const BEFORE = { request: z.string(), made: OwnCall, result: z.string(), reply: z.string(), next: z.string() };
const Case = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.enum(["approval", "remark", "unanswerable"]), ...BEFORE, words: z.literal(true) }),
  /** `tells`: of which a right reply has one. */
  z.strictObject({ kind: z.literal("answerable"), ...BEFORE, words: z.literal(true), tells: z.array(z.string().min(1)).min(1) }),
  z.strictObject({ kind: z.enum(["next", "correction"]), ...BEFORE, ...DUE_CALL }),
]);
type Case = z.infer<typeof Case>;
export const AfterResultsAgent = ownAgentOf(Case);
export const AFTER_RESULTS = new URL("after-results.jsonl", import.meta.url);

/**
 * By split, with corrections put right as the edge does. `inWords`: answers without a call where none is due, and of each kind of message; `told`: replies to a question about the result or the
 * call that hold what was asked; `exact`: calls that are due, made with that tool and those arguments, and of each kind.
 */
export async function evaluateAfterResults(policy: EvaluatedPolicy, encode: Tokenizer["encodePrompt"]) {
  const agents = readJsonLines(AFTER_RESULTS, AfterResultsAgent);
  const { tuning, report } = await answersOf(agents, messagesOf, { policy, encode, label: "after results", corrects: true });
  return { tuning: figuresOf(tuning), report: figuresOf(report) };
}

function figuresOf(answered: readonly Answered<Case>[]) {
  const outcomes = answered.map(({ given, text }) => ({
    given,
    text,
    right: "call" in given ? isExact(given, parseCall(text)) : !beginsCall(text),
  }));
  const rightOf = (...kinds: readonly Case["kind"][]): Share =>
    share(outcomes.filter(({ given }) => kinds.includes(given.kind)).map(({ right }) => right));
  return {
    inWords: rightOf("approval", "remark", "answerable", "unanswerable"),
    approval: rightOf("approval"),
    remark: rightOf("remark"),
    answerable: rightOf("answerable"),
    unanswerable: rightOf("unanswerable"),
    told: share(
      outcomes.flatMap(({ given, text, right }) => ("tells" in given ? [right && given.tells.some((value) => says(text, value))] : [])),
    ),
    exact: rightOf("next", "correction"),
    next: rightOf("next"),
    correction: rightOf("correction"),
  };
}

/** Whether a text has a value as a whole: 30 is in "30cm" and in neither "300" nor "2.30". */
export function says(text: string, value: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}]|\\p{N}[.,])${escapeRegExp(value)}(?!\\p{N}|[.,]\\p{N})`, "iu").test(text);
}

function messagesOf({ request, made, result, reply, next }: Case): ChatMessage[] {
  const call = { id: "call_1", type: "function" as const, function: { name: made.name, arguments: spacedJson(made.arguments) } };
  return [
    { role: "user", content: request },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", content: result, tool_call_id: call.id },
    { role: "assistant", content: reply },
    { role: "user", content: next },
  ];
}
