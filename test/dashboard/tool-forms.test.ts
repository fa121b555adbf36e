/** Tools between JSON and form: nothing is lost on the way, and what is wrong is told where it stands. */
import { describe, expect, it } from "vitest";
import { lineOf, locate, placeOf } from "../../dashboard/json-place.ts";
import { formOf, problemsOf, readTools, toolOf } from "../../dashboard/tool-forms.ts";
import { SEARCH } from "../trainer/hotel.ts";

const located = (text: string) => {
  const read = locate(text);
  if (!("value" in read)) throw new Error(read.message);
  return read;
};
const wrongIn = (text: string): string => {
  const read = locate(text);
  const fault = "value" in read ? readTools(read) : read;
  if (!("at" in fault)) throw new Error("something wrong expected");
  const { line, column } = lineOf(text, fault.at);
  return `${line}:${column} ${fault.message}`;
};

describe("locate", () => {
  it("reads what JSON.parse reads, and knows the place of each part", () => {
    const text = '{"a": [1, -2.5e3, {"b": "\\u00e9\\"\\n"}], "c": true, "d": null, "e": {}, "f": []}';
    const read = located(text);
    expect(read.value).toEqual(JSON.parse(text));
    expect(text.slice(read.places.get("a.2.b"))).toMatch(/^"\\u00e9/);
    expect(placeOf(read, "a.2.gone.deeper")).toBe(text.indexOf('{"b"'));
  });

  it("names line and column of what is no JSON", () => {
    expect(wrongIn('[\n  {"a": 1,}\n]')).toBe('2:11 a name in "" or } expected, got "}\\n]"');
    expect(wrongIn('{"a" 1}')).toBe('1:6 : expected, got "1}"');
    expect(wrongIn("[1 2]")).toBe('1:4 , or ] expected, got "2]"');
    expect(wrongIn('"open')).toMatch(/^1:1 a text that ends with/);
    expect(wrongIn("")).toBe("1:1 a value expected, got the end");
    expect(wrongIn("01")).toBe('1:2 nothing more expected, got "1"');
  });
});

describe("readTools", () => {
  it("takes a list, a whole request, one tool, and the flat form of the Responses API", () => {
    const flat = { type: "function", ...SEARCH.function };
    for (const pasted of [[SEARCH], { model: "gpt", tools: [SEARCH] }, SEARCH, flat, [flat]])
      expect(readTools(located(JSON.stringify(pasted)))).toEqual({ tools: [SEARCH] });
  });

  it("says which tool is none, and where", () => {
    expect(wrongIn('[\n  {"type": "function", "function": {"name": "no spaces"}}\n]')).toMatch(/^2:45 name: 1 to 64/);
    expect(wrongIn('[{"type": "web_search"}]')).toMatch(/^1:11 "function" expected/);
    expect(wrongIn('{"tools": [{"name": "a"}, {"name": "a"}]}')).toMatch(/^1:36 name: another tool is called a/);
    expect(wrongIn("[3]")).toMatch(/^1:2 a tool expected/);
  });
});

describe("formOf and toolOf", () => {
  it("bring a tool back as it was", () => {
    const form = formOf(SEARCH);
    if (form === undefined) throw new Error("a tool that fits the form expected");
    expect(toolOf(form)).toEqual(SEARCH);
    expect(problemsOf(form).size).toBe(0);
  });

  it("leave what the form does not show to JSON", () => {
    const having = (property: object) =>
      formOf({ type: "function", function: { name: "t", parameters: { type: "object", properties: { a: property } } } });
    expect(having({ type: "string" })?.parameters).toMatchObject([{ name: "a", type: "string", required: false }]);
    for (const property of [
      { type: "array", items: {} },
      { type: "string", format: "date" },
      { type: "string", enum: ["a, b"] },
      { type: "string", enum: [1] },
    ])
      expect(having(property)).toBeUndefined();
    expect(formOf({ ...SEARCH, function: { ...SEARCH.function, strict: true } })).toBeUndefined();
  });

  it("tell what is wrong by field", () => {
    const own = { description: "", required: false, choices: "", fallback: "" };
    const parameters = [
      { ...own, name: "rooms", type: "integer" as const, choices: "1, two" },
      { ...own, name: "rooms", type: "string" as const, choices: "a, b", fallback: "c" },
    ];
    const problems = problemsOf({ name: "no spaces", description: "", parameters });
    expect([...problems.keys()]).toEqual(["name", "parameters.0.type", "parameters.1.name", "parameters.1.fallback"]);
    expect(problems.get("parameters.0.type")).toBe('"two" is no integer');
  });
});
