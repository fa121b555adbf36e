/**
 * The vLLM stand-in with a model behind it: the trainer's own engine answers, under the adapter that the request names, read from the
 * folder that it was told to load. So what comes back is what a server with these files would say, token by token.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServerResponse } from "node:http";
import type { Engine } from "../../../trainer/engine/engine.ts";
import { readAdapterFiles } from "../../../trainer/policy/adapter.ts";
import type { Base } from "../../../trainer/policy/base.ts";
import { chatChunks, type Json } from "./stand-in.ts";
import { Vllm } from "./stand-ins.ts";

type Said = { promptTokens: number[]; tokens: number[]; logProbs: number[] };

export class ModelVllm extends Vllm {
  readonly #base: Base;
  readonly #engine: Engine;
  /** By the body of the request. */
  readonly #said = new WeakMap<object, Said>();

  constructor(base: Base, engine: Engine) {
    super();
    this.#base = base;
    this.#engine = engine;
  }

  protected override async route(path: string, body: Json, response: ServerResponse): Promise<boolean> {
    if (path === "/v1/load_lora_adapter") await this.#load(body.lora_name, body.lora_path);
    if (path === "/v1/unload_lora_adapter") await this.#engine.dropAdapter(body.lora_name);
    if (path === "/v1/chat/completions") this.#said.set(body, await this.#answer(body));
    return super.route(path, body, response);
  }

  protected override events(_path: string, body: Json): unknown[] {
    const said = this.#said.get(body);
    if (said === undefined) throw new Error("an answer expected before its events");
    const { tokenizer } = this.#base;
    const { promptTokens, tokens, logProbs } = said;
    const ended = tokens.at(-1) === tokenizer.eosId;
    const shown = ended ? tokens.slice(0, -1) : tokens;
    const text = shown.map((token) => tokenizer.decode([token]));
    const decorate = (chunk: Json, index: number): Json => {
      if (index === 0) return { ...chunk, prompt_token_ids: promptTokens };
      const [choice] = chunk.choices;
      const token = tokens[index - 1];
      // The last chunk of all holds counts and no choice; the one before it the end token, where that ended the answer.
      if (choice === undefined)
        return {
          ...chunk,
          usage: {
            prompt_tokens: promptTokens.length,
            completion_tokens: tokens.length,
            total_tokens: promptTokens.length + tokens.length,
          },
        };
      if (token === undefined) return chunk;
      const logprob = { token: tokenizer.decode([token]), logprob: logProbs[index - 1], bytes: null, top_logprobs: [] };
      return { ...chunk, choices: [{ ...choice, token_ids: [token], logprobs: { content: [logprob] } }] };
    };
    return chatChunks({ text, finish: ended ? "stop" : "length" }, { model: body.model, decorate });
  }

  async #load(name: string, folder: string): Promise<void> {
    const [configBytes, weightBytes] = await Promise.all(
      ["adapter_config.json", "adapter_model.safetensors"].map(async (file) => new Uint8Array(await readFile(join(folder, file)))),
    );
    if (configBytes === undefined || weightBytes === undefined) throw new Error("both files of an adapter expected");
    await this.#engine.loadAdapter(name, readAdapterFiles(this.#base.config, { configBytes, weightBytes }));
  }

  async #answer({ model, messages, tools = [], max_tokens, temperature, seed, chat_template_kwargs = {} }: Json): Promise<Said> {
    const tokenizer = this.#base.tokenizer.withTemplateArguments(chat_template_kwargs);
    const promptTokens = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
    const [answer] = await this.#engine.generate({
      ...{ prompts: [Int32Array.from(promptTokens)], maxTokens: max_tokens, stopTokens: [tokenizer.eosId], temperature, seed },
      ...(this.adapters.has(model) && { adapter: model }),
    });
    if (answer === undefined) throw new Error("an answer expected");
    return { promptTokens, tokens: [...answer.tokens], logProbs: [...answer.logProbs] };
  }
}
