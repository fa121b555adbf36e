/** Tool calls as the chat template writes them between its markers: `{"name": …, "arguments": {…}}`. */
import type { ToolDefinition } from "../chat.ts";
import { either, literals, type Rule } from "./rule.ts";
import { compileSchema, type SchemaOptions } from "./schema.ts";
import { PatternBudget } from "./text/string-language.ts";

/** The rule of a call of any of the tools. */
export function callRule(tools: readonly ToolDefinition[]): Rule {
  const patterns = new PatternBudget();
  return either(
    tools.map((tool) => ({
      kind: "sequence",
      parts: [
        literals([`{"name": ${JSON.stringify(tool.function.name)}, "arguments": `]),
        argumentsRule(tool, { path: "", patterns }),
        literals(["}"]),
      ],
    })),
  );
}

/** The rule of a tool's arguments; a tool without a schema takes none. */
export function argumentsRule({ function: { parameters } }: ToolDefinition, options: SchemaOptions): Rule {
  // The empty schema says nothing but that there are arguments.
  return parameters === undefined ? literals(["{}"]) : compileSchema({ type: "object", ...parameters }, options);
}
