/** Rules of a schema's strings and numbers: bounds, patterns, formats and multiples together. */
import { commonStep, isStep, rangeWithin, type Step, stepOf } from "./number-range.ts";
import type { Rule } from "./rule.ts";
import type { Schema } from "./schema-parts.ts";
import { FORMAT_NAMES, formatNamed, isLabel } from "./text/formats.ts";
import { type PatternBudget, patternOf, type ReadPattern, textOf, whyRefused } from "./text/string-language.ts";

/** Told of a keyword that is not enforced, and why. */
export type Tell = (keyword: string, why: string) => void;

/** A part of a schema may have brought in a second pattern, format or multiple: all of them are held to. */
export function stringRule(schema: Schema, { budget, tell }: { readonly budget: PatternBudget; readonly tell: Tell }): Rule {
  const [minLength, maxLength] = [numberOf(schema["minLength"], 0), numberOf(schema["maxLength"], Infinity)];
  const plain: Rule = { kind: "string", minLength, maxLength };
  const written = textsOf(schema["pattern"]);
  const formats = textsOf(schema["format"]).filter((name) => {
    const isHeld = formatNamed(name) !== undefined;
    // A library's own name for a pattern, such as `starts_with`, says no more than the pattern.
    if (!isHeld && !(written.length > 0 && isLabel(name))) tell("format", `one of ${FORMAT_NAMES.join(", ")} expected, got ${name}`);
    return isHeld;
  });
  const patterns = written.flatMap((source) => readOf(source, { budget, tell }));
  if (patterns.length === 0 && formats.length === 0) return plain;
  try {
    return { kind: "text", text: textOf({ patterns, formats, minLength, maxLength }, budget) };
  } catch (error) {
    tell(patterns.length > 0 ? "pattern" : "format", whyRefused(error));
    return plain;
  }
}

/** None where it cannot be held to. */
function readOf(source: string, { budget, tell }: { readonly budget: PatternBudget; readonly tell: Tell }): readonly ReadPattern[] {
  try {
    return [patternOf(source, budget)];
  } catch (error) {
    tell("pattern", whyRefused(error));
    return [];
  }
}

export function numberRule(schema: Schema, integer: boolean, tell: Tell): Rule {
  const { type, format, exclusiveMinimum, exclusiveMaximum } = schema;
  // Where texts are meant, too, it is told of with them.
  const isOfNumbers = type !== undefined && ![type].flat().includes("string");
  for (const name of isOfNumbers ? textsOf(format) : [])
    if (formatNamed(name) === undefined) tell("format", `no format of numbers expected, got ${name}`);
  const [min, max] = [numberOf(schema["minimum"], -Infinity), numberOf(schema["maximum"], Infinity)];
  const [above, under] = [numberOf(exclusiveMinimum, -Infinity), numberOf(exclusiveMaximum, Infinity)];
  // In draft 4 and OpenAPI 3.0 the exclusive ones are flags on the others.
  const bounds = {
    min: Math.max(min, above),
    minOpen: exclusiveMinimum === true || above >= min,
    max: Math.min(max, under),
    maxOpen: exclusiveMaximum === true || under <= max,
    step: stepsOf(schema["multipleOf"], tell),
  };
  return { kind: "number", integer, range: rangeWithin({ integer, ...bounds }) };
}

function stepsOf(multipleOf: unknown, tell: Tell): Step | undefined {
  const steps = [multipleOf].flat().filter((each) => typeof each === "number");
  return steps.reduce((met: Step | undefined, value) => {
    const step = stepOf(value);
    const both = step && met ? commonStep(met, step) : step;
    if (both !== undefined && isStep(both)) return both;
    tell("multipleOf", `a decimal of at most 12 digits that is 1e-15 or more expected, got ${steps.join(" and ")}`);
    return met;
  }, undefined);
}

function textsOf(value: unknown): readonly string[] {
  return [value].flat().filter((each) => typeof each === "string");
}

export function numberOf(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
