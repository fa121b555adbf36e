/**
 * The stand-in for llama.cpp's server with a model behind it, for what it answers with tools: text and calls with their counts, and no ids.
 * Adapters come as by a takeover, which converts a folder and has the server list it; this one knows activated adapters.
 */
import type { ServerResponse } from "node:http";
import { ggufInvocation } from "../../../shared/lora.ts";
import type { Engine } from "../../../trainer/engine/engine.ts";
import type { Base } from "../../../trainer/policy/base.ts";
import { readAnswer } from "../../../trainer/teacher/answer-text.ts";
import { ServedModel, type Said } from "./served-model.ts";
import { chatChunks, type Json } from "./stand-in.ts";
import { LlamaCpp } from "./stand-ins.ts";

export class ModelLlama extends LlamaCpp {
  /** Added to the tokens that it says a prompt has, as if it wrote conversations by another template. */
  extraTokens = 0;
  readonly #model: ServedModel;
  /** By the body of the request. */
  readonly #said = new WeakMap<object, Said>();

  constructor(base: Base, engine: Engine) {
    super();
    this.#model = new ServedModel(base, engine);
  }

  /** Has an adapter from now on. @param folder as PEFT has it */
  async place(name: string, folder: string): Promise<void> {
    this.invocations.set(name, ggufInvocation(await this.#model.load(name, folder)));
    this.adapters.set(name, `/adapters/${name}.gguf`);
  }

  protected override async route(path: string, body: Json, response: ServerResponse): Promise<boolean> {
    if (path === "/v1/chat/completions") {
      const chosen = body.lora?.find(({ scale }: Json) => scale === 1);
      this.#said.set(body, await this.#model.answer(body, [...this.adapters.keys()][chosen?.id]));
    }
    return super.route(path, body, response);
  }

  protected override events(_path: string, body: Json): unknown[] {
    const said = this.#said.get(body);
    if (said === undefined) throw new Error("a question of chat completions expected, as those with tools are");
    const { text, calls, finished } = readAnswer(this.#model.base.tokenizer, said.tokens);
    const [call] = calls;
    const [prompt_tokens, completion_tokens] = [said.promptTokens.length + this.extraTokens, said.tokens.length];
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
    return chatChunks(
      call === undefined
        ? { text: [text], finish: finished ? "stop" : "length" }
        : { call: { name: call.name, arguments: [JSON.stringify(call.arguments)] } },
      { model: body.model, decorate: (chunk) => (chunk.choices.length === 0 ? { ...chunk, usage } : chunk) },
    );
  }
}
