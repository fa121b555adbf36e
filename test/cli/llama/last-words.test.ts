/** Which line of a program that failed comes first, as the real ones end. */
import { describe, expect, it } from "vitest";
import { lastWords } from "../../../cli/llama/last-words.ts";

describe("lastWords", () => {
  it("begins with the first failure of llama-server, which the others follow from", () => {
    const lines = [
      "llama_adapter_lora_init_impl: loading lora adapter from 'a.gguf' ...",
      "gguf_init_from_file_impl: failed to read tensor info",
      "common_init_from_params: failed to apply lora adapter 'a.gguf'",
      "main: exiting due to model loading error",
    ];
    expect(lastWords(lines)).toBe([lines[1], ...lines].join("\n"));
  });

  it("begins with the last line of a traceback", () => {
    const lines = ["Traceback (most recent call last):", '  File "convert.py", line 314, in <module>', "KeyError: 'r'", ""];
    expect(lastWords(lines)).toMatch(/^KeyError: 'r'\nTraceback/);
  });

  it("leaves out what was said long before", () => {
    const lines = Array.from({ length: 30 }, (_, line) => (line === 0 ? "an error that was survived" : `line ${line}`));
    expect(lastWords(lines).split("\n")).toEqual(["line 29", ...lines.slice(-10)]);
  });

  it("says a single line once, and of none that there was none", () => {
    expect([lastWords(["gone"]), lastWords(["", " "])]).toEqual(["gone", "it said nothing"]);
  });
});
