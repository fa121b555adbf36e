/** What the APIs that answer have in common: whose turn it is, what it is answered with, and what every answer states. */
import type { Context } from "hono";
import { AgentName } from "../../shared/agent.ts";
import { canonicalJson, sha256 } from "../../shared/digest.ts";
import { AppError } from "../../shared/errors.ts";
import { lineOf, SHARED_LINE, type LineHead } from "../../shared/policy.ts";
import { drawnBy } from "../../shared/sampling.ts";
import { getLineHead } from "../agent/head.ts";
import { getNotes } from "../agent/known-notes.ts";
import { promptNotes } from "../agent/notes.ts";
import { ownLineOf } from "../agent/own-line.ts";
import type { OwnLine } from "../agent/port.ts";
import type { AppEnv } from "../env.ts";
import { checkName, isName, type TurnHeaders } from "../openai/headers.ts";
import type { AskedTurn } from "../openai/request.ts";
import { allowedTools, toToolChoice } from "../openai/tools.ts";
import { reaches } from "../scope.ts";
import { dispatchTurn, type Answering } from "../session/dispatch.ts";
import { scopedUser } from "../session/identity.ts";
import type { OfferedPolicies, TurnHead } from "../session/port.ts";
import type { Scope } from "../session/transcript.ts";
import { offerTools, type ToolOffer } from "../tools/offer.ts";

/** @throws {policy/unknown} where `model` names no agent that the key reaches */
export async function requireHead({ env, var: { key } }: Context<AppEnv>, model: string): Promise<LineHead> {
  const named = AgentName.safeParse(model).success && reaches(key.agents, model);
  const head = named ? await getLineHead(env, model, SHARED_LINE) : undefined;
  if (head !== undefined) return head;
  throw new AppError("policy/unknown", `model: the name of an agent expected, got ${model}; GET /v1/models lists them`, {
    details: { param: "model", code: "model_not_found" },
  });
}

/** Whose conversation it is. */
export async function scopeOf({ var: { key } }: Context<AppEnv>, { model, user }: Pick<AskedTurn, "model" | "user">): Promise<Scope> {
  return { agent: model, keyId: key.id, user: await scopedUser(key.id, user) };
}

/** The client's own name of the conversation. @throws {input/invalid} */
export async function sessionNameOf(
  { sessionName }: TurnHeaders,
  { sessionId, metadata }: Pick<AskedTurn, "sessionId" | "metadata">,
): Promise<string | undefined> {
  return sessionName ?? checkName(sessionId, "session_id") ?? (await nameInMetadata(metadata["session_id"]));
}

/** Metadata holds whatever its sender likes: what no header could be stands for a name by its digest, and an empty text for none. */
async function nameInMetadata(text: string | undefined): Promise<string | undefined> {
  if (text === undefined || text === "") return undefined;
  return isName(text) ? text : sha256(canonicalJson(["metadata.session_id", text]));
}

type TurnParts = {
  readonly request: AskedTurn;
  readonly headers: TurnHeaders;
  readonly head: LineHead;
  readonly scope: Scope;
  readonly sessionName: string | undefined;
  /** The turn that the client says it follows. */
  readonly follows?: string | undefined;
  /** As it came, by which a retry is recognised. */
  readonly body: unknown;
  /** What can be called, and by whom it is run. */
  readonly offer: ToolOffer;
  /** As `TurnRequest` has it. */
  readonly asked: string | null;
};

/** Dispatches the turn to its session, and states in the answer's headers which version answers in which session. */
export async function answerTurn(context: Context<AppEnv>, parts: TurnParts): Promise<Answering> {
  const { request, headers, head, scope, sessionName, follows, body, offer, asked } = parts;
  const turnKind = headers.turnKind ?? request.turnKind ?? "main";
  const requestDigest = await sha256(canonicalJson([scope, headers.sessionName, turnKind, body]));
  const own = await ownLineOf(context.env, head, scope.user);
  const notes = turnKind !== "main" ? [] : (own?.notes ?? (await getNotes(context.env, head, scope.user)));
  const { runners } = offer;
  const tools = allowedTools(request.toolChoice, offer.tools);
  const { stop, seed, answerLimit, logprobs, topLogprobs, parallelToolCalls, responseFormat } = request;
  const toolChoice = toToolChoice(request.toolChoice, tools);
  const answering = await dispatchTurn(context.env, {
    scope,
    line: lineOf(head.settings.learning, scope.user),
    sessionName,
    turnKind,
    closes: headers.closes ?? request.closes ?? false,
    messages: request.messages,
    instructions: head.settings.instructions,
    tools,
    runners,
    maxToolSteps: head.settings.maxToolSteps,
    notes: promptNotes(notes, tools),
    policies: policiesOf(head, own),
    engine: head.settings.engine,
    sampling: {
      ...{ seed, stop, answerLimit, logprobs, topLogprobs, parallelToolCalls, responseFormat, toolChoice },
      ...drawnBy(request, head.settings),
    },
    truncation: request.truncation,
    metadata: request.metadata,
    store: storeOf(request, head),
    asked,
    follows,
    learning: head.settings.learning.enabled,
    retry: { requestDigest, idempotencyKey: headers.idempotencyKey, retryCount: headers.retryCount },
  });
  stateVersion(context, answering.head);
  context.header("x-session-id", answering.sessionId);
  return answering;
}

/** What the request's turn can call. @throws as `offerTools` */
export function offerOf({ env }: Context<AppEnv>, { tools }: Pick<AskedTurn, "tools">, { settings }: LineHead): Promise<ToolOffer> {
  return offerTools(env, tools, settings);
}

export function storeOf({ store }: Pick<AskedTurn, "store">, { settings }: LineHead): boolean {
  return store ?? settings.store;
}

/** Which version answered. */
export function stateVersion(context: Context<AppEnv>, { policyLine, policyVersion, policyDigest }: TurnHead): void {
  context.header("x-policy-line", policyLine);
  context.header("x-policy-version", String(policyVersion));
  context.header("x-policy-digest", policyDigest);
}

export function respondEvents(context: Context<AppEnv>, events: ReadableStream<Uint8Array>): Response {
  context.header("content-type", "text/event-stream; charset=utf-8");
  context.header("cache-control", "no-cache");
  return context.body(events);
}

/** A user who has a version of their own gets it, and no other line's canary. */
function policiesOf(head: LineHead, own: OwnLine | undefined): OfferedPolicies {
  const { line, stable, stablePolicyDigest: policyDigest, baseDigest, adapter, onEngine, defaults, answering, canary, engineBase } = head;
  const rolledBack = { [line]: head.rolledBack, ...(own === undefined ? {} : { [own.line]: own.rolledBack }) };
  if (own !== undefined && own.policy !== null) return { stable: own.policy, canary: null, rolledBack, engineBase };
  const trial = canary === null ? null : { policy: canary, share: canary.share };
  return {
    stable: { line, version: stable, policyDigest, baseDigest, adapter, onEngine, defaults, answering },
    canary: trial,
    rolledBack,
    engineBase,
  };
}
