/** POST /v1/feedback, POST /api/agents/:agent/feedback: what a person or a program says outright about an answer. */
import type { Context } from "hono";
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import { FeedbackAnswer, toAnswer } from "../openai/messages.ts";
import type { App, AppEnv } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { parseAnswerId } from "../session/identity.ts";
import { sessionOf, type FeedbackRequest } from "../session/port.ts";
import { actorOf, agentParam } from "./params.ts";

const MAX_TEXT = 4_000; // characters; longer than any context that could use it

const Said = z.string().max(MAX_TEXT).regex(/\S/, "words expected, got none");

export const Feedback = z
  .strictObject({
    /** Of a chat completion or of a response. */
    completion_id: z.string(),
    /** From −1, wrong, to +1, right. */
    score: z.number().min(-1).max(1).optional(),
    /** What the answer should have been, or what should have been different. */
    correction: Said.optional(),
    /** The answer itself as it should have been: text or tool calls, in the form of an assistant message. */
    answer: FeedbackAnswer.optional(),
    comment: Said.optional(),
  })
  .refine(
    ({ score, correction, answer, comment }) => [score, correction, answer, comment].some((given) => given !== undefined),
    "score, correction, answer or comment expected, got none",
  )
  .refine(({ correction, answer }) => correction === undefined || answer === undefined, {
    error: "nothing beside a correction expected, got both",
    path: ["answer"],
  });

export function mountFeedback(app: App): void {
  app.post("/v1/feedback", (context) => giveFeedback(context, { keyId: context.var.key.id }));
}

/** POST /api/agents/:agent/feedback: the same by whoever looks after the agent, about any user's turn and in that user's name. */
export function mountReview(app: App): void {
  app.post("/api/agents/:agent/feedback", (context) => giveFeedback(context, { agent: agentParam(context), actor: actorOf(context) }));
}

async function giveFeedback(context: Context<AppEnv>, by: FeedbackRequest["by"]): Promise<Response> {
  const { completion_id: completionId, answer, ...words } = await parseJson(context.req.raw, Feedback);
  const given = answer === undefined ? words : { ...words, answer: toAnswer(answer) };
  const ids = parseAnswerId(completionId);
  const result =
    ids === undefined
      ? { status: "unknown" as const }
      : await sessionOf(context.env, ids.sessionId).giveFeedback({ completionId, by, ...given });
  if (result.status === "recorded") return context.json({ object: "feedback", completion_id: completionId, event_id: result.eventId });
  if (result.status === "full")
    throw new AppError(
      "session/conflict",
      `completion_id: at most ${result.most} pieces of feedback on one answer expected, got one more; what was given last stands`,
      { details: { param: "completion_id" } },
    );
  const whose = "agent" in by ? `agent ${by.agent}` : "this key";
  throw new AppError("input/notFound", `completion_id: a stored completion of ${whose} expected, got ${completionId}`, {
    details: { param: "completion_id" },
  });
}
