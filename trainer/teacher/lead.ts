/**
 * Leads contexts to where the policy acts. Where it asks or confirms first, a user who agrees lets it go on, in its own
 * words, so that what is learnt is learnt in conversations as this policy really holds them.
 */
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { mentions, namesTopic } from "../data/mention.ts";
import type { Random } from "../random.ts";
import { readAnswer } from "./answer-text.ts";
import type { Context, Correction } from "./contexts.ts";
import { sayAgreement } from "./phrases.ts";

/** Greedy answers of a policy to prompts, end token included. */
export type AskPolicy = (prompts: readonly (readonly number[])[]) => Promise<readonly (readonly number[])[]>;

/** A context with what the policy says there by itself. */
export type LedContext = { readonly context: Context; readonly answer: readonly number[] };

const MOST_AGREEMENTS = 2;

/** In the order of `contexts`, which may have become longer; undefined where there is no room for an answer. */
export async function leadToCalls(
  contexts: readonly Context[],
  {
    correction,
    tokenizer,
    ask,
    fits,
    random,
  }: { correction: Correction; tokenizer: Tokenizer; ask: AskPolicy; fits: (promptTokens: number) => boolean; random: Random },
): Promise<(LedContext | undefined)[]> {
  const led: (LedContext | undefined)[] = contexts.map(() => undefined);
  const prompt = ({ messages, tools }: Context): number[] => tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
  let open = contexts.map((context, index) => ({ context, index })).filter(({ context }) => fits(prompt(context).length));
  for (let agreements = 0; open.length > 0; agreements += 1) {
    const answers = await ask(open.map(({ context }) => prompt(context)));
    open = open.flatMap(({ context, index }, place) => {
      const answer = answers[place] ?? [];
      led[index] = { context, answer };
      const further =
        agreements < MOST_AGREEMENTS ? agreed(context, { correction, answer: readAnswer(tokenizer, answer), random }) : undefined;
      return further === undefined || !fits(prompt(further).length) ? [] : [{ context: further, index }];
    });
  }
  return led;
}

/** The context after the user has agreed; undefined where there is nothing to agree to, or where it would settle the corrected argument. */
function agreed(
  context: Context,
  { correction: { parameter }, answer, random }: { correction: Correction; answer: ReturnType<typeof readAnswer>; random: Random },
): Context | undefined {
  const { kind, messages, stated } = context;
  if ((kind !== "silent" && kind !== "stated") || !answer.finished || answer.calls.length > 0 || answer.text.trim() === "")
    return undefined;
  const told = stated !== undefined && mentions(answer.text, { parameter, value: stated });
  if (namesTopic(answer.text, parameter) && !told) return undefined;
  return {
    ...context,
    messages: [...messages, { role: "assistant", content: answer.text }, { role: "user", content: sayAgreement(random) }],
  };
}
