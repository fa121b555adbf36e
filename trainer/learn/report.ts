/** What a version says about itself: how far it has moved, and the corrected turns answered again. */
import { readCalls } from "../data/calls.ts";
import { mustStay } from "../teacher/answers.ts";
import type { AskPolicy } from "../teacher/lead.ts";
import type { Adapters, LearnerDependencies } from "./candidate.ts";
import type { HeldBack } from "./confirm.ts";
import type { CorrectedExchange } from "./learner.ts";
import type { Change } from "./result.ts";
import { meanKlNats, scoreRows } from "./scores.ts";

/** Mean KL(base ‖ candidate) per token over the held-back contexts that must stay as they are, nats. */
export async function driftFromBase(
  { engine, base }: LearnerDependencies,
  { held, adapters }: { held: HeldBack; adapters: Adapters },
): Promise<number> {
  const { vocabSize } = base.config;
  const rows = held.lessons.filter(({ context }) => mustStay(context)).map(({ studentPrompt: prompt, answer }) => ({ prompt, answer }));
  const [bases, candidates] = [
    await scoreRows(engine, rows, { adapter: undefined, full: true, vocabSize }),
    await scoreRows(engine, rows, { adapter: adapters.candidate, full: true, vocabSize }),
  ];
  const drifts = bases.map(({ full }, index) => meanKlNats(full, candidates[index]?.full ?? full, vocabSize));
  return drifts.reduce((sum, drift) => sum + drift, 0) / Math.max(1, drifts.length);
}

/** The corrected turns answered again, for people to read. */
export async function describeChanges(
  { base: { tokenizer } }: LearnerDependencies,
  { group, ask }: { group: readonly CorrectedExchange[]; ask: AskPolicy },
): Promise<Change[]> {
  const turns = group.flatMap(({ correction, turns: own }) =>
    own.filter(({ payload }) => readCalls(payload.answer).some(({ name }) => name === correction.tool.function.name)),
  );
  const answers = await ask(turns.map(({ payload }) => payload.rollout.promptTokens));
  return turns.map(({ payload }, index) => ({
    prompt: lastWords(payload.messages),
    before: tokenizer.decode(payload.rollout.responseTokens.filter((token) => token !== tokenizer.eosId)),
    after: tokenizer.decode((answers[index] ?? []).filter((token) => token !== tokenizer.eosId)),
  }));
}

function lastWords(messages: CorrectedExchange["turns"][number]["payload"]["messages"]): string {
  const message = messages.findLast(({ role }) => role === "user");
  return message?.role === "user" ? message.content : "";
}
