/**
 * What the policy does with tools that somebody built for themselves, of trades that training has none of (`own-tools.jsonl`, written for this
 * project by somebody who had seen neither what training draws nor what the policy answers). `tuning` may be tuned on; `report` is what is reported.
 */
import { z } from "zod";
import { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { canonicalJson } from "../../shared/digest.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readJsonLines } from "../../trainer/pretrain/json-lines.ts";
import { ANSWER_TOKENS } from "./cases.ts";
import { argumentOf, beginsCall, type EvaluatedPolicy, parseCall, type ParsedCall } from "./policy.ts";
import { type Share, share } from "./share.ts";

const Call = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) });
/** `accept`: other values that are as good, by argument. */
const Case = z.union([
  z.strictObject({
    messages: z.array(ChatMessage),
    call: Call,
    accept: z.record(z.string(), z.array(z.unknown())).default({}),
  }),
  z.strictObject({ messages: z.array(ChatMessage), asks: z.literal(true) }),
  z.strictObject({ messages: z.array(ChatMessage), words: z.literal(true) }),
]);
type Case = z.infer<typeof Case>;
type CallCase = Extract<Case, { call: unknown }>;
export const OwnAgent = z.strictObject({
  agent: z.string(),
  split: z.enum(["tuning", "report"]),
  tools: z.array(ToolDefinition),
  cases: z.array(Case),
});
export const OWN_TOOLS = new URL("own-tools.jsonl", import.meta.url);

type Answered = { given: Case; text: string };

/**
 * By split. `callMade` and `rightTool` of calls that are due; `exact`: calls with that tool and those arguments, no more and no fewer; `arguments`: of
 * arguments that are due, those with their value; `asked`: answers in words where an argument is missing; `inWords`: where no call is due at all.
 */
export async function evaluateOwnTools(policy: EvaluatedPolicy, encode: Tokenizer["encodePrompt"]) {
  const agents = readJsonLines(OWN_TOOLS, OwnAgent);
  const cases = agents.flatMap(({ split, tools, cases: own }) => own.map((given) => ({ split, tools, given })));
  const prompts = cases.map(({ tools, given }) => encode({ messages: given.messages, tools, addGenerationPrompt: true }));
  const texts = await policy.answers("own tools", prompts, { maxTokens: ANSWER_TOKENS, tools: cases.map(({ tools }) => tools) });
  const answered = cases.map(({ split, given }, index) => ({ split, given, text: texts[index] ?? "" }));
  return {
    tuning: figuresOf(answered.filter(({ split }) => split === "tuning")),
    report: figuresOf(answered.filter(({ split }) => split === "report")),
  };
}

function figuresOf(answered: readonly Answered[]): Record<string, Share> {
  const due = answered.flatMap(({ given, text }) => ("call" in given ? [{ given, made: parseCall(text), text }] : []));
  const silent = (kind: "asks" | "words"): Share =>
    share(answered.filter(({ given }) => kind in given).map(({ text }) => !beginsCall(text)));
  return {
    callMade: share(due.map(({ text }) => beginsCall(text))),
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

function isExact(given: CallCase, made: ParsedCall | undefined): boolean {
  if (made?.name !== given.call.name || typeof made.arguments !== "object" || made.arguments === null) return false;
  const names = Object.keys(given.call.arguments);
  return Object.keys(made.arguments).length === names.length && names.every((name) => holds(given, name, argumentOf(made, name)));
}

function holds({ call, accept }: CallCase, name: string, value: unknown): boolean {
  return [call.arguments[name], ...(accept[name] ?? [])].some((right) => canonicalJson(right) === canonicalJson(value ?? null));
}
