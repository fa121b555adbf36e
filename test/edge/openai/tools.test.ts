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
});
