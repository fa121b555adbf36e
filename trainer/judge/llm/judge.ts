/**
 * The LLM judge: m votes asked of a server side by side, each with the hint that goes with it. Votes that fail are counted by
 * reason. More than half of them must be readable; where they are not because the server is away, nothing is judged yet, unless it answers
 * others all the while.
 */
import { AppError } from "../../../shared/errors.ts";
import type { Poll } from "../../../shared/events.ts";
import type { JudgeServer } from "../../../shared/judge.ts";
import type { Signal } from "../../data/exchange.ts";
import { Random } from "../../random.ts";
import type { HintFinder } from "../feedback.ts";
import { withFurther } from "../further.ts";
import { mostFrequentHint, standingHint } from "../hints.ts";
import type { Verdict } from "../judge.ts";
import { countVotes, disagreementOf } from "../vote.ts";
import { readBallot, type Ballot, type BallotFault } from "./ballot.ts";
import { judgeKey } from "./key.ts";
import { FailingSignals } from "./outage.ts";
import { ballotPrompt, INSTRUCTIONS_DIGEST } from "./prompt.ts";
import { ChatServer, type Completion } from "./server.ts";

export type LlmOptions = {
  /** Where keys are looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
  readonly signal?: AbortSignal;
  /** Of one request, ms. */
  readonly timeoutMs?: number;
};

type Asked = { readonly server: JudgeServer; readonly votes: number; readonly seed: number };
type Vote = Extract<Ballot, { status: "vote" }>;
type Polled = {
  readonly votes: readonly Vote[];
  readonly poll: Poll;
  readonly details: readonly string[];
  /** The server fails on this signal whenever it is asked. */
  readonly isGivenUp: boolean;
};
type Asking = { readonly chat: ChatServer; readonly failing: FailingSignals };

export class LlmJudge {
  readonly #options: LlmOptions;
  readonly #now: () => number;
  readonly #servers = new Map<string, Asking>();

  constructor(options: LlmOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** @throws {judge/unavailable} where the signal has to be judged later */
  async judge(signal: Signal, asked: Asked): Promise<Verdict | undefined> {
    if (signal.exchange.nextState.length === 0) return undefined;
    const { votes: cast, poll, details, isGivenUp } = await this.#poll(signal, asked);
    const votes = cast.map(({ vote }) => vote);
    if (votes.length * 2 <= asked.votes) {
      const detail = `more than half of ${asked.votes} votes readable expected, got ${votes.length}: ${details.join("; ")}`;
      return {
        judge: "llm",
        reward: 0,
        votes,
        detail,
        poll,
        refused: { code: isGivenUp ? "judge/unavailable" : "judge/unparsable", detail },
      };
    }
    const reward = countVotes(votes);
    const detail = cast.find(({ vote }) => vote === reward)?.why ?? "by votes";
    const verdict = { judge: "llm", reward, votes, detail, poll } as const;
    return reward < 0 ? { ...verdict, ...chooseHint(cast, signal, details) } : verdict;
  }

  /** Reads a correction in words: its vote is known, so one ballot is asked for its hint alone. @throws {judge/unavailable} */
  hintsBy(server: JudgeServer): HintFinder {
    return async (signal, { seed }) => {
      const { votes, poll, details, isGivenUp } = await this.#poll(signal, { server, votes: 1, seed });
      if (isGivenUp) return { refused: { code: "judge/unavailable", detail: details.join("; ") }, poll };
      return { ...chooseHint(votes, signal, details), poll };
    };
  }

  async #poll(signal: Signal, { server, votes, seed }: Asked): Promise<Polled> {
    const { eventId } = signal.event;
    const { chat, failing } = this.#serverOf(server);
    const pausedMs = failing.until(eventId) - this.#now();
    if (pausedMs > 0) throw chat.pausedFor(pausedMs);
    const meter = { requests: 0 };
    const messages = await ballotPrompt(signal);
    const results = await Promise.allSettled(
      Array.from({ length: votes }, (_, index) => chat.complete(messages, { seed: seed + index, meter })),
    );
    const ballots = results.map((result) => (result.status === "fulfilled" ? readBallot(result.value) : failedBallot(result.reason)));
    const cast = ballots.filter((ballot) => ballot.status === "vote");
    const away = results.find((result) => result.status === "rejected" && codeOf(result.reason) === "judge/unavailable");
    // What the server would have said is not known, and without it there is no majority.
    const isAway = away?.status === "rejected" && cast.length * 2 <= votes;
    if (!isAway) failing.answered(eventId);
    // Where the server was in a pause, nothing was asked that it could have failed on.
    else if (meter.requests === 0 || !failing.failed(eventId, chat.pausedUntil)) throw away.reason;
    const completions = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const poll: Poll = {
      model: server.model,
      promptDigest: INSTRUCTIONS_DIGEST,
      asked: votes,
      failed: countFaults(ballots),
      disagreement: disagreementOf(cast.map(({ vote }) => vote)),
      requests: meter.requests,
      promptTokens: sumOf(completions.map(({ promptTokens }) => promptTokens)),
      completionTokens: sumOf(completions.map(({ completionTokens }) => completionTokens)),
    };
    const details = ballots.flatMap((each) => (each.status === "failed" ? [`${each.fault} ${each.detail}`] : []));
    return { votes: cast, poll, details, isGivenUp: isAway };
  }

  /** One for each server, so that all agents that it judges for know when it is away. */
  #serverOf(server: JudgeServer): Asking {
    const { environment, signal, timeoutMs } = this.#options;
    const key = judgeKey(server, environment);
    const name = JSON.stringify(server);
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    const { url, model, templateArguments } = server;
    const limits = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const chat = new ChatServer({ url, model, key, templateArguments, random: new Random(process.pid), now: this.#now, ...limits });
    const made = { chat, failing: new FailingSignals() };
    this.#servers.set(name, made);
    return made;
  }
}

/** Of the ballots that reject the answer. */
function chooseHint(cast: readonly Vote[], signal: Signal, details: readonly string[]): Pick<Verdict, "hint" | "further" | "refused"> {
  const against = cast.filter(({ vote }) => vote < 0);
  const hints = against.flatMap(({ hint }) => (hint === null ? [] : [hint]));
  if (hints.length > 0) return withFurther(standingHint(mostFrequentHint(hints, signal), signal), signal);
  const faults = [...cast.flatMap(({ fault }) => (fault === undefined ? [] : [fault])), ...details];
  return {
    refused: { code: "hint/none", detail: `no hint in ${cast.length} ballots${faults.length === 0 ? "" : `; ${faults.join("; ")}`}` },
  };
}

/** A request that the server will not have fails its vote; one that did not reach it, too. @throws what is neither */
function failedBallot(reason: unknown): Ballot {
  const code = codeOf(reason);
  if (code !== "upstream/invalid" && code !== "judge/unavailable") throw reason;
  const fault = code === "upstream/invalid" ? "vote/rejected" : "vote/unavailable";
  return { status: "failed", fault, detail: reason instanceof Error ? reason.message : String(reason) };
}

function codeOf(reason: unknown): string | undefined {
  return reason instanceof AppError ? reason.code : undefined;
}

function countFaults(ballots: readonly Ballot[]): Record<string, number> {
  const counts: Partial<Record<BallotFault, number>> = {};
  for (const { fault } of ballots) if (fault !== undefined) counts[fault] = (counts[fault] ?? 0) + 1;
  return counts;
}

/** Null where one is not known: a sum of the others would look like the whole. */
function sumOf(numbers: readonly Completion["promptTokens"][]): number | null {
  return numbers.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0);
}
