/** What a version says about itself: how far it has moved, and the corrected turns answered again. */
import { zipStrict } from "../../../shared/assert.ts";
import { untold } from "../../data/exchange.ts";
import { givenTokens } from "../../data/turn-text.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import { readCalls } from "../../../shared/speech/calls.ts";
import { isReplyAspect, repliedTool } from "../../../shared/wording.ts";
import { writtenText } from "../../teacher/answer-text.ts";
import type { AskPolicy } from "../../teacher/lead.ts";
import type { LearnerDependencies } from "./candidate.ts";
import type { CorrectedExchange } from "./learner.ts";
import type { Change } from "./result.ts";
import type { Row } from "../lesson/rows.ts";
import { meanKlNats, scoreRows } from "../lesson/scores.ts";

/** Mean over rows of the mean KL(from ‖ to) per token between two adapters, nats; undefined is the bare base. */
export async function driftBetween(
  { engine, base }: LearnerDependencies,
  rows: readonly Row[],
  { from, to }: { from: string | undefined; to: string },
): Promise<number> {
  const { vocabSize } = base.config;
  const before = await scoreRows(engine, rows, { adapter: from, full: true, vocabSize });
  const after = await scoreRows(engine, rows, { adapter: to, full: true, vocabSize });
  const drifts = zipStrict(before, after).map(([p, q]) => meanKlNats(p.full, q.full, vocabSize));
  return drifts.reduce((sum, drift) => sum + drift, 0) / Math.max(1, drifts.length);
}

/** The corrected turns that are answered again. */
export function changedTurns(group: readonly CorrectedExchange[]): CorrectedExchange["turns"] {
  return group.flatMap(({ correction: { tool, parameter }, turns: own }) =>
    own.filter(({ payload: { messages, answer } }) =>
      isReplyAspect(parameter.name)
        ? repliedTool(messages) === tool.function.name
        : readCalls(answer).some(({ name }) => name === tool.function.name),
    ),
  );
}

/** What a policy answers to the corrected turns, as tokens, without the notes of then: what the version does. */
export async function answerAgain(
  { base: { tokenizer } }: Pick<LearnerDependencies, "base">,
  { turns, ask }: { turns: CorrectedExchange["turns"]; ask: AskPolicy },
): Promise<readonly (readonly number[])[]> {
  const asked = turns.map(({ payload }) => {
    const { messages, tools, notes, heldTo, agreedTo, rollout } = payload;
    const isPlain = notes === undefined && heldTo === undefined && agreedTo === undefined && untold(payload) === undefined;
    return { prompt: isPlain ? rollout.promptTokens : tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true }), tools };
  });
  return ask(asked);
}

/** The corrected turns answered again, for people to read. */
export async function describeChanges(
  deps: LearnerDependencies,
  { group, ask }: { group: readonly CorrectedExchange[]; ask: AskPolicy },
): Promise<Change[]> {
  const { tokenizer } = deps.base;
  const turns = changedTurns(group);
  return zipStrict(turns, await answerAgain(deps, { turns, ask })).map(([{ payload }, answer]) => ({
    prompt: askedWords(payload.messages),
    before: writtenText(tokenizer, givenTokens(tokenizer, payload) ?? tokenizer.encode(payload.answer.content ?? "")),
    after: writtenText(tokenizer, answer),
  }));
}

/** What the user asked for, for people: all that they said since anything was called, as a last word may be a mere yes to a question. */
export function askedWords(messages: readonly ChatMessage[]): string {
  const asked = messages.slice(0, messages.findLastIndex(({ role }) => role === "user") + 1);
  const since = asked.slice(asked.findLastIndex(({ role }) => role === "tool") + 1);
  return since.flatMap((message) => (message.role === "user" ? [message.content] : [])).join(" … ");
}
