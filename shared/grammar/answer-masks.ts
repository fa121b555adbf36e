/** The masks under which an answer was sampled, made again from what the log keeps of its turn. */
import type { ToolDefinition } from "../chat.ts";
import type { AnswerForm } from "./answer-form.ts";
import type { AnswerGrammars } from "./answer-grammars.ts";
import type { TokenMask } from "./token-grammar.ts";

/**
 * One for each token; undefined where every token was free.
 * @throws {internal} for a token that the form does not allow where it stands: another compiler made the masks of then
 */
export function answerMasks(
  grammars: AnswerGrammars,
  { tools, form, tokens }: { tools: readonly ToolDefinition[]; form: AnswerForm; tokens: readonly number[] },
): (TokenMask | undefined)[] {
  const constraint = grammars.constraint(tools, form);
  return tokens.map((token) => {
    const mask = constraint.mask();
    constraint.accept(token);
    return mask;
  });
}
