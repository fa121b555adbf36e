/**
 * What the teacher answers: the stable policy under guidance. Its greedy answer becomes a lesson only where it shows
 * the skill the note is about; a teacher that fails on a context teaches nothing there. (no update beats its teacher)
 */
import { withGuidance, type PromptMessage } from "../../shared/chat.ts";
import { hintText } from "../../shared/jobs.ts";
import { argumentText, sameText } from "../data/calls.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { readAnswer } from "./answer-text.ts";
import type { Context, ContextKind, Correction } from "./contexts.ts";
import { forceArgument } from "./forced.ts";
import type { AskPolicy, LedContext } from "./lead.ts";

/** `note` and `hint` stand in the prompt; `forced` holds the argument while the policy answers without guidance. */
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

/** Guidance under which the teacher is asked, in order. What must stay as it is, the policy says by itself. */
const GUIDANCE: Record<ContextKind, readonly Guidance[]> = { silent: ["note", "hint"], stated: ["note"], other: [], anchor: [] };
const MOST_QUESTIONS = 2;

/** Lessons from the contexts that the teacher masters, and those that it does not. */
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
  const teach = ({ context, answer: own }: LedContext, guidance: Guidance, answer: readonly number[]): boolean => {
    if (!shows(context, correction, readAnswer(tokenizer, answer))) return false;
    lessons.push({ context, guidance, teacherPrompt: prompt(context, guidance), studentPrompt: prompt(context, "none"), answer, own });
    return true;
  };
  let open = led.filter(({ context }) => fits(prompt(context, "note").length));
  for (let question = 0; question < MOST_QUESTIONS; question += 1) {
    const asked = open.flatMap((each) => {
      const guidance = GUIDANCE[each.context.kind][question];
      return guidance === undefined ? [] : [{ each, guidance }];
    });
    const answers = asked.length === 0 ? [] : await ask(asked.map(({ each, guidance }) => prompt(each.context, guidance)));
    const taught = new Set(
      asked.filter(({ each, guidance }, index) => teach(each, guidance, answers[index] ?? [])).map(({ each }) => each),
    );
    open = open.filter((each) => !taught.has(each));
  }
  const failed = open.filter((each) => {
    const { context, answer } = each;
    // Where the user spoke, the policy's own answer is as good a witness as the note's.
    if (context.kind !== "silent" && teach(each, "none", answer)) return false;
    return mustStay(context) || !teach(each, "forced", forced(tokenizer, context, { correction, answer }));
  });
  return { lessons, failed: failed.map(({ context }) => context) };
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
  return sameText(argumentText(call.arguments[parameter.name]), context.kind === "silent" ? hint.value : (context.stated ?? ""));
}

/** Whether the right answer is the one given before. */
export function mustStay({ kind }: Context): boolean {
  return kind === "other" || kind === "anchor";
}
