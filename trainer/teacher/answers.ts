/**
 * What the teacher answers: the stable policy under guidance. Its greedy answer becomes a lesson only where it shows
 * the skill the note is about; a teacher that fails on a context teaches nothing there. (no update beats its teacher)
 */
import { withGuidance, type PromptMessage } from "../../shared/chat.ts";
import { hintText } from "../../shared/jobs.ts";
import { argumentText, sameText } from "../../shared/speech/calls.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readAnswer } from "./answer-text.ts";
import type { Context, ContextKind, Correction } from "./contexts.ts";
import { forceArgument } from "./forced.ts";
import type { AskPolicy, LedContext } from "./lead.ts";

/**
 * `note` and `hint` stand in the prompt; `forced` holds the argument in the policy's own answer. A default that is held
 * at the front is taught by the policy under the note, which begins calls so.
 */
export type Guidance = "note" | "hint" | "forced" | "none";

/** A context with the teacher's own answer to it: what the student is to say without guidance. */
export type Lesson = {
  readonly context: Context;
  readonly guidance: Guidance;
  readonly teacherPrompt: readonly number[];
  readonly studentPrompt: readonly number[];
  readonly answer: readonly number[];
  /** What the policy says there before the update, greedily and without guidance. */
  readonly own: readonly number[];
};

/** The lesson's answer after the prompt without guidance, as the student is to say it. */
export function studentRow({ studentPrompt: prompt, answer }: Pick<Lesson, "studentPrompt" | "answer">): LessonRow {
  return { prompt, answer };
}

/** The same with what the policy says there before the update. */
export function ownRow({ studentPrompt: prompt, own: answer }: Pick<Lesson, "studentPrompt" | "own">): LessonRow {
  return { prompt, answer };
}

type LessonRow = { readonly prompt: readonly number[]; readonly answer: readonly number[] };

/**
 * Guidance by which a context may become a lesson, in order. What the policy says by itself is taught where it is right,
 * so that as little as possible changes; then the same with one argument held; only then an answer in other words.
 */
const GUIDANCE: Record<ContextKind, readonly Guidance[]> = {
  silent: ["forced", "note", "hint"],
  stated: ["none", "forced", "note"],
  other: ["none"],
  anchor: ["none"],
};
const ENOUGH_SHARE = 0.3; // of silent contexts
const ROUNDS = Math.max(...Object.values(GUIDANCE).map(({ length }) => length));

type Question = {
  readonly each: LedContext;
  readonly guidance: Guidance;
  /** Whether the default is to begin the call, as under a note. */
  readonly begins: boolean;
};

/** Lessons from the contexts that the teacher masters, and those that it fails on; silent ones that are not needed are neither. */
export async function askLessons(
  led: readonly LedContext[],
  {
    correction,
    tokenizer,
    ask,
    fits,
  }: { correction: Correction; tokenizer: Tokenizer; ask: AskPolicy; fits: (promptTokens: number) => boolean },
): Promise<{ lessons: Lesson[]; failed: Context[] }> {
  const lessons: Lesson[] = [];
  const prompt = (context: Context, guidance: Guidance): number[] => promptOf(tokenizer, context, { guidance, correction });
  // Where calls end, those of every tool do: a default that was put there let other tools' calls go on to arguments that nobody had
  // asked for. A policy that uses the value by itself keeps its own order.
  const beginsWithDefault = ({ context, answer }: LedContext): boolean =>
    context.kind === "silent" && !shows(context, correction, readAnswer(tokenizer, answer));
  const answerUnder = async (asked: readonly Question[]): Promise<(readonly number[])[]> => {
    const worded = asked.filter(({ guidance }) => guidance === "note" || guidance === "hint");
    const answers =
      worded.length === 0
        ? []
        : await ask(worded.map(({ each: { context }, guidance }) => ({ prompt: prompt(context, guidance), tools: context.tools })));
    return asked.map((question) => {
      const { each, guidance } = question;
      if (guidance === "none") return each.answer;
      return guidance === "forced" ? forced(tokenizer, question, correction) : (answers[worded.indexOf(question)] ?? []);
    });
  };
  let open = led.filter(({ context }) => fits(prompt(context, "note").length));
  for (let round = 0; round < ROUNDS; round += 1) {
    const asked = open.flatMap((each) => {
      const guidance = GUIDANCE[each.context.kind][round];
      return guidance === undefined ? [] : [{ each, guidance, begins: guidance === "forced" && beginsWithDefault(each) }];
    });
    const answers = await answerUnder(asked);
    asked.forEach(({ each: { context, answer: own }, guidance, begins }, index) => {
      const answer = answers[index] ?? [];
      if (!shows(context, correction, readAnswer(tokenizer, answer))) return;
      const teacherPrompt = prompt(context, begins ? "note" : guidance);
      lessons.push({ context, guidance, teacherPrompt, studentPrompt: prompt(context, "none"), answer, own });
    });
    const taught = new Set(lessons.map(({ context }) => context));
    open = open.filter(({ context }) => !taught.has(context));
    // Where the policy asks by itself, a guided call would teach it to call, which is not what the correction is about.
    const silent = lessons.filter(({ context }) => context.kind === "silent").length;
    if (silent >= ENOUGH_SHARE * led.filter(({ context }) => context.kind === "silent").length)
      open = open.filter(({ context }) => context.kind !== "silent");
  }
  return { lessons, failed: open.map(({ context }) => context) };
}

export function promptOf(
  tokenizer: Tokenizer,
  { messages, tools }: Pick<Context, "messages" | "tools">,
  { guidance, correction }: { guidance: Guidance; correction: Correction },
): number[] {
  return tokenizer.encodePrompt({ messages: guide(messages, guidance, hintText(correction.hint)), tools, addGenerationPrompt: true });
}

function guide(messages: Context["messages"], guidance: Guidance, text: string): PromptMessage[] {
  if (guidance === "none" || guidance === "forced") return [...messages];
  return withGuidance(messages, guidance === "note" ? { notes: [text] } : { hint: text });
}

function forced(
  tokenizer: Tokenizer,
  { each: { context, answer }, begins }: Question,
  { tool, parameter, hint }: Correction,
): readonly number[] {
  const value = context.kind === "stated" ? (context.stated ?? "") : hint.value;
  return forceArgument(tokenizer, answer, { tool, parameter: parameter.name, value, first: begins }) ?? [];
}

/** Whether an answer does what its context is there to show. What stays as it is may be anything but a call of the corrected tool. */
export function shows(context: Context, { tool, parameter, hint }: Correction, answer: ReturnType<typeof readAnswer>): boolean {
  if (!answer.finished) return false;
  if (mustStay(context)) return answer.calls.every(({ name }) => name !== tool.function.name);
  const call = answer.calls.find(({ name }) => name === context.tool);
  if (call === undefined || !(parameter.name in call.arguments)) return false;
  return sameText(argumentText(call.arguments[parameter.name]), context.kind === "silent" ? hint.value : (context.stated ?? ""));
}

/** Whether the right answer is the one given before. */
export function mustStay({ kind }: Context): boolean {
  return kind === "other" || kind === "anchor";
}
