/** The vLLM stand-in with a model behind it, under the adapter that the request names. */
import type { ServerResponse } from "node:http";
import type { Engine } from "../../../trainer/engine/engine.ts";
import type { Base } from "../../../trainer/policy/base.ts";
import { ServedModel, type Said } from "./served-model.ts";
import { chatChunks, type Json } from "./stand-in.ts";
import { Vllm } from "./stand-ins.ts";

export class ModelVllm extends Vllm {
  readonly #model: ServedModel;
  /** By the body of the request. */
  readonly #said = new WeakMap<object, Said>();

  constructor(base: Base, engine: Engine) {
    super();
    this.#model = new ServedModel(base, engine);
  }

  protected override async route(path: string, body: Json, response: ServerResponse): Promise<boolean> {
    if (path === "/v1/load_lora_adapter") await this.#model.load(body.lora_name, body.lora_path);
    if (path === "/v1/unload_lora_adapter") await this.#model.unload(body.lora_name);
    if (path === "/v1/chat/completions") this.#said.set(body, await this.#model.answer(body, body.model));
    return super.route(path, body, response);
  }

  protected override events(_path: string, body: Json): unknown[] {
    const said = this.#said.get(body);
    if (said === undefined) throw new Error("an answer expected before its events");
    const { tokenizer } = this.#model.base;
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
}
