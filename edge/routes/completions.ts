/** POST /v1/chat/completions: parse, find the session, answer. */
import type { Context } from "hono";
import { AgentName } from "../../shared/agent.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import type { Note } from "../../shared/note.ts";
import { SHARED_LINE, type LineHead } from "../../shared/policy.ts";
import { getLineHead } from "../agent/head.ts";
import { getNotes } from "../agent/known-notes.ts";
import { promptNotes } from "../agent/notes.ts";
import type { App, AppEnv } from "../env.ts";
import { readJson } from "../http-errors.ts";
import { readDeltas } from "../openai/deltas.ts";
import { checkName, parseTurnHeaders, type TurnHeaders } from "../openai/headers.ts";
import { parseChatRequest, type ChatRequest } from "../openai/request.ts";
import { collectCompletion } from "../openai/response.ts";
import { streamChunks } from "../openai/sse.ts";
import { toToolChoice } from "../openai/tools.ts";
import { fingerprint, type Envelope } from "../openai/wire.ts";
import { reaches } from "../scope.ts";
import { dispatchTurn, type Answering, type UnplacedTurn } from "../session/dispatch.ts";
import type { OfferedPolicies } from "../session/port.ts";
import { scopedUser } from "../session/identity.ts";
import type { Scope } from "../session/transcript.ts";

export function mountCompletions(app: App): void {
  app.post("/v1/chat/completions", async (context) => {
    const body = await readJson(context.req.raw);
    const request = parseChatRequest(body);
    const headers = parseTurnHeaders(context.req.raw.headers);
    const head = await requireHead(context, request.model);
    const keyId = context.var.key.id;
    const scope: Scope = { agent: head.agent, keyId, user: await scopedUser(keyId, request.user) };
    const requestDigest = await sha256(canonicalJson([scope, headers.sessionName, headers.turnKind, body]));
    const notes = headers.turnKind === "main" ? await getNotes(context.env, head, scope.user) : [];
    const answering = await dispatchTurn(context.env, toTurn({ request, headers, head, scope, notes, requestDigest }));
    return respond(context, request, answering);
  });
}

/** @throws {policy/unknown} where `model` names no agent that the key reaches */
async function requireHead({ env, var: { key } }: Context<AppEnv>, model: string): Promise<LineHead> {
  const named = AgentName.safeParse(model).success && reaches(key.agents, model);
  const head = named ? await getLineHead(env, model, SHARED_LINE) : undefined;
  if (head !== undefined) return head;
  throw new AppError("policy/unknown", `model: the name of an agent expected, got ${model}; GET /v1/models lists them`, {
    details: { param: "model", code: "model_not_found" },
  });
}

type TurnParts = {
  request: ChatRequest;
  headers: TurnHeaders;
  head: LineHead;
  scope: Scope;
  notes: readonly Note[];
  requestDigest: string;
};

function toTurn({ request, headers, head, scope, notes, requestDigest }: TurnParts): UnplacedTurn {
  const tools = request.tools ?? head.settings.tools;
  const { temperature, topP, stop, seed, answerLimit, logprobs, topLogprobs, parallelToolCalls, responseFormat } = request;
  return {
    scope,
    line: head.line,
    sessionName: headers.sessionName ?? checkName(request.sessionId, "session_id"),
    turnKind: headers.turnKind,
    closes: headers.closes,
    messages: request.messages,
    instructions: head.settings.instructions,
    tools,
    notes: promptNotes(notes, tools),
    policies: policiesOf(head),
    sampling: {
      seed,
      temperature,
      topP,
      stop,
      answerLimit,
      logprobs,
      topLogprobs,
      parallelToolCalls,
      responseFormat,
      toolChoice: toToolChoice(request.toolChoice, tools),
    },
    metadata: request.metadata,
    store: request.store ?? head.settings.store,
    learning: head.settings.learning.enabled,
    retry: { requestDigest, idempotencyKey: headers.idempotencyKey, retryCount: headers.retryCount },
  };
}

function policiesOf({ stable, stablePolicyDigest: policyDigest, baseDigest, adapter, canary, rolledBack }: LineHead): OfferedPolicies {
  const trial = canary === null ? null : { policy: canary, share: canary.share };
  return { stable: { version: stable, policyDigest, baseDigest, adapter }, canary: trial, rolledBack };
}

async function respond(context: Context<AppEnv>, request: ChatRequest, { head, deltas, sessionId }: Answering): Promise<Response> {
  const envelope: Envelope = {
    id: head.completionId,
    created: Math.floor(head.createdAt / 1000),
    model: request.model,
    system_fingerprint: fingerprint(head),
  };
  context.header("x-policy-version", String(head.policyVersion));
  context.header("x-policy-digest", head.policyDigest);
  context.header("x-session-id", sessionId);
  if (!request.stream) return context.json(await collectCompletion(readDeltas(deltas), { envelope, logprobs: request.logprobs }));
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(streamChunks(readDeltas(deltas), { envelope, includeUsage: request.includeUsage }));
}
