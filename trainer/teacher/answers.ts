/**
 * What the teacher answers: the stable policy under guidance. Its greedy answer becomes a lesson only where it shows
 * the skill the note is about; a teacher that fails on a context teaches nothing there. (no update beats its teacher)
 */
import { withGuidance, type PromptMessage } from "../../shared/chat.ts";
import { hintText } from "../../shared/jobs.ts";
import { argumentText } from "../data/calls.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readAnswer } from "./answer-text.ts";
import type { Context, ContextKind, Correction } from "./contexts.ts";
import { forceArgument } from "./forced.ts";

/** `note` and `hint` stand in the prompt; `forced` holds the argument while the policy answers without guidance. */
export type Guidance = "note" | "hint" | "forced" | "none";

/** A context with the teacher's own answer to it: what the student is to say without guidance. */
export type Lesson = {
  readonly context: Context;
  readonly guidance: Guidance;
  readonly teacherPrompt: readonly number[];
  readonly studentPrompt: readonly number[];
  readonly answer: readonly number[];
};

/** Greedy answers of the teacher to prompts, end token included. */
export type AskTeacher = (prompts: readonly (readonly number[])[]) => Promise<readonly (readonly number[])[]>;

/** Sources tried in order. Where the user spoke, the policy's own answer is as good a witness as the note's. */
const SOURCES: Record<ContextKind, readonly Guidance[]> = {
  silent: ["note", "hint", "forced"],
  stated: ["note", "none", "forced"],
  other: ["none"],
  anchor: ["none"],
};
const MOST_SOURCES = 3;

/** Lessons from the contexts that the teacher masters, and those that it does not. */
export async function askLessons(
  contexts: readonly Context[],
  {
    correction,
    tokenizer,
    ask,
    fits,
  }: { correction: Correction; tokenizer: Tokenizer; ask: AskTeacher; fits: (promptTokens: number) => boolean },
): Promise<{ lessons: Lesson[]; failed: Context[] }> {
  const lessons: Lesson[] = [];
  let open = contexts.filter((context) => fits(promptOf(tokenizer, context, { guidance: "note", correction }).length));
  for (let attempt = 0; attempt < MOST_SOURCES && open.length > 0; attempt += 1) {
    const asked = open.flatMap((context) => {
      const guidance = SOURCES[context.kind][attempt];
      return guidance === undefined ? [] : [{ context, guidance, teacherPrompt: promptOf(tokenizer, context, { guidance, correction }) }];
    });
    const answers = asked.length === 0 ? [] : await ask(asked.map(({ teacherPrompt }) => teacherPrompt));
    const taught = asked.flatMap((question, index): Lesson[] => {
      const answer =
        question.guidance === "forced"
          ? forced(tokenizer, question.context, { correction, answer: answers[index] ?? [] })
          : (answers[index] ?? []);
      if (!shows(question.context, correction, readAnswer(tokenizer, answer))) return [];
      return [{ ...question, studentPrompt: promptOf(tokenizer, question.context, { guidance: "none", correction }), answer }];
    });
    lessons.push(...taught);
    const done = new Set(taught.map(({ context }) => context));
    open = open.filter((context) => !done.has(context));
  }
  return { lessons, failed: open };
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
  { kind, stated }: Context,
  { correction, answer }: { correction: Correction; answer: readonly number[] },
): readonly number[] {
  const { tool, parameter, hint } = correction;
  return (
    forceArgument(tokenizer, answer, { tool, parameter: parameter.name, value: kind === "stated" ? (stated ?? "") : hint.value }) ?? []
  );
}

/** Whether an answer does what its context is there to show. What stays as it is may be anything but a call of the corrected tool. */
export function shows(context: Context, { tool, parameter, hint }: Correction, answer: ReturnType<typeof readAnswer>): boolean {
  if (!answer.finished) return false;
  if (mustStay(context)) return answer.calls.every(({ name }) => name !== tool.function.name);
  const call = answer.calls.find(({ name }) => name === context.tool);
  if (call === undefined || !(parameter.name in call.arguments)) return false;
  return sameValue(argumentText(call.arguments[parameter.name]), context.kind === "silent" ? hint.value : (context.stated ?? ""));
}

/** Whether the right answer is the one given before. */
export function mustStay({ kind }: Context): boolean {
  return kind === "other" || kind === "anchor";
}

export function sameValue(left: string, right: string): boolean {
  return left.trim().toLowerCase() === right.trim().toLowerCase();
}
