/** The masks under which an answer was sampled, made again from what the log keeps of its turn. */
import type { ToolDefinition } from "../chat.ts";
import type { HeldForm } from "./answer-form.ts";
import type { AnswerGrammars } from "./answer-grammars.ts";
import type { TokenMask } from "./token-grammar.ts";

/**
 * One for each token; undefined where every token was free. None at all where a token is not let through where it stands: the
 * masks of then were others.
 */
export function answerMasks(
  grammars: AnswerGrammars,
  { tools, form, tokens }: { tools: readonly ToolDefinition[]; form: HeldForm; tokens: readonly number[] },
): (TokenMask | undefined)[] | undefined {
  const constraint = grammars.constraint(tools, form);
  const masks: (TokenMask | undefined)[] = [];
  for (const token of tokens) {
    const mask = constraint.mask();
    if (mask !== undefined && mask.ids.includes(token) !== (mask.kind === "allow")) return undefined;
    constraint.accept(token);
    masks.push(mask);
  }
  return masks;
}
