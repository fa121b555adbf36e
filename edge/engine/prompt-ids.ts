/**
 * A conversation as the engine itself encodes it, for its native route. An engine that cannot is asked by chat completions, and
 * what is returned is the reason why the turn has no ids.
 */
import { z } from "zod";
import type { OpenAiEngine } from "../../shared/engine.ts";
import { templateMember } from "./bodies.ts";
import type { EngineTurn } from "./port.ts";
import { type Call, jsonBody, requestJson, type Upstream } from "./upstream.ts";
import { AppError } from "../../shared/errors.ts";

const Ids = z.object({ tokens: z.array(z.number().int().min(0)).min(1) });

/** SGLang encodes messages. @see https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py TokenizeRequest, `/v1/tokenize` */
export async function encodeForGenerate(
  upstream: Upstream,
  { turn, engine, signal }: { turn: EngineTurn; engine: OpenAiEngine; signal: AbortSignal },
): Promise<readonly number[] | string> {
  return orReason(async () => {
    const body = jsonBody({ model: engine.model, messages: turn.messages, ...templateMember(engine) });
    return (await requestJson(upstream, reading("/v1/tokenize", body), { schema: Ids, signal })).tokens;
  });
}

/** llama.cpp renders and encodes in two steps, as its chat completions do within. */
export async function encodeForCompletion(
  upstream: Upstream,
  { turn, engine, signal }: { turn: EngineTurn; engine: OpenAiEngine; signal: AbortSignal },
): Promise<readonly number[] | string> {
  return orReason(async () => {
    const rendering = jsonBody({ messages: turn.messages, ...templateMember(engine) });
    const schema = z.object({ prompt: z.string() });
    const { prompt } = await requestJson(upstream, reading("/apply-template", rendering), { schema, signal });
    const body = jsonBody({ content: prompt, add_special: true, parse_special: true });
    return (await requestJson(upstream, reading("/tokenize", body), { schema: Ids, signal })).tokens;
  });
}

/** Nothing comes of it but its answer. */
function reading(path: string, body: string): Call {
  return { method: "POST", path, body, again: "always" };
}

/** Only what the engine says of the conversation is a reason; one that cannot be reached fails the turn. */
async function orReason(encode: () => Promise<readonly number[]>): Promise<readonly number[] | string> {
  try {
    return await encode();
  } catch (thrown) {
    if (thrown instanceof AppError && (thrown.code === "input/invalid" || thrown.code === "upstream/invalid"))
      return `the engine could not encode the conversation by itself: ${thrown.message}`;
    throw thrown;
  }
}
