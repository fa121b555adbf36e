/** An engine between settings and form: what the edge has comes back as it was, and what is empty is left to the edge. */
import { describe, expect, it } from "vitest";
import { engineFormOf, engineOf } from "../../dashboard/engine-form.ts";
import { EngineSettings } from "../../shared/engine.ts";

const KEY = "ENGINE_KEY_OWN";
const ENGINES = [
  { kind: "embedded" },
  { kind: "openai", flavour: "generic", url: "http://127.0.0.1:8000", model: "a/model" },
  {
    kind: "openai",
    flavour: "sglang",
    url: "https://engine.example",
    model: "a/model",
    keySecret: KEY,
    adapterHost: { url: "https://host.example", keySecret: KEY },
    base: "0".repeat(64),
    answerTokens: 7,
    timeoutMs: 500,
    templateArguments: { enable_thinking: true, thinking_budget: 512, style: null },
  },
  { kind: "workers-ai", model: "@cf/a/model" },
  { kind: "workers-ai", model: "@cf/a/model", adapters: { accountId: "a".repeat(32), keySecret: KEY, modelType: "gemma", slots: 3 } },
];

describe("an engine's form", () => {
  it.each(ENGINES)("brings $kind back as it was: %j", (given) => {
    const engine = EngineSettings.parse(given);
    expect(EngineSettings.parse(engineOf(engineFormOf(engine)))).toEqual(engine);
  });

  it("leaves out what is empty, and keeps what was typed for another kind to itself", () => {
    const typed = { ...engineFormOf({ kind: "embedded" }), url: "http://127.0.0.1:8000", model: "a/model" };
    expect(engineOf(typed)).toEqual({ kind: "embedded" });
    expect(engineOf({ ...typed, kind: "openai", flavour: "vllm" })).toEqual({
      kind: "openai",
      flavour: "vllm",
      url: "http://127.0.0.1:8000",
      model: "a/model",
    });
    expect(engineOf({ ...typed, kind: "openai", templateArguments: "{enable" })).toMatchObject({ templateArguments: "{enable" });
    const generic = { ...typed, kind: "openai", flavour: "generic", templateArguments: "{}" } as const;
    expect(engineOf(generic)).not.toHaveProperty("templateArguments");
    expect(engineOf({ ...typed, kind: "workers-ai", accountId: "x" })).toMatchObject({ adapters: { accountId: "x", keySecret: "" } });
  });
});
