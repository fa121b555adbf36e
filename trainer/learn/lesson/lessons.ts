/** Contexts of one correction, split into what is trained on and what is held back, and the teacher's answers to both. */
import type { ChatMessage, ToolDefinition } from "../../../shared/chat.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import type { UpdateSettings } from "../../config.ts";
import { lastOf } from "../../last-of.ts";
import { Random } from "../../random.ts";
import { askLessons, type Lesson } from "../../teacher/answers.ts";
import { generateContexts, type Context, type Correction } from "../../teacher/contexts.ts";
import { type AskPolicy, leadToCalls } from "../../teacher/lead.ts";
import { replayContext, reread, withStatement, type ReplayTurn } from "../../teacher/replay.ts";
import type { CorrectedExchange } from "../update/learner.ts";
import { beside, bothRehearsals, type Rehearsal } from "./rehearsal.ts";
import { fits, type RowLimit } from "./rows.ts";

export type Lessons = {
  readonly training: readonly Lesson[];
  readonly heldBack: readonly Lesson[];
  /** Silent contexts asked and those the teacher failed on. */
  readonly silentAsked: number;
  readonly silentFailed: number;
  /** Prompts that left no room for an answer in the longest row. */
  readonly tooLong: number;
};

export const ANSWER_TOKENS = 96; // a call with a handful of arguments
// Corrected exchanges that are taught from themselves. Where a hundred say the same, the others would multiply the lessons and add none of another kind.
const MOST_OWN = 9;

export async function collectLessons(
  corrected: readonly CorrectedExchange[],
  {
    correction,
    replay,
    rehearsed,
    settings,
    base,
    ask,
    seed,
  }: {
    correction: Correction;
    replay: readonly ReplayTurn[];
    rehearsed?: readonly Rehearsal[] | undefined;
    settings: UpdateSettings;
    base: RowLimit & { readonly tokenizer: Tokenizer };
    ask: AskPolicy;
    seed: number;
  },
): Promise<Lessons> {
  const { tokenizer } = base;
  const random = new Random(seed);
  const source = { correction, tools: toolsOf(corrected, correction), system: systemOf(corrected) };
  const own = correctedContexts(corrected, { correction, replay });
  const read = (count: number): Context[] => readings(own, { correction, count, random });
  const correctedIds = turnIdsOf(corrected);
  const others = replay.filter(({ turnId }) => !correctedIds.has(turnId));
  const recent = lastOf(others, settings.replayed);
  const replayed = recent.flatMap((turn) => replayContext(turn, correction) ?? []);
  const rehearsals = bothRehearsals(rehearsed, { correction, count: settings.rehearsed, seed });
  const training = [
    ...withCounterCases([...own.map(({ context }) => context), ...replayed], correction, random),
    ...read(settings.readings),
    ...rehearsals.training,
    ...generateContexts(source, beside(rehearsals.training, settings.contexts), random),
  ];
  const drawn = [
    ...read(settings.heldBackReadings),
    ...rehearsals.heldBack,
    ...generateContexts(source, beside(rehearsals.heldBack, settings.heldBack), random),
  ];
  const { training: learned, heldBack } = apart(training, drawn);
  let tooLong = 0;
  const roomy = (promptTokens: number): boolean => {
    const isRoomy = fits(base, promptTokens, ANSWER_TOKENS);
    if (!isRoomy) tooLong += 1;
    return isRoomy;
  };
  const led = await leadToCalls([...learned, ...heldBack], { correction, tokenizer, ask, fits: roomy, random });
  const held = new Set(led.slice(learned.length).map((each) => each?.context));
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
    tooLong,
  };
}

/** Each context once, and none both trained on and looked at: a short request has few readings, and what is known by heart shows nothing. */
function apart(training: readonly Context[], drawn: readonly Context[]): { training: Context[]; heldBack: Context[] } {
  const seen = new Set<string>();
  const once = (contexts: readonly Context[]): Context[] =>
    contexts.filter((context) => {
      const key = keyOf(context);
      const first = !seen.has(key);
      seen.add(key);
      return first;
    });
  return { training: once(training), heldBack: once(drawn) };
}

/** The same for the same conversation with the same tools, in whatever order. */
export function keyOf({ messages, tools }: Pick<Context, "messages" | "tools">): string {
  return JSON.stringify([messages, tools.map((tool) => tool.function.name).toSorted()]);
}

/** Lessons by context and guidance, e.g. `silent by note`, the silent contexts that gave none, and the prompts that were too long. */
export function countLessons({ training, heldBack, silentFailed, tooLong }: Omit<Lessons, "silentAsked">): Record<string, number> {
  const counts: Record<string, number> = { "silent failed": silentFailed, "too long": tooLong };
  for (const { context, guidance } of [...training, ...heldBack]) {
    const key = `${context.kind} by ${guidance}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

type OwnContext = { readonly turn: ReplayTurn; readonly context: Context };

/** The turns of corrected exchanges, as they were: of many exchanges those with the largest shares, and of equal ones the last. */
function correctedContexts(
  corrected: readonly CorrectedExchange[],
  { correction, replay }: { correction: Correction; replay: readonly ReplayTurn[] },
): OwnContext[] {
  const chosen = corrected
    .toReversed()
    .toSorted((a, b) => b.share - a.share)
    .slice(0, MOST_OWN);
  const ids = turnIdsOf(chosen);
  return replay.flatMap((turn) => {
    const context = ids.has(turn.turnId) ? replayContext(turn, correction, { corrected: true }) : undefined;
    return context === undefined ? [] : [{ turn, context }];
  });
}

function turnIdsOf(exchanges: readonly CorrectedExchange[]): ReadonlySet<string> {
  return new Set(exchanges.flatMap(({ turns }) => turns.map(({ turnId }) => turnId)));
}

/** The corrected turns read again with other values, about `count` times in all, with their counter-cases. */
function readings(
  own: readonly OwnContext[],
  { correction, count, random }: { correction: Correction; count: number; random: Random },
): Context[] {
  const silent = own.filter(({ context }) => context.kind === "silent");
  const times = Array.from({ length: Math.ceil(count / Math.max(1, silent.length)) });
  const read = silent.flatMap(({ turn, context }) => times.flatMap(() => reread(context, turn, correction, random) ?? []));
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
