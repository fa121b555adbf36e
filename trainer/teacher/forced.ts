/**
 * The forced teacher: the policy's own answer with one argument of its call held to a given value, as a decoding mask
 * would hold it. A grounded hint names tool, argument and value, so where a small base does not follow it in words, it
 * can still be followed to the letter; the other arguments stay the policy's own.
 */
import type { ToolDefinition } from "../../shared/chat.ts";
import { respaceJson, spacedJson } from "../../shared/spaced-json.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { findParameter, readParameters, typedValue } from "../../shared/speech/parameters.ts";
import { readAnswer } from "./answer-text.ts";
import { argumentSpan } from "../../shared/argument-span.ts";

export type ForcedArgument = {
  readonly tool: ToolDefinition;
  readonly parameter: string;
  readonly value: string;
  /** Whether the call begins with it, before the other arguments as the policy has them; else all stand where the schema lists them. */
  readonly first?: boolean;
};

const CERTAINTY = 0.999; // of a forced token; the rest is spread over the vocabulary so that every log-prob stays finite

/** The answer's tokens with the argument held; undefined unless the answer is one call of the tool whose values stay as they are written, and the value is of the argument's type. */
export function forceArgument(
  tokenizer: Tokenizer,
  answer: readonly number[],
  { tool, parameter, value, first = false }: ForcedArgument,
): number[] | undefined {
  const { calls, finished, valid } = readAnswer(tokenizer, answer);
  const [call] = calls;
  if (!finished || !valid || calls.length !== 1 || call?.name !== tool.function.name) return undefined;
  const [open, close] = [tokenizer.specialIds.get("<tool_call>"), tokenizer.specialIds.get("</tool_call>")];
  if (open === undefined || close === undefined) return undefined;
  const declared = findParameter(tool, parameter);
  const held = declared === undefined ? undefined : typedValue(declared, value);
  if (held === undefined) return undefined;
  // Numbers that a double does not hold, or that are written otherwise than it is, would come out as others.
  const written = tokenizer.decode(answer.slice(answer.indexOf(open) + 1, answer.indexOf(close))).trim();
  if (respaceJson(written) !== spacedJson({ name: call.name, arguments: call.arguments })) return undefined;
  const { [parameter]: _, ...others } = call.arguments;
  const given = first ? { [parameter]: held, ...others } : inSchemaOrder(tool, { ...others, [parameter]: held });
  const body = spacedJson({ name: call.name, arguments: given });
  return [open, ...tokenizer.encode(body), close, tokenizer.eosId];
}

/**
 * The policy's distributions [n·V] with certainty at the tokens of the forced argument, if one was forced, and at every other of the answer
 * that it would not write there. Beyond the argument the answer is what the policy says by itself; with that argument before it, or a note, it
 * says something else, and a student that followed it there would lose the defaults that it had learned before (bench:retain).
 */
export function forceLogProbs(
  tokenizer: Tokenizer,
  { full, argmax }: { /** [n·V] */ readonly full: Float32Array; /** [n] */ readonly argmax: ArrayLike<number> },
  { answer, parameter, vocabSize }: { answer: readonly number[]; parameter: string; vocabSize: number },
): Float32Array {
  const forced = full.slice();
  const span = argumentSpan(tokenizer, answer, parameter);
  const rest = Math.log((1 - CERTAINTY) / (vocabSize - 1));
  answer.forEach((token, index) => {
    const inside = span !== undefined && index >= span.from && index < span.to;
    if (!inside && argmax[index] === token) return;
    const start = index * vocabSize;
    forced.fill(rest, start, start + vocabSize);
    forced[start + token] = Math.log(CERTAINTY);
  });
  return forced;
}

/** Arguments as the tool lists them, which is how a policy without guidance writes them. */
function inSchemaOrder(tool: ToolDefinition, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const declared = readParameters(tool).map(({ name }) => name);
  const names = [...declared.filter((name) => name in given), ...Object.keys(given).filter((name) => !declared.includes(name))];
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}
