/** What an engine's chat template is given: sent where it renders prompts, refused by what has to change, and the same prompt as the trainer's. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EngineSettings, templateArgumentsOf } from "../../../shared/engine.ts";
import { Engine } from "../../../trainer/engine/engine.ts";
import { loadBase, perTemplate, type Base } from "../../../trainer/policy/base.ts";
import { call, putAgent } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { THINKING_TEMPLATE, writeRandomBase } from "../../helpers/random-base.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { ModelVllm } from "./model-vllm.ts";
import { KEY, type StandIn } from "./stand-in.ts";
import { Generic, LlamaCpp, SgLang, Vllm } from "./stand-ins.ts";

const edge = withEdge({ vars: { ENGINE_KEY_TEST: KEY } });
const settingsOf = ({ flavour, url }: StandIn, changes: object = {}) => ({
  ...{ kind: "openai", flavour, url, model: "Qwen/Qwen3-4B", keySecret: "ENGINE_KEY_TEST" },
  ...changes,
});
const tools = [{ type: "function", function: { name: "Book" } }];

let agents = 0;
async function agentOn(engine: StandIn, changes: object = {}) {
  const name = `template-${(agents += 1)}`;
  await putAgent(edge, name, { engine: settingsOf(engine, changes) });
  return talkTo(edge, name);
}

describe("what a chat template is given", () => {
  const engines = [new Vllm(), new SgLang(), new LlamaCpp(), new Generic()];
  beforeAll(async () => void (await Promise.all(engines.map((engine) => engine.start()))));
  afterAll(async () => void (await Promise.all(engines.map((engine) => engine.stop()))));

  // Free text of the last two is rendered apart, by these; with tools all are asked by chat completions.
  const RENDERS = { vllm: "/v1/chat/completions", sglang: "/v1/tokenize", llamacpp: "/apply-template" } as const;
  it.each([
    ["nothing to think, unless it is told", {}, { enable_thinking: false }],
    ["what the agent says, and no default beside it", { templateArguments: { thinking: "low" } }, { thinking: "low" }],
    ["nothing", { templateArguments: {} }, undefined],
  ])("is %s, wherever the engine renders a prompt", async (_, changes, expected) => {
    for (const engine of engines.slice(0, 3)) {
      const { ask } = await agentOn(engine, changes);
      expect((await ask([says("hi")])).status).toBe(200);
      const rendered = engine.asked.findLast(({ path }) => path === RENDERS[engine.flavour as keyof typeof RENDERS]);
      expect(rendered?.body["chat_template_kwargs"], engine.flavour).toEqual(expected);
      await ask([says("book it")], { extra: { tools } });
      expect(engine.asked.at(-1)?.path).toBe("/v1/chat/completions");
      expect(engine.asked.at(-1)?.body["chat_template_kwargs"], engine.flavour).toEqual(expected);
    }
  });

  it("is to think: answers come by chat completions, whose parser takes the thought out", async () => {
    for (const engine of engines.slice(0, 3)) {
      const { ask, logged } = await agentOn(engine, { templateArguments: { enable_thinking: true } });
      expect((await ask([says("hi")])).status).toBe(200);
      expect([engine.asked.at(-1)?.path, engine.flavour]).toEqual(["/v1/chat/completions", engine.flavour]);
      const [turn] = turnsOf(await logged("turn:finished", 1));
      if (engine.flavour !== "vllm") expect(turn?.rollout.unusable).toMatchObject({ reason: expect.stringContaining("thoughts") });
    }
  });

  it("is nothing for a server that may refuse what it does not know", async () => {
    const [generic = new Generic()] = engines.slice(3);
    const { ask } = await agentOn(generic);
    expect((await ask([says("hi")])).status).toBe(200);
    expect(generic.question).not.toHaveProperty("chat_template_kwargs");
    const workersAi = EngineSettings.parse({ kind: "workers-ai", model: "@cf/meta/llama-3.2-11b-vision-instruct" });
    expect([workersAi, EngineSettings.parse({ kind: "embedded" })].map(templateArgumentsOf)).toEqual([{}, {}]);
  });

  it.each([
    [{ templateArguments: { enable_thinking: [false] } }, "vllm", /enable_thinking: text, a number, true, false or null expected/],
    [{ templateArguments: { messages: "x" } }, "vllm", /messages: the name of a variable that the prompt does not set itself expected/],
    [{ templateArguments: { "enable-thinking": false } }, "vllm", /enable-thinking: the name of a variable that the prompt/],
    [{ templateArguments: "{enable" }, "vllm", /engine.templateArguments: an object of the chat template's variables expected/],
    [{ templateArguments: {} }, "generic", /engine.templateArguments: flavour vllm, sglang or llamacpp expected .* leave them out/],
  ])("is refused where it is %j of %s", async (changes, flavour, message) => {
    const engine = { ...settingsOf(engines[0] ?? new Vllm(), changes), flavour };
    const { status, body } = await call(edge, "admin", "PUT /api/agents/template-refused", { engine });
    expect([status, body.error?.message]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe("a template that thinks unless it is told not to", { timeout: 60_000 }, () => {
  let folder = "";
  let base: Base;
  let engine: Engine;
  let served: ModelVllm;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nextstate-template-"));
    base = loadBase(await writeRandomBase(join(folder, "base"), 1, { template: THINKING_TEMPLATE }));
    engine = await Engine.start({ config: base.config, threads: 1, tokenizer: base.tokenizerFiles });
    await engine.loadCheckpoint(base.folder);
    served = await new ModelVllm(base, engine).start();
  });
  afterAll(async () => {
    await Promise.all([served.stop(), engine.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    [{}, "<|im_start|>assistant\n<think>\n\n</think>\n\n"],
    [{ templateArguments: { enable_thinking: true } }, "<|im_start|>assistant\n"],
  ])("is served and trained on in the same prompt, with %j", async (changes, end) => {
    const { ask, logged } = await agentOn(served, changes);
    const messages = [{ role: "user" as const, content: "Two rooms?" }];
    await ask(messages, { extra: { temperature: 0, max_tokens: 4 } });
    const [turn] = turnsOf(await logged("turn:finished", 1));
    const trained = perTemplate(base, ({ tokenizer }) => tokenizer);
    const tokenizer = trained(templateArgumentsOf(EngineSettings.parse(settingsOf(served, changes))));
    expect(turn?.rollout.promptTokens).toEqual(tokenizer.encodePrompt({ messages, addGenerationPrompt: true }));
    expect(tokenizer.decode(turn?.rollout.promptTokens ?? []).endsWith(`<|im_end|>\n${end}`)).toBe(true);
    // An activated adapter waits for the same tokens whatever the template is given.
    expect(tokenizer.invocation).toEqual(base.tokenizer.invocation);
  });
});
