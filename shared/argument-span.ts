/** Where in an answer's tokens one argument of a call stands. */
import type { Tokenizer } from "./tokenizer.ts";

const SEPARATOR = ", ";
const ARGUMENTS = '"arguments": {';

/**
 * Token range [from, to) of `"parameter": value`, with the separator before it: the first token of the range decides
 * whether the argument comes at all. Undefined where the call has no such argument. With a tool's name, of its last call in the answer: that is
 * the one that people speak of; without one, of the first call.
 */
export function argumentSpan(
  tokenizer: Tokenizer,
  answer: readonly number[],
  parameter: string,
  tool?: string,
): { from: number; to: number } | undefined {
  const ends = answer.map((_, index) => tokenizer.decode(answer.slice(0, index + 1)).length);
  const found = argumentText(tokenizer.decode(answer), parameter, tool);
  if (found === undefined) return undefined;
  const { start, end } = found;
  const from = ends.findIndex((reach) => reach > start - SEPARATOR.length);
  const to = ends.findIndex((reach) => reach >= end);
  return { from, to: to < 0 ? answer.length : to + 1 };
}

/**
 * Characters [start, end) of `"parameter": value` among the call's own arguments: neither the call's `"name"` nor a
 * key of that name deeper down.
 */
function argumentText(text: string, parameter: string, tool: string | undefined): { start: number; end: number } | undefined {
  const opening = tool === undefined ? ARGUMENTS : `"name": ${JSON.stringify(tool)}, ${ARGUMENTS}`;
  const opened = tool === undefined ? text.indexOf(opening) : text.lastIndexOf(opening);
  if (opened < 0) return undefined;
  const name = `${JSON.stringify(parameter)}: `;
  let depth = 1;
  let start: number | undefined;
  // A string is one step, so that what stands inside it is never taken for structure.
  const steps = /"(?:[^"\\]|\\.)*"|[{}[\],]/g;
  steps.lastIndex = opened + opening.length;
  for (let step = steps.exec(text); step !== null; step = steps.exec(text)) {
    const [piece] = step;
    if (start !== undefined && depth === 1 && (piece === "," || piece === "}")) return { start, end: step.index };
    if (piece === "{" || piece === "[") depth += 1;
    if (piece === "}" || piece === "]") depth -= 1;
    if (depth === 0) return undefined;
    if (depth === 1 && start === undefined && text.startsWith(name, step.index)) start = step.index;
  }
  return undefined;
}
