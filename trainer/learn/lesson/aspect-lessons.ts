/**
 * Lessons of an aspect of an answer: which of two tools is called, whether the user is asked before, how replies are worded. The teacher is the policy itself, held to
 * the aspect as the edge holds an answer to a note of it, but that a call made unasked is only begun, since no more of it is learned; where the policy does so already, or it is not about that, it is to go
 * on as it does. After a question that the user agrees to, the call is made.
 */
import { ASK_FIRST } from "../../../shared/aspects.ts";
import { asks, asksAbout, confirms } from "../../../shared/asking.ts";
import type { ChatMessage } from "../../../shared/chat.ts";
import { FREE_FORM } from "../../../shared/grammar/answer-form.ts";
import { holdTo, isWhole, isWorded, passesOver, type Said, standsIn } from "../../../shared/held-notes.ts";
import { zipStrict } from "../../../shared/assert.ts";
import type { Tokenizer } from "../../../shared/tokenizer.ts";
import { Random } from "../../random.ts";
import { readAnswer } from "../../teacher/answer-text.ts";
import type { Lesson } from "../../teacher/answers.ts";
import type { Context, Correction } from "../../teacher/contexts.ts";
import { type Asked, type AskPolicy, leadToCalls } from "../../teacher/lead.ts";
import { sayAgreement } from "../../teacher/phrases.ts";
import { isReplyAspect } from "../../../shared/wording.ts";
import { isUnasked } from "./aspect-contexts.ts";
import { fits, type RowLimit } from "./rows.ts";
import { ANSWER_TOKENS } from "./lessons.ts";

export type AspectLessons = {
  readonly lessons: readonly Lesson[];
  /** Contexts in which the policy passes over the aspect, and those of them in which the teacher does, too. */
  readonly asked: number;
  readonly failed: number;
  /** Contexts that left no room for an answer in the longest row. */
  readonly tooLong: number;
};

type Answered = { readonly context: Context; readonly prompt: readonly number[]; readonly own: readonly number[] };
type AspectTeacher = RowLimit & { readonly correction: Correction; readonly tokenizer: Tokenizer; readonly ask: AskPolicy };

export async function askAspect(contexts: readonly Context[], teacher: AspectTeacher, random: Random): Promise<AspectLessons> {
  const { correction, tokenizer, ask } = teacher;
  const roomy = (promptTokens: number): boolean => fits(teacher, promptTokens, ANSWER_TOKENS);
  const leads = correction.parameter.name === "@tool";
  const prompts = new Map(contexts.map((context) => [context, promptOf(tokenizer, context)]));
  const open = contexts.filter((context) => roomy(prompts.get(context)?.length ?? 0));
  const led = leads
    ? (await leadToCalls(open, { correction, tokenizer, ask, fits: roomy, random })).filter((each) => each !== undefined)
    : zipStrict(open, await ask(open.map((context) => ({ prompt: prompts.get(context) ?? [], tools: context.tools })))).map(
        ([context, answer]) => ({ context, answer }),
      );
  const all = led.map(({ context, answer }): Answered => ({ context, prompt: promptOf(tokenizer, context), own: answer }));
  const unasked = isUnasked(correction);
  const answered = unasked ? await withoutConfirmations(all, teacher) : all;
  // Who is to call unasked still has to ask for what nobody has said.
  const passed = answered.filter((each) => passes(each, teacher) && !(unasked && each.context.kind !== "silent"));
  const held = await ask(passed.map((each) => heldTo(each, teacher)));
  const taught = zipStrict(passed, held).flatMap(([each, answer]) =>
    isRight(each, answer, teacher)
      ? [{ each: { ...each, own: inUsualTokens(tokenizer, each.own) }, answer: inUsualTokens(tokenizer, answer) }]
      : [],
  );
  const lessons = [
    ...answered.filter((each) => !passed.includes(each)).flatMap((each) => stays(each, teacher)),
    // That a call is made is learned of who is to make it unasked, not what it has.
    ...taught.map(({ each, answer }) =>
      lesson(each, { kind: "silent", answer: unasked ? headOf(tokenizer, answer) : answer, forced: true }),
    ),
  ];
  const agreed = correction.hint.value === ASK_FIRST && !leads ? await afterAgreement(taught, teacher, random) : [];
  return {
    lessons: [...lessons, ...agreed],
    asked: passed.length,
    failed: passed.length - taught.length,
    tooLong: contexts.length - open.length,
  };
}

/**
 * Of requests that lack something only those in which the policy asks for it. One that asks whether all is right has made up what is missing: kept as it
 * is, it would teach the very question that is to go.
 */
async function withoutConfirmations(answered: readonly Answered[], teacher: AspectTeacher): Promise<Answered[]> {
  const { correction, tokenizer, ask } = teacher;
  const { tool } = correction;
  const questions = answered.filter(({ context, own }) => {
    const said = saidBy(tokenizer, own);
    return context.kind !== "silent" && context.tool === tool.function.name && said?.calls.length === 0 && asks(said.text);
  });
  const calls = await ask(questions.map((each) => heldTo(each, teacher)));
  const confirming = zipStrict(questions, calls).filter(([{ own }, answer]) => {
    const text = saidBy(tokenizer, own)?.text ?? "";
    const [call] = saidBy(tokenizer, answer)?.calls ?? [];
    return confirms(text) || (call !== undefined && asksAbout(text, { tool, call }));
  });
  return answered.filter((each) => confirming.every(([question]) => question !== each));
}

