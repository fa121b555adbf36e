/**
 * When a note yields. A note is a default, so it is about what nobody has said: where the policy names the argument without
 * the note, and is sure of it, that is what somebody has said. A small policy that reads a note may read the user less well.
 */
import { argumentSpan } from "./argument-span.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** An answer as sampled; `logProbs` are natural, one for each token. */
export type WrittenAnswer = {
  readonly tokens: readonly number[];
  readonly logProbs: ArrayLike<number>;
  /** Its first call, or undefined where it makes none that can be read. */
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } | undefined;
};

/** The argument that a note is a default for, and what the policy had made up for it when it was corrected. */
export type DefaultFor = { readonly tool: string; readonly parameter: string; readonly corrected: string | null };

const MORE_LIKELY_THAN_NOT = Math.log(0.5); // each token of the argument, the one that begins it included

/**
 * Notes that what was said overrules: the policy, asked without notes, calls the same tool and fills the argument by itself, surely,
 * with another value than under the notes. The very value that the note corrects proves nothing: the policy had made it up.
 */
export function yieldingNotes<Note extends DefaultFor>(
  tokenizer: Tokenizer,
  notes: readonly Note[],
  { under, without }: { under: WrittenAnswer; without: WrittenAnswer },
): Note[] {
  return notes.filter(({ tool, parameter, corrected }) => {
    if (under.call?.name !== tool || without.call?.name !== tool) return false;
    const [used, own] = [under.call.arguments[parameter], without.call.arguments[parameter]];
    if (own === undefined || JSON.stringify(own) === JSON.stringify(used)) return false;
    return (typeof own === "string" ? own : JSON.stringify(own)) !== corrected && isSureOf(tokenizer, without, parameter);
  });
}

function isSureOf(tokenizer: Tokenizer, { tokens, logProbs }: WrittenAnswer, parameter: string): boolean {
  const span = argumentSpan(tokenizer, tokens, parameter);
  if (span === undefined) return false;
  for (let index = span.from; index < span.to; index += 1) if (!((logProbs[index] ?? Number.NaN) >= MORE_LIKELY_THAN_NOT)) return false;
  return true;
}
