/** Whether any version could pass a case that somebody has written: one that none can would count as failed for ever. */
import type { ToolDefinition } from "../../shared/chat.ts";
import { isRecord } from "../../shared/grammar/schema-parts.ts";
import { spacedJson } from "../../shared/spaced-json.ts";
import { checkArguments, checkValue } from "../../shared/schema-check.ts";
import { argumentText, sameText } from "../../shared/speech/calls.ts";
import type { Expectation } from "../../shared/suite.ts";
import { invalid } from "../openai/refuse.ts";

const MOST_TEXTS = 20;
const MOST_TEXT = 4_000; // characters, as of any words of feedback
const MOST_ARGUMENTS = 16_384; // characters of JSON, as of the calls of a supplied answer

/** @throws {input/invalid} naming what no call can have, or what is too long for anybody to say */
export function checkExpectation(expect: Expectation, tools: readonly ToolDefinition[]): void {
  checkLength(expect);
  if (!("tool" in expect)) return;
  const tool = tools.find(({ function: { name } }) => name === expect.tool);
  if (tool === undefined) throw invalid("expect.tool", `the name of one of the tools expected, got ${expect.tool}`);
  for (const [name, wanted] of Object.entries(expect.arguments)) {
    const problem = problemOf(tool, name, wanted);
    if (problem !== undefined)
      throw invalid(`expect.arguments.${name}`, `a value that ${expect.tool} can be called with expected: ${problem}`);
  }
}

function checkLength(expect: Expectation): void {
  if ("tool" in expect) {
    const { length } = JSON.stringify(expect.arguments);
    if (length > MOST_ARGUMENTS) throw invalid("expect.arguments", `at most ${MOST_ARGUMENTS} characters of JSON expected, got ${length}`);
    return;
  }
  const { contains } = expect.reply;
  if (contains.length > MOST_TEXTS) throw invalid("expect.reply.contains", `at most ${MOST_TEXTS} texts expected, got ${contains.length}`);
  contains.forEach(({ length }, index) => {
    if (length > MOST_TEXT) throw invalid(`expect.reply.contains.${index}`, `at most ${MOST_TEXT} characters expected, got ${length}`);
  });
}

/** What an answer has to hold at least, at its longest. */
export function longestOf(expect: Expectation): string {
  if ("tool" in expect) return spacedJson(expect.arguments);
  return expect.reply.contains.reduce((longest, each) => (each.length > longest.length ? each : longest), "");
}

/** Why no call has the argument so; undefined where one may. */
function problemOf(tool: ToolDefinition, name: string, wanted: unknown): string | undefined {
  const properties = tool.function.parameters?.["properties"];
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (schema === undefined) {
    const missing = checkArguments(tool, {}); // what else a call needs is no fault of this argument
    return checkArguments(tool, { [name]: wanted }).find((problem) => !missing.includes(problem));
  }
  const problems = sayingThis(wanted, schema).map((value) => checkValue(schema, value, name));
  return problems.some((each) => each.length === 0) ? undefined : problems[0]?.[0];
}

/** The gate compares arguments as text: what reads like the value that is wanted is that value. */
function sayingThis(wanted: unknown, schema: unknown): unknown[] {
  const text = argumentText(wanted);
  const named = [...valuesNamed(schema), text, parsed(text)].filter((value) => value !== undefined && sameText(argumentText(value), text));
  return [wanted, ...named];
}

/** What the schema names as values, in its alternatives, too, as far as they are checked. */
function valuesNamed(schema: unknown): unknown[] {
  if (!isRecord(schema)) return [];
  const listed = [schema["enum"], schema["const"]].flat();
  return [...listed, ...[schema["anyOf"]].flat().flatMap(valuesNamed)];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.toLowerCase()); // True and False are written so, too
  } catch {
    return undefined; // a text that is no JSON is only itself
  }
}
