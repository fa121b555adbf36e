/** Answers being written, and which of them are written at once. */
import { at } from "../../shared/assert.ts";
import type { Constraint } from "../../shared/grammar/constraint.ts";
import type { Random } from "../random.ts";
import { roundUp } from "./batch.ts";

// Rounding sizes up keeps the number of compiled graphs small.
const PROMPT_ROUND = 64;
const MAX_ROWS = 32;

/** An answer being written. */
export type Row = {
  readonly index: number;
  readonly prompt: Int32Array;
  readonly random: Random;
  readonly tokens: number[];
  readonly logProbs: number[];
  readonly constraint: Constraint | undefined;
  finished: boolean;
};
/** Answers that are written at once, and what their prompts are padded to. */
export type Group = { readonly rows: readonly Row[]; readonly length: number };

type Limits = { readonly mostTokens: number; readonly lanes: number };

/** Takes from the front of `sorted` the batches whose prompts are read before the first answer is begun: rounds of them until `mostRead` tokens are reached. */
export function takeGroups(sorted: Row[], { mostRead, ...limits }: Limits & { readonly mostRead: number }): Group[] {
  const groups: Group[] = [];
  let read = 0;
  while (sorted.length > 0 && (groups.length === 0 || read < mostRead)) {
    const round = takeRound(sorted, limits);
    read += round.reduce((sum, { rows, length }) => sum + rows.length * length, 0);
    groups.push(...round);
  }
  return groups;
}

/** Dealt out to as many batches as there are lanes, each of at most `mostTokens`, but one row at least. */
function takeRound(sorted: Row[], { mostTokens, lanes }: Limits): Group[] {
  const groups = Array.from({ length: lanes }, (): { rows: Row[]; length: number } => ({ rows: [], length: 0 }));
  let taken = 0;
  for (const row of sorted) {
    const group = at(groups, taken % lanes);
    const length = roundUp(row.prompt.length, PROMPT_ROUND);
    const count = group.rows.length + 1;
    if (count > MAX_ROWS || (count > 1 && powerOfTwo(count) * length > mostTokens)) break;
    group.rows.push(row);
    group.length = length;
    taken += 1;
  }
  sorted.splice(0, taken);
  return groups.filter(({ rows }) => rows.length > 0);
}

function powerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

/** Rows of the compiled graph: the power of two that holds them. */
export function bucketRows(rows: readonly Row[]): number {
  return powerOfTwo(rows.length);
}
