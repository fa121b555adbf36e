/** Responses by their id: to be read again, and to be continued. */
import type { Context } from "hono";
import type { ChatMessage } from "../../shared/chat.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppEnv } from "../env.ts";
import { invalid } from "../openai/refuse.ts";
import { userOf } from "../openai/request.ts";
import { collectResponse } from "../responses/answer.ts";
import { referredResponses, withReferred } from "../responses/references.ts";
import type { FullParameters, PreviousResponse, ResponseParameters } from "../responses/request.ts";
import type { ResponseBase, ResponseEcho, ResponseOnWire } from "../responses/wire.ts";
import { identifySession, parseAnswerId, scopedUser, responseIdOf } from "../session/identity.ts";
import { sessionOf, type RecallResult, type TurnHead } from "../session/port.ts";
import type { Scope } from "../session/transcript.ts";

const PARAM = "previous_response_id";

/** The response before, and whose and where its conversation is. */
export type Continued = PreviousResponse & { readonly scope: Scope; readonly sessionId: string; readonly turnId: string };

type Recalled = Extract<RecallResult, { status: "recalled" }>;
type Unstored = Exclude<RecallResult, Recalled>;

export function baseOf({ completionId, createdAt }: TurnHead, echo: ResponseEcho): ResponseBase {
  return { id: responseIdOf(completionId), createdAt: Math.floor(createdAt / 1000), echo };
}

/** A stored response of the key, and the conversation that it answered. @throws {input/notFound} */
export async function recallResponse(
  context: Context<AppEnv>,
  id: string,
): Promise<{ head: TurnHead; response: ResponseOnWire; messages: readonly ChatMessage[] }> {
  const result = await recall(context, id);
  if (result.status !== "recalled") throw notFound(result, id);
  const response = await responseOf(result);
  return { head: result.head, response, messages: spokenIn(result, response) };
}

/** Makes a stored response of the key one that can no longer be read or continued by its id. @throws {input/notFound} */
export async function forgetResponse({ env, var: { key } }: Context<AppEnv>, id: string): Promise<void> {
  const ids = parseAnswerId(id);
  const result =
    ids === undefined ? { status: "unknown" as const } : await sessionOf(env, ids.sessionId).forget({ turnId: ids.turnId, keyId: key.id });
  if (result.status !== "forgotten") throw notFound(result, id);
}

/** The response that a request continues. @throws {input/invalid} where it is not stored, or is of another model or user */
export async function recallPrevious(context: Context<AppEnv>, parameters: ResponseParameters): Promise<Continued | undefined> {
  const { previous_response_id: id, model } = parameters;
  if (id === undefined || id === null) return undefined;
  const result = await recall(context, id);
  if (result.status !== "recalled")
    throw new AppError("input/invalid", `${PARAM}: ${expectedOf(result)}, got ${id}; send the whole conversation as input instead`, {
      details: { param: PARAM, code: "previous_response_not_found" },
    });
  const { scope, sessionId, turnId } = result;
  if (scope.agent !== model)
    throw invalid(
      PARAM,
      `a response of model ${model} expected, got one of ${scope.agent}; send the conversation as input to change the model`,
    );
  const user = userOf(parameters);
  if (user !== undefined && (await scopedUser(scope.keyId, user)) !== scope.user)
    throw invalid(PARAM, "a response to the same user expected, got another's; send user and safety_identifier as then, or neither");
  const response = await responseOf(result);
  return { scope, sessionId, turnId, messages: spokenIn(result, response), output: response.output };
}

/** The parameters with the items that the input refers to. @throws {input/invalid} where one is not stored, or is of another user */
export async function recallItems(context: Context<AppEnv>, parameters: ResponseParameters): Promise<FullParameters> {
  const user = userOf(parameters);
  const recalled = await Promise.all(
    referredResponses(parameters).map(async (id) => {
      const result = await recall(context, id);
      if (result.status !== "recalled") return [];
      const isOthers = user !== undefined && (await scopedUser(result.scope.keyId, user)) !== result.scope.user;
      return isOthers ? [] : (await responseOf(result)).output;
    }),
  );
  return withReferred(parameters, recalled.flat());
}

/** The name to continue a conversation under. @throws {input/invalid} where the client names another session than the one it is in */
export async function nameWithin(
  { scope, sessionId }: Continued,
  { named, line }: { named: string | undefined; line: string },
): Promise<string> {
  if (named === undefined || named === sessionId) return sessionId;
  if ((await identifySession(scope, { name: named, line })).sessionId === sessionId) return sessionId;
  throw invalid(PARAM, `a response of session ${named} expected, got one of ${sessionId}; leave out the name of the session`);
}

async function recall({ env, var: { key } }: Context<AppEnv>, id: string): Promise<RecallResult> {
  const ids = parseAnswerId(id);
  if (ids === undefined) return { status: "unknown" };
  return sessionOf(env, ids.sessionId).recall({ turnId: ids.turnId, keyId: key.id });
}

/** The conversation without the instructions, which are of one response alone. */
function spokenIn({ messages }: Recalled, { instructions }: ResponseOnWire): readonly ChatMessage[] {
  return messages.slice((instructions ?? "") === "" ? 0 : 1);
}

async function responseOf({ head, asked, deltas }: Recalled): Promise<ResponseOnWire> {
  // The route writes it from the same type.
  return collectResponse(deltas, baseOf(head, JSON.parse(asked) as ResponseEcho));
}

function notFound(result: Unstored, id: string): AppError {
  return new AppError("input/notFound", `response: ${expectedOf(result)}, got ${id}`, { details: { param: "response" } });
}

function expectedOf({ status }: Unstored): string {
  const expected = "the id of a stored response to this key expected";
  return status === "unstored" ? `${expected}, and with store: false nothing is stored` : expected;
}
