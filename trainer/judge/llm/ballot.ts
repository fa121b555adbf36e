/** One answer of a server read as one vote. What cannot be read is a failed vote with its reason: counted, never guessed at or mended. */
import { z } from "zod";
import type { WrittenHint } from "../hints.ts";
import { parseObject } from "../../../shared/speech/calls.ts";
import { REWARDS, type Reward } from "../vote.ts";
import type { Completion } from "./server.ts";

/** Why an answer is no vote, or its hint none. */
export type BallotFault =
  | "vote/refused"
  | "vote/cutShort"
  | "vote/empty"
  | "vote/malformed"
  | "vote/outOfRange"
  | "vote/rejected"
  | "vote/unavailable"
  | "hint/empty"
  | "hint/tooLong";

export type Ballot =
  | {
      readonly status: "vote";
      readonly vote: Reward;
      readonly why: string;
      readonly hint: WrittenHint | null;
      readonly fault?: BallotFault;
    }
  | { readonly status: "failed"; readonly fault: BallotFault; readonly detail: string };

const PARAMETER_CHARS = 100;
const VALUE_CHARS = 200;

const Written = z.object({
  why: z.string().optional(),
  vote: z.unknown(),
  hint: z.object({ tool: z.string().optional(), parameter: z.string(), value: z.string() }).nullish(),
});

export function readBallot({ content, refusal, finishReason }: Completion): Ballot {
  if (refusal !== null || finishReason === "content_filter") return failed("vote/refused", refusal ?? "content_filter");
  if (finishReason === "length") return failed("vote/cutShort", `cut short after ${content?.length ?? 0} characters`);
  const text = (content ?? "").trim();
  if (text === "") return failed("vote/empty", `no text, finish_reason ${finishReason}`);
  const written = Written.safeParse(parseObject(bareJson(text)));
  if (!written.success) return failed("vote/malformed", text);
  const { vote: cast, why = "", hint } = written.data;
  const vote = REWARDS.find((each) => each === cast);
  if (vote === undefined) return failed("vote/outOfRange", `vote ${JSON.stringify(cast)}`);
  const fault = hint === null || hint === undefined ? undefined : hintFault(hint);
  return { status: "vote", vote, why, hint: fault === undefined ? (hint ?? null) : null, ...(fault === undefined ? {} : { fault }) };
}

/**
 * Servers without structured output wrap JSON in a code block, and reasoning models think aloud before it, some under a tag that their template
 * has opened; both are forms, not contents. What begins with the ballot may quote such a tag.
 */
function bareJson(text: string): string {
  const answer = text.replace(/^(?![{`])[\s\S]*?<\/think>\s*/, "");
  return /^```(?:json)?\s*\n([\s\S]*)\n```$/.exec(answer)?.[1] ?? answer;
}

function hintFault({ parameter, value }: WrittenHint): BallotFault | undefined {
  if (parameter.trim() === "" || value.trim() === "") return "hint/empty";
  return parameter.length > PARAMETER_CHARS || value.length > VALUE_CHARS ? "hint/tooLong" : undefined;
}

function failed(fault: BallotFault, detail: string): Ballot {
  return { status: "failed", fault, detail: detail.slice(0, VALUE_CHARS) };
}
