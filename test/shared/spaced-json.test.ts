/** JSON with spaces as Python writes it, value by value and text by text. */
import { describe, expect, it } from "vitest";
import { respaceJson, respaceResult, spacedJson } from "../../shared/spaced-json.ts";

describe("respaceJson", () => {
  it.each([
    { text: '{"a":1,"b":[true,null]}', respaced: '{"a": 1, "b": [true, null]}' },
    { text: '{ "a" :\n 1 }', respaced: '{"a": 1}' },
    { text: '{"id":12345678901234567,"price":1.50,"far":1e999}', respaced: '{"id": 12345678901234567, "price": 1.50, "far": 1e999}' },
    { text: '{"said":"a,b: \\"c\\" \\u00e9"}', respaced: '{"said": "a,b: \\"c\\" é"}' },
    { text: '{"2":1,"1":2,"2":3}', respaced: '{"2": 1, "1": 2, "2": 3}' },
    { text: '{"a":', respaced: '{"a":' },
  ])("writes $text as $respaced", ({ text, respaced }) => {
    expect(respaceJson(text)).toBe(respaced);
  });
});

describe("spacedJson", () => {
  it("writes values as Python's json.dumps does", () => {
    expect(spacedJson({ a: [1, "x"], b: { c: null } })).toBe('{"a": [1, "x"], "b": {"c": null}}');
    expect(spacedJson(undefined)).toBe("null");
  });
});

describe("respaceResult", () => {
  it.each([
    { content: '{"count":1,"results":[{"name":"Aria"}]}', respaced: '{"count": 1, "results": [{"name": "Aria"}]}' },
    { content: '[\n  "Aria",\n  "Corner"\n]', respaced: '["Aria", "Corner"]' },
    { content: "12,5", respaced: "12,5" },
    { content: '"a,b"', respaced: '"a,b"' },
    { content: "[sic]", respaced: "[sic]" },
  ])("writes $content as $respaced", ({ content, respaced }) => {
    expect(respaceResult(content)).toBe(respaced);
  });
});
