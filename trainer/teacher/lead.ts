/**
 * Leads contexts to where the policy acts. Where it asks or confirms first, a user who agrees lets it go on, in its own
 * words, so that what is learned is learned in conversations as this policy really holds them.
 */
import type { ToolDefinition } from "../../shared/chat.ts";
import type { HeldForm } from "../../shared/grammar/answer-form.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { argumentText } from "../../shared/speech/calls.ts";
import { mentions, namesTopic, wasOffered } from "../../shared/speech/mention.ts";
import type { Random } from "../random.ts";
import { readAnswer } from "./answer-text.ts";
import type { Context, Correction } from "./contexts.ts";
import { sayAgreement } from "./phrases.ts";

/** A prompt, and the tools that its answer may call. */
export type Asked = {
  readonly prompt: readonly number[];
  readonly tools: readonly ToolDefinition[];
  /** What else the answer is held to; by itself it decides. */
  readonly form?: Partial<HeldForm> | undefined;
  /** What it will probably say, if anything: a whole answer that the tools' schemas let through. Where it is right it is read, which costs less than writing it. */
  readonly supposed?: readonly number[] | undefined;
};

/** Greedy answers of a policy, held to the tools' schemas as the edge holds them; end token included. */
export type AskPolicy = (asked: readonly Asked[]) => Promise<readonly (readonly number[])[]>;

/** A context with what the policy says there by itself. */
export type LedContext = { readonly context: Context; readonly answer: readonly number[] };

const MOST_AGREEMENTS = 2;

/**
 * In the order of `contexts`, which may have become longer; undefined where there is no room for an answer, or nothing
 * left to be silent about.
 */
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
    const answers = await ask(open.map(({ context }) => ({ prompt: prompt(context), tools: context.tools })));
    open = open.flatMap(({ context, index }, place) => {
      const answer = answers[place] ?? [];
      const read = readAnswer(tokenizer, answer);
      const said = context.messages.slice(contexts[index]?.messages.length);
      led[index] = context.kind === "silent" && wasSettled(said, correction, read) ? undefined : { context, answer };
      const further = agreements < MOST_AGREEMENTS ? agreed(context, { correction, answer: read, random }) : undefined;
      return further === undefined || !fits(prompt(further).length) ? [] : [{ context: further, index }];
    });
  }
  return led;
}

/** Whether the policy has named, while it was led, the value that it then uses for the corrected argument: a user who agreed was not silent. */
function wasSettled(said: Context["messages"], { tool, parameter }: Correction, { calls }: ReturnType<typeof readAnswer>): boolean {
  const call = calls.find(({ name }) => name === tool.function.name);
  const used = call?.arguments[parameter.name];
  if (call === undefined || used === undefined) return false;
  return wasOffered(said, { parameter, value: argumentText(used), args: call.arguments });
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
