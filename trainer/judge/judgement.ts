/** Judgements as the log keeps them. A rebuild reads them back and never judges again. */
import type { z } from "zod";
import { type EventHeader, hintsOf, judgementIdOf, type JudgementMade } from "../../shared/events.ts";
import { parseHint } from "../../shared/jobs.ts";
import type { Signal } from "../data/exchange.ts";
import { DETAIL_CHARS, REFUSAL_CODES } from "../data/refusal.ts";
import { firstTool } from "../../shared/speech/calls.ts";
import { toldBy } from "../learn/batch/form.ts";
import { groundAspect } from "./aspects.ts";
import { fence } from "./fence.ts";
import { heldText, lastCall } from "../../shared/correction/ground.ts";
import type { HeardHint, Verdict } from "./judge.ts";
import { groundInPart } from "./parts.ts";
import type { Reward } from "./vote.ts";

type Judgement = z.infer<typeof EventHeader> & { payload: z.infer<typeof JudgementMade> };

export function toJudgement(signal: Signal, verdict: Verdict, now: Date): Judgement {
  const { event, exchange, feedback } = signal;
  const { judge, reward, votes, hint, further, refused, poll } = verdict;
  const told = toldBy(signal, verdict);
  const tool = firstTool(feedback?.answer);
  const { agent, line, sessionId, turnId, user, keyId, eventId } = event;
  const written = ({ text, toolName, hint: { parameter } }: HeardHint): { hint: string; tool: string; held?: string } => {
    const held = heldText(lastCall(exchange, toolName), parameter);
    return { hint: text, tool: toolName, ...(held === undefined ? {} : { held }) };
  };
  const payload: Judgement["payload"] = {
    kind: "judgement:made",
    subject: eventId,
    reward,
    votes: [...votes],
    judge,
    ...(hint === undefined ? {} : written(hint)),
    ...(further === undefined ? {} : { further: further.map(written) }),
    ...(told === undefined || told === "hint" ? {} : { teaches: told }),
    ...(told === "answer" && tool !== undefined ? { tool } : {}),
    ...(refused === undefined ? {} : { refused: { code: refused.code, detail: refused.detail.slice(0, DETAIL_CHARS) } }),
    ...(poll === undefined ? {} : { poll }),
  };
  return {
    eventId: judgementIdOf(eventId),
    agent,
    line,
    sessionId,
    turnId,
    user,
    ...(keyId === undefined ? {} : { keyId }),
    createdAt: now.toISOString(),
    payload,
  };
}

/** What was judged, grounded again in the words that the judge was shown. */
export function verdictFromLog(judgement: z.infer<typeof JudgementMade>, heard: Signal): Verdict {
  const signal = { ...heard, exchange: fence(heard.exchange) };
  const { judge, reward, votes, refused, poll } = judgement;
  const code = REFUSAL_CODES.find((known) => known === refused?.code);
  const verdict = {
    judge,
    reward: toReward(reward),
    votes: votes.map(toReward),
    detail: "read from the log",
    ...(poll === undefined ? {} : { poll }),
    ...(code === undefined || refused === undefined ? {} : { refused: { code, detail: refused.detail } }),
  };
  const [first, ...others] = hintsOf(judgement).flatMap(({ hint, tool }) => {
    const parsed = parseHint(hint);
    return parsed.kind === "hint" ? [{ text: parsed.text, hint: parsed.hint, tool }] : [];
  });
  if (first === undefined) return verdict;
  const grounded = groundAspect(first.hint, first.tool, signal) ?? groundInPart(first.hint, signal);
  // Further ones keep their places, by which they are known.
  const further = others.map(({ text, hint, tool: toolName = "" }) => ({ text, hint, toolName }));
  return {
    ...verdict,
    ...(grounded.status === "refused"
      ? { refused: { code: grounded.code, detail: grounded.detail } }
      : { hint: { text: first.text, hint: grounded.hint, toolName: grounded.toolName } }),
    ...(further.length > 0 && { further }),
  };
}

function toReward(value: number): Reward {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}
