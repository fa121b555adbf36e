/** What `pattern` and `format` say of a text together, as one automaton, within what a request's patterns may take. */
import { AppError } from "../../errors.ts";
import { Recent } from "../../recent.ts";
import { formatNamed } from "./formats.ts";
import { HeldText } from "./held-text.ts";
import { readPattern, refused } from "./pattern.ts";
import type { Node, Pattern } from "./pattern-node.ts";
import { automatonOf, type TextAutomaton } from "./text-automaton.ts";

// A step takes about half a microsecond where it finds a language that there is already, and several where it makes one.
const MOST_STEPS = 100_000; // for the patterns of one text
const MOST_STEPS_TOGETHER = 300_000; // for those of all schemas of a request

/** Steps that the patterns of a request have left, and what was made of them: the same again takes none. */
export class PatternBudget {
  readonly read = new Map<string, Pattern>();
  readonly automata = new Map<string, TextAutomaton>();
  #left = MOST_STEPS_TOGETHER;

  get left(): number {
    return this.#left;
  }

  /** @throws {input/unsupported} where `compile` spends more than is left; what it has spent is spent */
  spent<Value>(compile: (spend: (steps: number) => void) => Value): Value {
    const most = Math.min(MOST_STEPS, this.#left);
    let steps = 0;
    const spend = (more: number): void => {
      steps += more;
      if (steps > most) throw refused(tooMuch(most));
    };
    try {
      return compile(spend);
    } finally {
      this.#left -= Math.min(steps, most);
    }
  }
}

function tooMuch(most: number): string {
  return most < MOST_STEPS
    ? `patterns of all schemas together that take at most ${MOST_STEPS_TOGETHER} steps to compile expected, got more`
    : `patterns that take at most ${MOST_STEPS} steps to compile expected, got more`;
}

export type ReadPattern = { readonly source: string; readonly pattern: Pattern };

export type TextSources = {
  readonly patterns: readonly ReadPattern[];
  readonly formats: readonly string[];
  readonly minLength: number;
  readonly maxLength: number;
};

/** @throws {input/unsupported} saying what was expected of the pattern, and what it has */
export function patternOf(source: string, budget: PatternBudget): ReadPattern {
  const pattern = budget.read.get(source) ?? budget.spent((spend) => readPattern(source, spend));
  budget.read.set(source, pattern);
  return { source, pattern };
}

/** The texts that fit all. @throws {input/unsupported} saying what there is too much of */
export function textOf({ patterns, formats, minLength, maxLength }: TextSources, budget: PatternBudget): HeldText {
  const beside = patterns.length > 0;
  const sources = patterns.map(({ source }) => source);
  const all = [...patterns.map(({ pattern }) => pattern), ...formats.map((name) => formatPattern(name, beside))];
  const least = Math.max(minLength, ...all.map((each) => each.least));
  const most = Math.min(maxLength, ...all.map((each) => each.most));
  const key = JSON.stringify([sources, formats]);
  const nodes = all.flatMap((each) => each.nodes);
  return budget.spent((spend) => {
    const automaton = budget.automata.get(key) ?? compiled(key, nodes, spend);
    budget.automata.set(key, automaton);
    return new HeldText(automaton, { least, most }, spend);
  });
}

function formatPattern(name: string, beside: boolean): Pattern {
  const format = formatNamed(name);
  if (format === undefined) throw refused(`a format that is known expected, got ${name}`);
  const { pattern, besidePattern = pattern, mostCharacters = Infinity } = format;
  const read = readPattern(beside ? besidePattern : pattern, () => {});
  return { ...read, most: Math.min(read.most, mostCharacters) };
}

// Those of a request are asked for when it is checked, and again when its grammar is made.
const KEPT = 64;
const MOST_KEPT_CELLS = 50_000; // of two bytes each; what is larger is made again
const kept = new Recent<string, { readonly automaton: TextAutomaton; readonly steps: number }>(KEPT);

/** What it takes is spent whether it is kept or not: what a request is refused for is nobody else's doing. */
function compiled(key: string, nodes: readonly Node[], spend: (steps: number) => void): TextAutomaton {
  const known = kept.get(key);
  if (known !== undefined) {
    spend(known.steps);
    kept.set(key, known);
    return known.automaton;
  }
  let steps = 0;
  const automaton = automatonOf(nodes, (more) => {
    steps += more;
    spend(more);
  });
  if (automaton.next.length <= MOST_KEPT_CELLS) kept.set(key, { automaton, steps });
  return automaton;
}

/** What was refused, in words. */
export function whyRefused(error: unknown): string {
  if (error instanceof AppError && error.code === "input/unsupported") return error.message;
  throw error;
}
