/** Which schemas of tools are refused at the request, so that no answer fails half-way for them. */
import { describe, expect, it } from "vitest";
import { checkTools } from "../../../edge/openai/tools.ts";
import type { ToolDefinition } from "../../../shared/chat.ts";

const tool = (properties: object, name = "Book"): ToolDefinition => ({
  type: "function",
  function: { name, parameters: { type: "object", properties } },
});

describe("checkTools", () => {
  it("refuses more alternatives at one place than are followed", () => {
    const anyOf = (count: number): object => ({
      anyOf: Array.from({ length: count }, (_, index) => ({ type: "object", properties: { [`a${index}`]: {} } })),
    });
    expect(() => checkTools([tool({ list: { type: "array", items: anyOf(300) } })])).not.toThrow();
    expect(() => checkTools([tool({ list: { type: "array", items: anyOf(301) } })])).toThrow(
      "tools.0.function.parameters: at most 300 alternatives at one place expected, got 301",
    );
  });

  it("takes tuples as draft 7 writes them, and looks at their places", () => {
    const tuple = (...items: object[]) => tool({ box: { type: "array", items, additionalItems: false } });
    expect(() => checkTools([tuple({ type: "number" }, { type: "string" }), tool({}, "Other")])).not.toThrow();
    expect(() => checkTools([tuple({ type: "number" }, { type: "colour" })])).toThrow(/parameters\.properties\.box\.items\.1\.type/);
  });

  it("refuses a schema that is too large by the tool that has it, and many that are too large together", () => {
    const ofSize = (size: number, name: string) => tool({ a: { description: "x".repeat(size) } }, name);
    const empty = JSON.stringify(ofSize(0, "a").function.parameters).length;
    expect(() => checkTools([ofSize(32_768 - empty, "fits")])).not.toThrow();
    expect(() => checkTools([tool({}), ofSize(32_769 - empty, "large")])).toThrow(
      "tools.1.function.parameters: at most 32768 characters of JSON expected, got 32769 for large",
    );
    const many = (count: number) => Array.from({ length: count }, (_, index) => ofSize(32_768 - empty, `t${index}`));
    expect(() => checkTools(many(8))).not.toThrow();
    expect(() => checkTools(many(9))).toThrow(/at most 262144 characters of JSON for all tools together expected, got 294912 up to t8/);
    const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) as unknown;
    expect(() => checkTools([tool({ a: { default: deep } })])).toThrow(/at most 100 levels of nesting expected, got more for Book/);
  });
});
