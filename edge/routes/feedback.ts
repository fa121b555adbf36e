/** POST /v1/feedback: what a person or a program says outright about an answer. */
import { z } from "zod";
import { AppError } from "../../shared/errors.ts";
import type { App } from "../env.ts";
import { parseJson } from "../http-errors.ts";
import { parseAnswerId } from "../session/identity.ts";
import { sessionOf } from "../session/port.ts";

const MAX_TEXT = 4_000; // characters; longer than any context that could use it

export const Feedback = z
  .strictObject({
    /** Of a chat completion or of a response. */
    completion_id: z.string(),
    /** From −1, wrong, to +1, right. */
    score: z.number().min(-1).max(1).optional(),
    /** What the answer should have been, or what should have been different. */
    correction: z.string().min(1).max(MAX_TEXT).optional(),
    comment: z.string().min(1).max(MAX_TEXT).optional(),
  })
  .refine(
    ({ score, correction, comment }) => score !== undefined || correction !== undefined || comment !== undefined,
    "score, correction or comment expected, got none",
  );

export function mountFeedback(app: App): void {
  app.post("/v1/feedback", async (context) => {
    const { completion_id: completionId, ...given } = await parseJson(context.req.raw, Feedback);
    const ids = parseAnswerId(completionId);
    const result =
      ids === undefined
        ? { status: "unknown" as const }
        : await sessionOf(context.env, ids.sessionId).giveFeedback({ completionId, keyId: context.var.key.id, ...given });
    if (result.status === "recorded") return context.json({ object: "feedback", completion_id: completionId, event_id: result.eventId });
    throw new AppError("input/notFound", `completion_id: a stored completion of this key expected, got ${completionId}`, {
      details: { param: "completion_id" },
    });
  });
}
