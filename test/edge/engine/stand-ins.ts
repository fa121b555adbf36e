/** The engines that the suite runs against, each after its documentation. */
import type { ServerResponse } from "node:http";
import { chatChunks, END_ID, END_LOGPROB, PROMPT_IDS, StandIn, tokensOf, type Json } from "./stand-in.ts";

const MODEL = "Qwen/Qwen3-4B";

/**
 * https://docs.vllm.ai/en/latest/features/lora/ (load, unload, `/v1/models`)
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server/ (chat completions, `return_token_ids`, errors)
 */
export class Vllm extends StandIn {
  readonly flavour = "vllm" as const;

  protected route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean> {
    switch (path) {
      case "/v1/models":
        return this.json(response, 200, { object: "list", data: [MODEL, ...this.adapters.keys()].map((id) => ({ id, object: "model" })) });
      case "/v1/load_lora_adapter":
        this.moves.push(`load ${body.lora_name}`);
        if (this.refusesLoads)
          return this.json(response, 400, { error: { message: "No adapter found", type: "BadRequestError", code: 400 } });
        this.adapters.set(body.lora_name, body.lora_path);
        return this.json(response, 200, `Success: LoRA adapter '${body.lora_name}' added successfully.`);
      case "/v1/unload_lora_adapter":
        this.moves.push(`unload ${body.lora_name}`);
        if (!this.refusesUnloads) this.adapters.delete(body.lora_name);
        // It says so whether or not anything came of it, which is what the edge must not believe.
        return this.json(response, 200, `Success: LoRA adapter '${body.lora_name}' removed successfully.`);
      case "/v1/chat/completions":
        if (body.model !== MODEL && !this.adapters.has(body.model)) return this.json(response, 404, unknownModel(body.model));
        return this.stream(path, body, response);
      default:
        return false;
    }
  }

  protected events(_path: string, body: Json): unknown[] {
    const { ids, logProbs } = tokensOf(this.script);
    const token = (id: number, logprob: number, text: string) => ({
      token_ids: [id],
      logprobs: { content: [{ token: text, logprob, bytes: [...new TextEncoder().encode(text)], top_logprobs: [] }] },
    });
    const called = this.script.call === undefined ? 0 : this.script.call.arguments.length + 1;
    const decorate = (chunk: Json, index: number): Json => {
      if (index === 0) return body.return_token_ids === true ? { ...chunk, prompt_token_ids: PROMPT_IDS } : chunk;
      const [choice] = chunk.choices;
      if (choice === undefined || body.return_token_ids !== true) return chunk;
      const place = index - 1;
      const last = place === ids.length + called;
      const added = last
        ? token(END_ID, END_LOGPROB, "")
        : token(ids[place] ?? 200 + place, logProbs[place] ?? -0.5, this.script.text?.[place] ?? "");
      return { ...chunk, choices: [{ ...choice, ...added }] };
    };
    return chatChunks(this.script, { model: body.model, decorate });
  }
}

/**
 * https://docs.sglang.ai/advanced_features/lora.html (load, unload, `model:adapter`, `lora_path`)
 * https://docs.sglang.ai/basic_usage/native_api.html (`/generate`)
 * https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py (`/v1/tokenize`, ids not streamed by chat completions)
 */
export class SgLang extends StandIn {
  readonly flavour = "sglang" as const;

