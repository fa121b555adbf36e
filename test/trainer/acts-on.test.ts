/** What new adapters act on: what the engine that answers can serve, unless the trainer is told otherwise. */
import { expect, it } from "vitest";
import { EngineSettings } from "../../shared/engine.ts";
import { actsOnFor, UpdateSettings } from "../../trainer/config.ts";

const server = (flavour: string): EngineSettings =>
  EngineSettings.parse({ kind: "openai", flavour, url: "http://127.0.0.1:1", model: "Qwen/Qwen3-4B" });

it.each([
  ["the embedded policy", EngineSettings.parse({ kind: "embedded" }), "answers"],
  ["llama.cpp's server", server("llamacpp"), "answers"],
  ["vLLM", server("vllm"), "everything"],
  ["SGLang", server("sglang"), "everything"],
  ["Workers AI", EngineSettings.parse({ kind: "workers-ai", model: "@cf/meta/llama-3.2-11b-vision-instruct" }), "everything"],
] as const)("for %s", (_, engine, expected) => {
  expect(actsOnFor(UpdateSettings.parse({}), engine)).toBe(expected);
  for (const told of ["answers", "everything"] as const) expect(actsOnFor(UpdateSettings.parse({ actsOn: told }), engine)).toBe(told);
});
