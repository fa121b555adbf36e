/** Agents that somebody built for themselves, one a line: their tools, and cases in which they speak next. `tuning` may be tuned on; `report` is what is reported. */
import { z } from "zod";
import { type ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import { canonicalJson } from "../../shared/digest.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { ANSWER_TOKENS } from "./cases.ts";
import { argumentOf, type EvaluatedPolicy, type ParsedCall } from "./policy.ts";

export const OwnCall = z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) });
/** What a case has in which a call is due. `accept`: other values that are as good, by argument. */
export const DUE_CALL = { call: OwnCall, accept: z.record(z.string(), z.array(z.unknown())).default({}) };
type DueCall = z.infer<z.ZodObject<typeof DUE_CALL>>;

export function ownAgentOf<Case extends z.ZodType>(each: Case) {
  return z.strictObject({ agent: z.string(), split: z.enum(["tuning", "report"]), tools: z.array(ToolDefinition), cases: z.array(each) });
}
type OwnAgent<Case> = { split: "tuning" | "report"; tools: ToolDefinition[]; cases: Case[] };

export type Answered<Case> = { given: Case; text: string };

type Asking = { policy: EvaluatedPolicy; encode: Tokenizer["encodePrompt"]; label: string };

/**
 * The greedy answer to each case, by split, with calls held to the schemas of the agent's tools.
 * @param asking.corrects whether what the edge hears of corrections is put right in them, as it is when they are served
 */
export async function answersOf<Case>(
  agents: readonly OwnAgent<Case>[],
  messagesOf: (given: Case) => ChatMessage[],
  { policy, encode, label, corrects = false }: Asking & { corrects?: boolean },
): Promise<Record<"tuning" | "report", Answered<Case>[]>> {
  const cases = agents.flatMap(({ split, tools, cases: own }) =>
    own.map((given) => ({ split, given, heard: { messages: messagesOf(given), tools } })),
  );
  const asked = cases.map(({ heard }) => ({ heard, prompt: encode({ ...heard, addGenerationPrompt: true }) }));
  const texts = corrects
    ? (await policy.answersToCorrections(label, asked, ANSWER_TOKENS)).served
    : await policy.answers(
        label,
        asked.map(({ prompt }) => prompt),
        { maxTokens: ANSWER_TOKENS, tools: cases.map(({ heard }) => heard.tools) },
      );
  const answered = cases.map(({ split, given }, index) => ({ split, given, text: texts[index] ?? "" }));
  return {
    tuning: answered.filter(({ split }) => split === "tuning"),
    report: answered.filter(({ split }) => split === "report"),
  };
}

/** Whether a call is the one that is due: that tool and those arguments, no more and no fewer. */
export function isExact(due: DueCall, made: ParsedCall | undefined): boolean {
  if (made?.name !== due.call.name || typeof made.arguments !== "object" || made.arguments === null) return false;
  const names = Object.keys(due.call.arguments);
  return Object.keys(made.arguments).length === names.length && names.every((name) => holds(due, name, argumentOf(made, name)));
}

/** Whether a value of an argument is the one that is due, or as good. */
export function holds({ call, accept }: DueCall, name: string, value: unknown): boolean {
  return [call.arguments[name], ...(accept[name] ?? [])].some((right) => canonicalJson(right) === canonicalJson(value ?? null));
}