  protected route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean> {
    switch (path) {
      case "/v1/models":
        return this.json(response, 200, { object: "list", data: [MODEL, ...this.adapters.keys()].map((id) => ({ id, object: "model" })) });
      case "/load_lora_adapter":
        this.moves.push(`load ${body.lora_name}`);
        if (this.refusesLoads)
          return this.json(response, 400, { success: false, error_message: "rank 64 is larger than max_lora_rank", loaded_adapters: {} });
        this.adapters.set(body.lora_name, body.lora_path);
        return this.json(response, 200, { success: true, error_message: "", loaded_adapters: Object.fromEntries(this.adapters) });
      case "/unload_lora_adapter":
        this.moves.push(`unload ${body.lora_name}`);
        if (this.refusesUnloads)
          return this.json(response, 200, { success: false, error_message: "adapter is in use", loaded_adapters: {} });
        this.adapters.delete(body.lora_name);
        return this.json(response, 200, { success: true, error_message: "", loaded_adapters: {} });
      case "/v1/tokenize":
        return this.json(response, 200, { tokens: PROMPT_IDS, count: PROMPT_IDS.length, max_model_len: 4096 });
      case "/v1/chat/completions":
        if (body.return_token_ids === true)
          return this.json(response, 400, { error: { message: "return_token_ids is not supported with streaming" } });
        return this.#knows(body.model.split(":")[1]) ? this.stream(path, body, response) : this.#unknown(response);
      case "/generate":
        return this.#knows(body.lora_path) ? this.stream(path, body, response) : this.#unknownInStream(response);
      default:
        return false;
    }
  }

  protected events(path: string, body: Json): unknown[] {
    if (path === "/v1/chat/completions") return chatChunks(this.script, { model: body.model });
    const { ids, logProbs } = tokensOf(this.script);
    const { text = [], finish = "stop" } = this.script;
    const [allIds, all] = [
      [...ids, END_ID],
      [...logProbs, END_LOGPROB],
    ];
    // Each event holds everything so far.
    return allIds.map((_, index) => {
      const pairs = allIds.slice(0, index + 1).map((id, place) => [all[place], id, null]);
      const ended = index === ids.length ? { type: finish, ...(finish === "stop" ? { matched: END_ID } : { length: ids.length }) } : null;
      const counts = { prompt_tokens: PROMPT_IDS.length, completion_tokens: index + 1, cached_tokens: 2 };
      return {
        text: text.slice(0, index + 1).join(""),
        output_ids: allIds.slice(0, index + 1),
        meta_info: { id: "1", finish_reason: ended, ...counts, output_token_logprobs: pairs },
      };
    });
  }

  #knows(adapter: string | undefined): boolean {
    return adapter === undefined || this.adapters.has(adapter);
  }

  #unknown(response: ServerResponse): true {
    return this.json(response, 400, UNLOADED);
  }

  /** What is found wrong once the stream has its status has none of its own: `stream_results` of https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/http_server.py */
  #unknownInStream(response: ServerResponse): true {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(UNLOADED)}\n\ndata: [DONE]\n\n`);
    return true;
  }
}

const UNLOADED = { error: { message: "Got LoRA adapter that has never been loaded" } };

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md, and what build 4748 (February 2025) was seen to do. */
export class LlamaCpp extends StandIn {
  readonly flavour = "llamacpp" as const;
  /** Builds of before May 2025 answer whole where there are tools. */
  streamsCalls = true;
  /** What it names in the place of a field, instead of an answer. */
  error: Json = undefined;
  /** How many of a prompt's tokens it has room for. */
  room = Infinity;
  /** Of its activated adapters, by name; older builds know none. */
  readonly invocations = new Map<string, readonly number[]>();

