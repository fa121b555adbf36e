/**
 * Requests made up for defaults that were learned before, which the parent answers as it does: an update that teaches one default must not turn
 * another over. Numbers are the most in danger: of a policy that learned "3 travelers" some asked for three rooms, where it had learned two.
 */
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import type { Parameter } from "../../../shared/speech/parameters.ts";
import { at } from "../../../shared/assert.ts";
import { Random, seedAt } from "../../random.ts";
import { type Context, type ContextCounts, type Correction, silentContext } from "../../teacher/contexts.ts";

/** A default of before, with what its contexts are made of. */
export type Rehearsal = {
  readonly tool: ToolDefinition;
  readonly parameter: Parameter;
  /** Every tool of the agent, and what its conversations begin with. */
  readonly tools: readonly ToolDefinition[];
  readonly system: readonly ChatMessage[];
};

const CONTEXTS_EACH = 2; // at most: the agent's other tools are not to be left out for one default
const DRAWN = 4_001; // apart from every seed that contexts are drawn with

/** Contexts that must stay as they are, `count` at most; defaults of arguments of the corrected one's kind first. */
function rehearsalContexts(
  rehearsed: readonly Rehearsal[],
  { correction, count, seed }: { correction: Pick<Correction, "tool" | "parameter">; count: number; seed: number },
): Context[] {
  const random = new Random(seed);
  // What the corrected tool is called with besides is in every lesson.
  const others = rehearsed.filter(({ tool }) => tool.function.name !== correction.tool.function.name);
  const isAlike = ({ parameter }: Rehearsal): number => Number(parameter.kind === correction.parameter.kind);
  const chosen = random.shuffled(others).toSorted((a, b) => isAlike(b) - isAlike(a));
  if (chosen.length === 0) return [];
  return Array.from({ length: Math.min(count, CONTEXTS_EACH * chosen.length) }, (_, index): Context => {
    const { tool, parameter, tools, system } = at(chosen, index % chosen.length);
    const hint = { parameter: parameter.name, value: "" };
    return { ...silentContext({ correction: { tool, parameter, hint }, tools, system }, random), kind: "other" };
  });
}

/** Those that are trained on and those that are only looked at. */
export function bothRehearsals(
  rehearsed: readonly Rehearsal[] | undefined,
  { correction, count, seed }: { correction: Pick<Correction, "tool" | "parameter">; count: number; seed: number },
): { training: Context[]; heldBack: Context[] } {
  const draw = (part: number, share: number): Context[] =>
    rehearsalContexts(rehearsed ?? [], { correction, count: Math.floor(share * count), seed: seedAt(seed, DRAWN + part) });
  return { training: draw(0, 1), heldBack: draw(1, 0.5) };
}

/** How many contexts of each kind are made beside them: they take the place of the agent's other tools. */
export function beside(rehearsals: readonly Context[], counts: ContextCounts): ContextCounts {
  return { ...counts, other: Math.max(0, counts.other - rehearsals.length) };
}
