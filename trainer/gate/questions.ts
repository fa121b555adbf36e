/** Questions that a gate puts to policies, and their greedy answers, read. */
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import { askGreedily } from "../learn/update/candidate.ts";
import type { Base } from "../policy/base.ts";
import { readAnswer, writtenText } from "../teacher/answer-text.ts";
import type { Asked } from "../teacher/lead.ts";
import type { Answered } from "./checks.ts";
import type { Probe } from "./probes.ts";

export type Question = Pick<Probe, "messages" | "tools"> & Pick<Asked, "supposed">;

type Asking = { readonly engine: Pick<EngineCalls, "generate" | "score">; readonly base: Pick<Base, "tokenizer"> };
export type HowAsked = {
  readonly adapter: string | undefined;
  readonly maxTokens: number;
  /** Without a grammar. */
  readonly free?: boolean;
  /** Questions in a call of the engine. Absent: all. */
  readonly atOnce?: number;
};

export async function answersTo(
  { engine, base }: Asking,
  asked: readonly Question[],
  { atOnce = asked.length, ...how }: HowAsked,
): Promise<Answered[]> {
  const ask = askGreedily(engine, { ...how, endIds: base.tokenizer.endIds, seed: 0 });
  const answers: (readonly number[])[] = [];
  for (let start = 0; start < asked.length; start += atOnce)
    answers.push(...(await ask(asked.slice(start, start + atOnce).map((question) => ({ ...question, prompt: promptOf(base, question) })))));
  return answers.map((tokens) => read(base.tokenizer, tokens));
}

/** Each with the answer that another policy has given to it, which is read where it is the likeliest one and not written anew. */
export function supposing<Q extends Question>(asked: readonly Q[], said: readonly Answered[] | undefined): Q[] {
  return asked.map((question, index) => ({ ...question, supposed: said?.[index]?.tokens }));
}

export function promptOf({ tokenizer }: Pick<Base, "tokenizer">, { messages, tools }: Pick<Question, "messages" | "tools">): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}

function read(tokenizer: Tokenizer, tokens: readonly number[]): Answered {
  return { ...readAnswer(tokenizer, tokens), tokens, shown: writtenText(tokenizer, tokens) };
}
