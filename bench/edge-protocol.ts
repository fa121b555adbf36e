/** What `edge-worker.ts` is sent and answers, as JSON. */
import type { CompletionRequest, EndStep } from "../edge/policy/completion.ts";

/** Files come from the worker's own store. */
export type PostedRequest = Omit<CompletionRequest, "readFile" | "signal">;
export type PostedAnswer = { tokens: { tokenId: number; logProb: number }[]; end: EndStep | undefined };
