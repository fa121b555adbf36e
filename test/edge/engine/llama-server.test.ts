/**
 * The conformance suite and what is llama.cpp's own against a real server of it, where one is named:
 *
 *     llama-server -m model.gguf --port 8080 --jinja --slots -c 4096 -np 2
 *     NEXTSTATE_LLAMA_SERVER=http://127.0.0.1:8080 npm test -- llama-server
 *
 * NEXTSTATE_LLAMA_ADAPTER names the PEFT folder of an adapter for that model; the name under which the server has to have its GGUF is in the
 * message of the test that misses it. Where NEXTSTATE_LLAMA_HOST is the address of the `npm run adapters` that runs the server, with
 * NEXTSTATE_ADAPTER_KEY, it gets the adapter from the edge.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { capabilitiesOf, EngineSettings } from "../../../shared/engine.ts";
import { adapterSizes } from "../../../shared/lora.ts";
import type { AdapterFiles } from "../../../shared/policy.ts";
import { putAdapter } from "../../helpers/adapters.ts";
import { call, putAgent, putFile } from "../../helpers/call.ts";
import { withEdge } from "../../helpers/edge.ts";
import { says, talkTo, turnsOf } from "../session/talk.ts";
import { LONG_TOKENS, testEngine } from "./conformance.ts";
import { publishOn } from "../../helpers/publish-on.ts";
import type { Json } from "./stand-in.ts";

const url = process.env["NEXTSTATE_LLAMA_SERVER"] ?? "";
const adapterFolder = process.env["NEXTSTATE_LLAMA_ADAPTER"] ?? "";
const hostUrl = process.env["NEXTSTATE_LLAMA_HOST"] ?? "";
const hostKey = process.env["NEXTSTATE_ADAPTER_KEY"] ?? "";
const engine = (changes: object = {}) => ({
  ...{ kind: "openai", flavour: "llamacpp", url: url === "" ? "http://127.0.0.1:8080" : url, model: "default" },
  ...changes,
});
const askServer = async (path: string, body?: object): Promise<Json> => {
  const response = await fetch(`${url}${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
};

/** Given up: every slot is idle, and none has made as many tokens as were asked for. */
async function hasGivenUp(): Promise<boolean> {
  const slots: Json[] = await askServer("/slots");
  return slots.every(({ is_processing: busy, next_token: next }) => !busy && ([next].flat()[0]?.n_decoded ?? 0) < LONG_TOKENS);
}

describe.skipIf(url === "")("where NEXTSTATE_LLAMA_SERVER names one", () => {
  const edge = withEdge({ vars: { ENGINE_KEY_HOST: hostKey } });
  testEngine(edge, {
    name: "llama-server",
    capabilities: capabilitiesOf(EngineSettings.parse(engine())),
    settings: engine,
    watch: async () => ({ hasGivenUp }),
  });

  describe("llama-server itself", () => {
    const agentOn = async (name: string, changes: object = {}) => {
      await putAgent(edge, name, { engine: engine(changes) });
      return talkTo(edge, name);
    };

    it("tells the ids of what was said, and of what was asked as its template has it", async () => {
      const { ask, logged } = await agentOn("ids");
      const { message } = await ask([says("hi")], { extra: { max_tokens: 24, temperature: 1 } });
      const [turn] = turnsOf(await logged("turn:finished", 1));
      const { promptTokens = [], responseTokens = [], unusable } = turn?.rollout ?? {};
      expect(unusable).toBeUndefined();
      expect((await askServer("/detokenize", { tokens: responseTokens })).content).toContain(message.content);
      const { prompt } = await askServer("/apply-template", { messages: [says("hi")] });
      expect(promptTokens).toEqual((await askServer("/tokenize", { content: prompt, add_special: true, parse_special: true })).tokens);
    });

    it("shows log-probs of every token, and as many alternatives as were asked for", async () => {
      await agentOn("logprobs");
      const shown = async (top_logprobs: number): Promise<Json[]> => {
        const asked = { model: "logprobs", messages: [says("hi")], max_tokens: 4, temperature: 0, logprobs: true, top_logprobs };
        return (await call(edge, "client", "POST /v1/chat/completions", asked)).body.choices[0].logprobs.content;
      };
      for (const alternatives of [0, 3]) {
        const tokens = await shown(alternatives);
        expect(tokens).toHaveLength(4);
        for (const token of tokens) expect(token.top_logprobs).toHaveLength(alternatives);
      }
      // The likeliest was said.
      for (const { logprob, top_logprobs: top } of await shown(1)) expect(logprob).toBe(top[0].logprob);
    });

    it("has the client told that a conversation is too long for it", async () => {
      const { default_generation_settings: settings } = await askServer("/props");
      const { ask } = await agentOn("long");
      const tooLong = { status: 400, error: { code: "context_length_exceeded", param: "messages" } };
      expect(await ask([says("no ".repeat(settings.n_ctx))])).toMatchObject(tooLong);
    });

    it("that has not an adapter has its version refused by the name of the file", async () => {
      await agentOn("absent");
      const { status, body } = await publishOn(edge, "absent", await putAdapter(edge, "absent"));
      expect([status, body.error.code, body.error.message]).toEqual([
        422,
        "policy/refused",
        expect.stringMatching(/adapter nextstate-[0-9a-f]{64}\.gguf among its \d+ expected/),
      ]);
    });

    it.skipIf(adapterFolder === "")("answers otherwise with an adapter, and as before once its version is rolled back", async () => {
      const host = hostUrl === "" ? {} : { adapterHost: { url: hostUrl, keySecret: "ENGINE_KEY_HOST" } };
      const { ask, logged } = await agentOn("adapted", host);
      const saidTo = async (session: string): Promise<string | null> => {
        const asked = { extra: { max_tokens: 24, temperature: 0 }, headers: { "x-session-id": session } };
        return (await ask([says("hi")], asked)).message.content;
      };
      const bare = await saidTo("bare");
      const published = await publishOn(edge, "adapted", await putFolder(adapterFolder));
      expect(published.body).toMatchObject({ status: "published", version: 1 });
      const adapted = await saidTo("adapted");
      expect([adapted === bare, await saidTo("again")]).toEqual([false, adapted]);
      await call(edge, "admin", "POST /api/agents/adapted/rollback", { to: 0 });
      expect(await saidTo("back")).toBe(bare);
      expect(turnsOf(await logged("turn:finished", 4)).map(({ policyVersion }) => policyVersion)).toEqual([0, 1, 1, 0]);
    });
  });

  async function putFolder(folder: string): Promise<AdapterFiles> {
    const [config, weights] = await Promise.all(
      ["adapter_config.json", "adapter_model.safetensors"].map(async (name) => new Uint8Array(await readFile(join(folder, name)))),
    );
    if (config === undefined || weights === undefined) throw new Error("two files expected");
    const [{ digest: configDigest }, { digest: weightsDigest }] = await Promise.all([putFile(edge, config), putFile(edge, weights)]);
    const { rank, alpha } = adapterSizes(new TextDecoder().decode(config));
    return { configDigest, weightsDigest, rank, alpha };
  }
});
