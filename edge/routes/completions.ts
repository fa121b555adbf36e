/** POST /v1/chat/completions: parse, find the session, answer. */
import type { Context } from "hono";
import type { App, AppEnv } from "../env.ts";
import { readJson } from "../http-errors.ts";
import { readDeltas } from "../openai/deltas.ts";
import { parseTurnHeaders } from "../openai/headers.ts";
import { parseChatRequest, type ChatRequest } from "../openai/request.ts";
import { collectCompletion } from "../openai/response.ts";
import { streamEvents, toEvents } from "../openai/sse.ts";
import { fingerprint, type Envelope } from "../openai/wire.ts";
import type { Answering } from "../session/dispatch.ts";
import { answerTurn, offerOf, requireHead, respondEvents, scopeOf, sessionNameOf } from "./answering.ts";

export function mountCompletions(app: App): void {
  app.post("/v1/chat/completions", async (context) => {
    const body = await readJson(context.req.raw);
    const request = parseChatRequest(body);
    const headers = parseTurnHeaders(context.req.raw.headers);
    const head = await requireHead(context, request.model);
    const scope = await scopeOf(context, request);
    const sessionName = await sessionNameOf(headers, request);
    const offer = await offerOf(context, request, head);
    const answering = await answerTurn(context, { request, headers, head, scope, sessionName, body, offer, asked: null });
    return respond(context, request, answering);
  });
}

export async function respond(context: Context<AppEnv>, request: ChatRequest, { head, deltas }: Answering): Promise<Response> {
  const envelope: Envelope = {
    id: head.completionId,
    created: Math.floor(head.createdAt / 1000),
    model: request.model,
    system_fingerprint: fingerprint(head),
  };
  const read = readDeltas(deltas);
  if (!request.stream) return context.json(await collectCompletion(read, { envelope, logprobs: request.logprobs }));
  return respondEvents(context, streamEvents(toEvents(read, { envelope, includeUsage: request.includeUsage }), read));
}
