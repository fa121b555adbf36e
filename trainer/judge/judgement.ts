/** Judgements as the log keeps them. A rebuild reads them back and never judges again. */
import type { z } from "zod";
import { type EventHeader, judgementIdOf, type JudgementMade } from "../../shared/events.ts";
import { parseHint } from "../../shared/jobs.ts";
import type { Signal } from "../data/exchange.ts";
import { DETAIL_CHARS, REFUSAL_CODES } from "../data/refusal.ts";
import { firstTool } from "../../shared/speech/calls.ts";
import { toldBy } from "../learn/form.ts";
import { groundAspect } from "./aspects.ts";
import { groundHint, heldText, lastCall } from "./ground.ts";
import type { Verdict } from "./judge.ts";
import type { Reward } from "./vote.ts";

type Judgement = z.infer<typeof EventHeader> & { payload: z.infer<typeof JudgementMade> };

export function toJudgement(signal: Signal, verdict: Verdict, now: Date): Judgement {
  const { event, exchange, feedback } = signal;
  const { judge, reward, votes, hint, refused, poll } = verdict;
  const told = toldBy(signal, verdict);
  const tool = firstTool(feedback?.answer);
  const { agent, line, sessionId, turnId, user, keyId, eventId } = event;
  const held = hint === undefined ? undefined : heldText(lastCall(exchange, hint.toolName), hint.hint.parameter);
  const payload: Judgement["payload"] = {
    kind: "judgement:made",
    subject: eventId,
    reward,
    votes: [...votes],
    judge,
    ...(hint === undefined ? {} : { hint: hint.text, tool: hint.toolName }),
    ...(held === undefined ? {} : { held }),
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

export function verdictFromLog(
  { judge, reward, votes, hint, tool, refused, poll }: z.infer<typeof JudgementMade>,
  signal: Signal,
): Verdict {
  const code = REFUSAL_CODES.find((known) => known === refused?.code);
  const verdict = {
    judge,
    reward: toReward(reward),
    votes: votes.map(toReward),
    detail: "read from the log",
    ...(poll === undefined ? {} : { poll }),
    ...(code === undefined || refused === undefined ? {} : { refused: { code, detail: refused.detail } }),
  };
  const parsed = hint === undefined ? undefined : parseHint(hint);
  if (parsed?.kind !== "hint") return verdict;
  const grounded = groundAspect(parsed.hint, tool, signal) ?? groundHint(parsed.hint, signal);
  if (grounded.status === "refused") return { ...verdict, refused: { code: grounded.code, detail: grounded.detail } };
  return { ...verdict, hint: { text: parsed.text, hint: grounded.hint, toolName: grounded.toolName } };
}

function toReward(value: number): Reward {
  return value > 0 ? 1 : value < 0 ? -1 : 0;
}
