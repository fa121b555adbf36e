/**
 * /v1/responses: the Responses API over the very turns of chat completions. An id leads to its session, so a conversation
 * goes on by the id of its last response, or by its transcript like any other.
 */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { drawnBy } from "../../shared/sampling.ts";
import type { App } from "../env.ts";
import { readJson } from "../http-errors.ts";
import { readDeltas } from "../openai/deltas.ts";
import { parseTurnHeaders } from "../openai/headers.ts";
import { streamEvents } from "../openai/sse.ts";
import { collectResponse, responseEvents, toEventText } from "../responses/answer.ts";
import { InputItemsQuery, pageOf } from "../responses/input-items.ts";
import { Include, parseResponseRequest, toAskedTurn } from "../responses/request.ts";
import { toolsOnWire } from "../responses/tools.ts";
import { toEcho } from "../responses/wire.ts";
import { answerTurn, offerOf, requireHead, respondEvents, scopeOf, sessionNameOf, stateVersion, storeOf } from "./answering.ts";
import { queryOf } from "./params.ts";
import { baseOf, forgetResponse, nameWithin, recallItems, recallPrevious, recallResponse } from "./recall.ts";

/** What is stored is given back whole: it is not streamed again, and includes what it was made with, whether that is asked for again or not. */
export const RetrieveQuery = z.strictObject({
  stream: z.literal("false").optional(),
  include: Include.optional(),
  /** As OpenAI's clients write it. */
  "include[]": Include.optional(),
});

/** Operations of the API that this server has not, with what to do instead. */
const ELSEWHERE = {
  "/v1/responses/compact": 'set truncation to "auto", and long conversations lose their oldest messages',
  "/v1/responses/input_tokens": "the usage of an answer tells them, and a conversation that is too long is refused with the count",
  "/v1/responses/:response/cancel":
    "responses in the background alone can be cancelled, and there are none; close the connection of a stream",
};

export function mountResponses(app: App): void {
  for (const [route, advice] of Object.entries(ELSEWHERE))
    app.post(route, ({ req }) => {
      throw new AppError("input/unsupported", `POST ${req.path} is not supported; ${advice}`);
    });
  app.post("/v1/responses", async (context) => {
    const body = await readJson(context.req.raw);
    const parameters = parseResponseRequest(body);
    const headers = parseTurnHeaders(context.req.raw.headers);
    const head = await requireHead(context, parameters.model);
    const previous = await recallPrevious(context, parameters);
    const request = toAskedTurn(await recallItems(context, parameters), previous);
    const named = await sessionNameOf(headers, request);
    const sessionName = previous === undefined ? named : await nameWithin(previous, { named, line: head.line });
    const scope = previous?.scope ?? (await scopeOf(context, request));
    const offer = await offerOf(context, request, head);
    const echo = toEcho(parameters, { tools: toolsOnWire(offer), store: storeOf(request, head), drawn: drawnBy(request, head.settings) });
    const parts = { request, headers, head, scope, sessionName, follows: previous?.turnId, body, offer, asked: JSON.stringify(echo) };
    const answering = await answerTurn(context, parts).catch(throwInOwnTerms);
    const [deltas, base] = [readDeltas(answering.deltas), baseOf(answering.head, echo)];
    if (parameters.stream !== true) return context.json(await collectResponse(deltas, base));
    return respondEvents(context, streamEvents(toEventText(responseEvents(deltas, base)), deltas));
  });
  app.get("/v1/responses/:response", async (context) => {
    queryOf(context, RetrieveQuery, { lists: ["include", "include[]"] });
    const { head, response } = await recallResponse(context, context.req.param("response"));
    stateVersion(context, head);
    return context.json(response);
  });
  app.get("/v1/responses/:response/input_items", async (context) => {
    const query = queryOf(context, InputItemsQuery);
    const { response, messages } = await recallResponse(context, context.req.param("response"));
    return context.json(pageOf(messages, { ...query, responseId: response.id }));
  });
  app.delete("/v1/responses/:response", async (context) => {
    const id = context.req.param("response");
    await forgetResponse(context, id);
    return context.json({ id, object: "response", deleted: true });
  });
}

/** Sessions speak of `messages`; this API calls them `input`. */
function throwInOwnTerms(thrown: unknown): never {
  if (!(thrown instanceof AppError) || thrown.details["param"] !== "messages") throw thrown;
  const message = thrown.message.replace(/^messages:/, "input:");
  throw new AppError(thrown.code, message, { details: { ...thrown.details, param: "input" }, cause: thrown });
}
