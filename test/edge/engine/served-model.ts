/**
 * What stands behind an engine's stand-in where it has a model: the trainer's own engine, under adapters that are read from the folders
 * that it is told to load. So what comes back is what a server with these files would say, token by token.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import type { Engine } from "../../../trainer/engine/engine.ts";
import { readAdapterFiles } from "../../../trainer/policy/adapter.ts";
import type { Base } from "../../../trainer/policy/base.ts";
import type { Json } from "./stand-in.ts";

export type Said = { promptTokens: number[]; tokens: number[]; logProbs: number[] };

export class ServedModel {
  readonly base: Base;
  readonly #engine: Engine;
  readonly #adapters = new Set<string>();

  constructor(base: Base, engine: Engine) {
    this.base = base;
    this.#engine = engine;
  }

  /** @returns the tokens that it waits for; none where it acts on every one */
  async load(name: string, folder: string): Promise<readonly number[]> {
    const [configBytes, weightBytes] = await Promise.all(
      ["adapter_config.json", "adapter_model.safetensors"].map(async (file) => new Uint8Array(await readFile(join(folder, file)))),
    );
    if (configBytes === undefined || weightBytes === undefined) throw new Error("both files of an adapter expected");
    const adapter = readAdapterFiles(this.base.config, { configBytes, weightBytes });
    await this.#engine.loadAdapter(name, adapter);
    this.#adapters.add(name);
    return adapter.invocation ?? [];
  }

  async unload(name: string): Promise<void> {
    await this.#engine.dropAdapter(name);
    this.#adapters.delete(name);
  }

  /** Answers the body of a chat completion, its calls held to their tools' schemas. @param adapter of another name than one that it has: the bare base */
  async answer(body: Json, adapter: string | undefined): Promise<Said> {
    const { messages, tools = [], max_tokens, temperature, seed, chat_template_kwargs = {} } = body;
    const tokenizer = this.base.tokenizer.withTemplateArguments(chat_template_kwargs);
    const promptTokens = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
    const [answer] = await this.#engine.generate({
      ...{ prompts: [Int32Array.from(promptTokens)], maxTokens: max_tokens, stopTokens: [tokenizer.eosId], temperature, seed },
      ...(tools.length > 0 && { forms: [{ tools, form: FREE_FORM }] }),
      ...(adapter !== undefined && this.#adapters.has(adapter) && { adapter }),
    });
    if (answer === undefined) throw new Error("an answer expected");
    return { promptTokens, tokens: [...answer.tokens], logProbs: [...answer.logProbs] };
  }
}