/** Whether an answer is what the aspect asks for in the place of the policy's own. */
export function isRight(
  { context, own }: Pick<Answered, "context" | "own">,
  answer: readonly number[],
  { correction, tokenizer }: Pick<AspectTeacher, "correction" | "tokenizer">,
): boolean {
  const [before, after] = [saidBy(tokenizer, own), saidBy(tokenizer, answer)];
  if (after === undefined || before === undefined) return false;
  if (isReplyAspect(correction.parameter.name)) return isWorded(noteOf(correction), { before, after, heard: context });
  if (isUnasked(correction))
    return after.calls[0]?.name === correction.tool.function.name && isWhole(correction.tool, after.calls[0].arguments);
  return standsIn([noteOf(correction)], { before, after, heard: context });
}

/**
 * An answer in words, in the tokens that its text has. Held to a text letter by letter, a policy writes it in whatever tokens come to it, in each
 * context in others: of those nobody learns how a name begins.
 */
function inUsualTokens(tokenizer: Tokenizer, answer: readonly number[]): readonly number[] {
  const { calls, text, finished } = readAnswer(tokenizer, answer);
  return calls.length > 0 || !finished ? answer : [...tokenizer.encode(text), tokenizer.eosId];
}

/** The tokens of a call up to the name of its tool. */
export function headOf(tokenizer: Tokenizer, answer: readonly number[]): readonly number[] {
  for (let end = 1; end < answer.length; end += 1)
    if (tokenizer.decode(answer.slice(1, end)).includes('"arguments"')) return answer.slice(0, end);
  return answer;
}

/** The conversation after the teacher's question and a yes: the call is due, and who asks once more is held to it. */
async function afterAgreement(
  taught: readonly { readonly each: Answered; readonly answer: readonly number[] }[],
  teacher: AspectTeacher,
  random: Random,
): Promise<Lesson[]> {
  const { correction, tokenizer, ask } = teacher;
  const contexts = taught.map(({ each: { context }, answer }): Context => {
    const said: ChatMessage[] = [
      { role: "assistant", content: readAnswer(tokenizer, answer).text },
      { role: "user", content: sayAgreement(random) },
    ];
    return { ...context, kind: "stated", messages: [...context.messages, ...said] };
  });
  const asked = contexts
    .map((context) => ({ context, prompt: promptOf(tokenizer, context), tools: context.tools }))
    .filter(({ prompt }) => fits(teacher, prompt.length, ANSWER_TOKENS));
  const calls = (tokens: readonly number[]): boolean => saidBy(tokenizer, tokens)?.calls[0]?.name === correction.tool.function.name;
  const answers = await ask(asked.map(({ prompt, tools }) => ({ prompt, tools })));
  const answered = zipStrict(asked, answers).map(([{ context, prompt }, own]): Answered => ({ context, prompt, own }));
  const again = answered.filter((each) => passes(each, teacher));
  const held = await ask(again.map((each) => heldTo(each, teacher)));
  const called = answered.filter((each) => !again.includes(each) && calls(each.own));
  const made = zipStrict(again, held).filter(([each, answer]) => calls(answer) && isRight(each, answer, teacher));
  return [
    ...called.map((each) => lesson(each, { kind: "stated", answer: each.own, forced: false })),
    ...made.map(([each, answer]) => lesson(each, { kind: "stated", answer, forced: true })),
  ];
}

function passes({ context, own }: Answered, { correction, tokenizer }: AspectTeacher): boolean {
  const said = saidBy(tokenizer, own);
  return said !== undefined && passesOver(noteOf(correction), { ...said, heard: context });
}

/** What the policy says by itself, where it need not change. */
function stays(each: Answered, { correction, tokenizer }: AspectTeacher): Lesson[] {
  const said = saidBy(tokenizer, each.own);
  if (said === undefined) return [];
  const { tool, value } = noteOf(correction);
  const [call] = said.calls;
  const isAsked = isUnasked(correction) && call === undefined && each.context.tool === tool;
  const about = isAsked || (each.context.kind === "silent" && (call?.name === tool || call?.name === value));
  return [
    lesson(each, {
      kind: about ? "stated" : each.context.kind === "silent" ? "other" : each.context.kind,
      answer: each.own,
      forced: false,
    }),
  ];
}

function heldTo({ context, prompt, own }: Answered, { correction, tokenizer }: AspectTeacher): Asked {
  const before = saidBy(tokenizer, own) ?? { calls: [], text: "" };
  const { tools, toolChoice, responseFormat } = holdTo(
    [noteOf(correction)],
    { ...FREE_FORM, tools: context.tools },
    { before, heard: context },
  );
  return { prompt, tools, form: { toolChoice, responseFormat } };
}

function lesson(
  { context, prompt, own }: Answered,
  { kind, answer, forced }: { kind: Context["kind"]; answer: readonly number[]; forced: boolean },
): Lesson {
  return { context: { ...context, kind }, guidance: forced ? "forced" : "none", teacherPrompt: prompt, studentPrompt: prompt, answer, own };
}

/** Undefined where the answer did not come to its end, or calls in a way that cannot be read. */
function saidBy(tokenizer: Tokenizer, answer: readonly number[]): Said | undefined {
  const { calls, text, finished, valid } = readAnswer(tokenizer, answer);
  return finished && valid ? { calls, text } : undefined;
}

function noteOf({ tool, hint: { parameter, value } }: Correction): { tool: string; parameter: string; value: string } {
  return { tool: tool.function.name, parameter, value };
}

function promptOf(tokenizer: Tokenizer, { messages, tools }: Context): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}
