/**
 * A server on a real socket that speaks OpenAI's chat completions as they are documented, and answers what a test tells it to.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { z } from "zod";

const Request = z.strictObject({
  model: z.string(),
  messages: z.array(z.strictObject({ role: z.enum(["system", "user"]), content: z.string() })).min(1),
  stream: z.literal(false),
  response_format: z
    .strictObject({
      type: z.literal("json_schema"),
      json_schema: z.strictObject({
        name: z.string().regex(/^[\w-]{1,64}$/),
        strict: z.literal(true),
        schema: z.looseObject({ type: z.literal("object") }),
      }),
    })
    .optional(),
  seed: z.int().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  // Of vLLM, SGLang and llama.cpp's server: https://docs.vllm.ai/en/latest/serving/openai_compatible_server/
  chat_template_kwargs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type ChatRequest = z.infer<typeof Request>;

export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the HTTP answer; text goes as it is. */
  readonly body?: unknown;
  /** Nothing is answered at all. */
  readonly hangs?: true;
};

export type Heard = { readonly authorization: string | undefined; readonly request: ChatRequest };

export type TestServer = {
  /** With the path of the API's version, as people configure it. */
  readonly url: string;
  readonly heard: Heard[];
  /** What is answered to the n-th request since the test began, and to all after the last. */
  answer: (request: ChatRequest, n: number) => Reply;
};

/** Of the test file that calls it; forgets between tests. */
export function withChatServer(): TestServer {
  const server = createServer((incoming, outgoing) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => void (text += chunk.toString()));
    incoming.on("end", () => {
      if (incoming.method !== "POST" || incoming.url !== "/v1/chat/completions")
        return send(outgoing, { status: 404, body: refusal("no such route") });
      const request = Request.safeParse(JSON.parse(text));
      if (!request.success) return send(outgoing, { status: 400, body: refusal(z.prettifyError(request.error)) });
      state.heard.push({ authorization: incoming.headers.authorization, request: request.data });
      send(outgoing, state.answer(request.data, state.heard.length - 1));
    });
  });
  let url = "";
  const state: TestServer = {
    get url() {
      return url;
    },
    heard: [],
    answer: () => ({ status: 500 }),
  };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => void (state.heard.length = 0));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return state;
}

/** A chat completion whose one choice says this. */
export function says(content: string | null, changes: { refusal?: string; finish_reason?: string; usage?: unknown } = {}): Reply {
  const {
    refusal: refused = null,
    finish_reason = "stop",
    usage = { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 },
  } = changes;
  const message = { role: "assistant", content, refusal: refused };
  const choices = [{ index: 0, message, finish_reason, logprobs: null }];
  return { body: { id: "chatcmpl-1", object: "chat.completion", created: 1_700_000_000, model: "judge-1", choices, usage } };
}

/** A ballot as the prompt asks for it. */
export function votes(vote: unknown, hint: { parameter: string; value: string } | null = null): Reply {
  return says(JSON.stringify({ why: "the user says so", vote, hint }));
}

/** An error as OpenAI words it. */
export function refusal(message: string, param: string | null = null): unknown {
  return { error: { message, type: "invalid_request_error", param, code: null } };
}

function send(outgoing: ServerResponse, { status = 200, headers = {}, body = "", hangs }: Reply): void {
  if (hangs === true) return;
  outgoing.writeHead(status, { "content-type": "application/json", ...headers });
  outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
}
