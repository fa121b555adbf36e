/** Contexts of one correction, split into what is trained on and what is held back, and the teacher's answers to both. */
import type { ChatMessage, ToolDefinition } from "../../shared/chat.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { UpdateSettings } from "../config.ts";
import { Random } from "../random.ts";
import { askLessons, type Lesson } from "../teacher/answers.ts";
import { generateContexts, type Context, type Correction } from "../teacher/contexts.ts";
import { type AskPolicy, leadToCalls } from "../teacher/lead.ts";
import { replayContext, reread, withStatement, type ReplayTurn } from "../teacher/replay.ts";
import type { CorrectedExchange } from "./learner.ts";
import { fits } from "./rows.ts";

export type Lessons = {
  readonly training: readonly Lesson[];
  readonly heldBack: readonly Lesson[];
  /** Silent contexts asked and those the teacher failed on. */
  readonly silentAsked: number;
  readonly silentFailed: number;
};

export const ANSWER_TOKENS = 96; // a call with a handful of arguments

export async function collectLessons(
  corrected: readonly CorrectedExchange[],
  {
    correction,
    replay,
    settings,
    tokenizer,
    ask,
    seed,
  }: {
    correction: Correction;
    replay: readonly ReplayTurn[];
    settings: UpdateSettings;
    tokenizer: Tokenizer;
    ask: AskPolicy;
    seed: number;
  },
): Promise<Lessons> {
  const random = new Random(seed);
  const source = { correction, tools: toolsOf(corrected, correction), system: systemOf(corrected) };
  const training = [
    ...realContexts(corrected, { correction, replay, settings, random }),
    ...readings(corrected, { correction, replay, count: settings.readings, random }),
    ...generateContexts(source, settings.contexts, random),
  ];
  const heldBack = [
    ...readings(corrected, { correction, replay, count: settings.heldBackReadings, random }),
    ...generateContexts(source, settings.heldBack, random),
  ];
  const roomy = (promptTokens: number): boolean => fits(promptTokens, ANSWER_TOKENS);
  const led = await leadToCalls([...training, ...heldBack], { correction, tokenizer, ask, fits: roomy, random });
  const held = new Set(led.slice(training.length).map((each) => each?.context));
  const { lessons, failed } = await askLessons(
    led.filter((each) => each !== undefined),
    { correction, tokenizer, ask, fits: roomy },
  );
  const silentFailed = failed.filter(({ kind }) => kind === "silent").length;
  return {
    training: lessons.filter(({ context }) => !held.has(context)),
    heldBack: lessons.filter(({ context }) => held.has(context)),
    silentAsked: silentFailed + lessons.filter(({ context }) => context.kind === "silent").length,
    silentFailed,
  };
}

/** Lessons by context and guidance, e.g. `silent by note`, and the silent contexts that gave none. */
export function countLessons({ training, heldBack, silentFailed }: Lessons): Record<string, number> {
  const counts: Record<string, number> = { "silent failed": silentFailed };
  for (const { context, guidance } of [...training, ...heldBack]) {
    const key = `${context.kind} by ${guidance}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** The corrected turns, their counter-cases, and the most recent other turns of the agent. */
function realContexts(
  corrected: readonly CorrectedExchange[],
  {
    correction,
    replay,
    settings,
    random,
  }: { correction: Correction; replay: readonly ReplayTurn[]; settings: UpdateSettings; random: Random },
): Context[] {
  const correctedIds = new Set(corrected.flatMap(({ turns }) => turns.map(({ turnId }) => turnId)));
  const own = replay.filter(({ turnId }) => correctedIds.has(turnId));
  const recent = replay.filter(({ turnId }) => !correctedIds.has(turnId)).slice(-settings.replayed);
  const ownContexts = own.map((turn) => replayContext(turn, correction, { corrected: true })).filter((context) => context !== undefined);
  const replayed = recent.map((turn) => replayContext(turn, correction)).filter((context) => context !== undefined);
  return withCounterCases([...ownContexts, ...replayed], correction, random);
}

/** The corrected turns read again with other values, `count` times in all, with their counter-cases. */
function readings(
  corrected: readonly CorrectedExchange[],
  { correction, replay, count, random }: { correction: Correction; replay: readonly ReplayTurn[]; count: number; random: Random },
): Context[] {
  const correctedIds = new Set(corrected.flatMap(({ turns }) => turns.map(({ turnId }) => turnId)));
  const own = replay.flatMap((turn) => {
    const context = correctedIds.has(turn.turnId) ? replayContext(turn, correction, { corrected: true }) : undefined;
    return context?.kind === "silent" ? [{ turn, context }] : [];
  });
  const read = own.flatMap(({ turn, context }) =>
    Array.from({ length: Math.ceil(count / own.length) }, () => reread(context, turn, correction, random) ?? []).flat(),
  );
  return withCounterCases(read, correction, random);
}

function withCounterCases(contexts: readonly Context[], correction: Correction, random: Random): Context[] {
  const silent = contexts.filter(({ kind }) => kind === "silent");
  return [...contexts, ...silent.flatMap((context) => withStatement(context, correction, random) ?? [])];
}

function toolsOf(corrected: readonly CorrectedExchange[], { tool }: Correction): readonly ToolDefinition[] {
  return corrected.at(-1)?.turns.at(-1)?.payload.tools ?? [tool];
}

function systemOf(corrected: readonly CorrectedExchange[]): ChatMessage[] {
  return (corrected.at(-1)?.turns.at(-1)?.payload.messages ?? []).filter(({ role }) => role === "system");
}