  protected route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean> {
    switch (path) {
      case "/lora-adapters":
        return this.json(
          response,
          200,
          [...this.adapters].map(([name, path], id) => ({ id, path, scale: 1, alora_invocation_tokens: this.invocations.get(name) })),
        );
      case "/apply-template":
        return this.json(response, 200, { prompt: "<|im_start|>user\n…" });
      case "/tokenize":
        return this.json(response, 200, { tokens: PROMPT_IDS });
      case "/v1/chat/completions":
        if (body.logprobs === true && body.tools !== undefined)
          return this.json(response, 400, {
            error: { code: 400, message: "logprobs is not supported with tools + stream", type: "invalid_request_error" },
          });
        if (this.streamsCalls || body.tools === undefined) return this.stream(path, body, response);
        return body.stream === true ? this.#refuse(response, "Cannot use tools with stream") : this.#whole(body, response);
      case "/completion":
        if (this.error === undefined) return this.stream(path, body, response);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`error: ${JSON.stringify(this.error)}\n\n`);
        return true;
      default:
        return false;
    }
  }

  protected events(path: string, body: Json): unknown[] {
    const { ids, logProbs } = tokensOf(this.script);
    if (path === "/v1/chat/completions") {
      // Build 11669 (2026) reports none where no alternatives are asked for.
      const decorate = (chunk: Json, index: number): Json => {
        const [token, logprob] = [this.script.text?.[index - 1], logProbs[index - 1]];
        if (token === undefined || body.logprobs !== true || body.top_logprobs < 1) return chunk;
        const own = { id: ids[index - 1], token, bytes: [...new TextEncoder().encode(token)], logprob };
        const [choice] = chunk.choices;
        return { ...chunk, choices: [{ ...choice, logprobs: { content: [{ ...own, top_logprobs: [own] }] } }] };
      };
      return chatChunks(this.script, { model: MODEL, decorate });
    }
    const { text = [], finish = "stop" } = this.script;
    const tokens_evaluated = Math.min(PROMPT_IDS.length, this.room);
    const told = text.map((content, index) => ({ content, id: ids[index], logprob: logProbs[index] }));
    if (finish === "stop") told.push({ content: "", id: END_ID, logprob: END_LOGPROB });
    const pieces = told.map(({ content, id, logprob }, index) => ({
      ...{ index: 0, content, tokens: [id], stop: false, id_slot: 0, tokens_predicted: index + 1, tokens_evaluated },
      completion_probabilities: body.n_probs === 1 ? [{ id, token: content, bytes: [], logprob, top_logprobs: [] }] : [],
    }));
    const counts = { tokens_predicted: told.length, tokens_evaluated, tokens_cached: 7, timings: { cache_n: 2 } };
    const end = {
      index: 0,
      content: "",
      tokens: [],
      stop: true,
      truncated: false,
      stop_type: finish === "length" ? "limit" : "eos",
      ...counts,
    };
    return [...pieces, end];
  }

  #refuse(response: ServerResponse, message: string): true {
    return this.json(response, 500, { error: { code: 500, message, type: "server_error" } });
  }

  #whole({ tools }: Json, response: ServerResponse): true {
    const untold = tools.find(({ function: { description, parameters } }: Json) => description === undefined || parameters === undefined);
    if (untold !== undefined) return this.#refuse(response, "Failed to parse tools: [json.exception.out_of_range.403] key not found");
    const { text = [], call } = this.script;
    const tool_calls = call && [
      { type: "function", function: { name: call.name, arguments: call.arguments.join("") }, id: "" },
      { type: "function", function: { name: call.name, arguments: call.arguments.join("") }, id: "" },
    ];
    const message = { role: "assistant", content: call === undefined ? text.join("") : null, tool_calls };
    const usage = { completion_tokens: 9, prompt_tokens: PROMPT_IDS.length, total_tokens: 9 + PROMPT_IDS.length };
    const finish_reason = call === undefined ? "stop" : "tool_calls";
    return this.json(response, 200, { choices: [{ finish_reason, index: 0, message }], usage, object: "chat.completion", model: MODEL });
  }
}

/** https://platform.openai.com/docs/api-reference/chat-streaming, and nothing that one engine alone knows. */
export class Generic extends StandIn {
  readonly flavour = "generic" as const;

  protected route(path: string, body: Json, response: ServerResponse): boolean | Promise<boolean> {
    if (path !== "/v1/chat/completions") return false;
    const known = new Set(["messages", "model", "temperature", "top_p", "seed", "max_tokens", "stream", "stream_options", "stop"]);
    const more = new Set(["tools", "tool_choice", "parallel_tool_calls", "response_format", "logprobs", "top_logprobs"]);
    const unknown = Object.keys(body).find((name) => !known.has(name) && !more.has(name));
    if (unknown !== undefined)
      return this.json(response, 400, { error: { message: `Unrecognized request argument supplied: ${unknown}` } });
    return this.stream(path, body, response);
  }

  protected events(_path: string, body: Json): unknown[] {
    return chatChunks(this.script, { model: body.model });
  }
}

function unknownModel(model: string): Json {
  return { error: { message: `The model \`${model}\` does not exist.`, type: "NotFoundError", param: "model", code: 404 } };
}
