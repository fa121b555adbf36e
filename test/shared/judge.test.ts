/** Which server judges an agent's answers, and what it is given beside the prompt. */
import { describe, expect, it } from "vitest";
import type { EngineSettings } from "../../shared/engine.ts";
import { judgeServerOf, type JudgeSettings } from "../../shared/judge.ts";

describe("judgeServerOf", () => {
  const engine: EngineSettings = {
    kind: "openai",
    flavour: "vllm",
    url: "http://10.0.0.1:8000",
    model: "Qwen/Qwen3-4B",
    answerTokens: 1024,
    timeoutMs: 60_000,
  };
  const judge: JudgeSettings = { kind: "llm", url: null, model: null, secret: null };

  it("is the agent's own engine, given what its chat template is given, where no other is named", () => {
    const own = { url: "http://10.0.0.1:8000/v1", model: "Qwen/Qwen3-4B", secret: null };
    expect(judgeServerOf({ engine, learning: { judge } })).toEqual({ ...own, templateArguments: { enable_thinking: false } });
    expect(judgeServerOf({ engine: { ...engine, flavour: "generic" }, learning: { judge } })).toEqual(own);
  });

  it("is another that is named, and given nothing that it may not know", () => {
    const named = { ...judge, url: "https://api.example.com/v1", model: "judge-1" };
    expect(judgeServerOf({ engine, learning: { judge: named } })).toEqual({ url: named.url, model: "judge-1", secret: null });
  });
});
