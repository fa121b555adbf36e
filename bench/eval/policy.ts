/** The policy under evaluation: greedy answers and log-probs of given answers, in batches, with progress on stderr. */
import { at, zipStrict } from "../../shared/assert.ts";
import type { ToolDefinition } from "../../shared/chat.ts";
import { heardCorrections } from "../../shared/correction/heard.ts";
import { withCorrection } from "../../shared/correction/put-right.ts";
import { canonicalJson } from "../../shared/digest.ts";
import { doneCalls, isDone } from "../../shared/speech/done-calls.ts";
import { type AnswerForm, FREE_FORM } from "../../shared/grammar/answer-form.ts";
import { type Held, holdTo, passesOver } from "../../shared/held-notes.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import { tells, type WrittenAnswer, yields } from "../../shared/yielding.ts";
import type { Engine } from "../../trainer/engine/engine.ts";
import { toBatch } from "../../trainer/pretrain/batches.ts";
import { readAnswer } from "../../trainer/teacher/answer-text.ts";
import { say } from "../bench.ts";
import type { CorrectedCase, GuidedCase } from "./cases.ts";

const GENERATE_ROWS = 32;
const SCORE_ROWS = 4;

export type EvaluatedAnswer = WrittenAnswer & { readonly text: string };

type AnswerOptions = { maxTokens: number; tools?: readonly (readonly ToolDefinition[])[]; form?: AnswerForm };

export type ParsedCall = { name: string; arguments: unknown };

export class EvaluatedPolicy {
  readonly #engine: Engine;
  readonly #tokenizer: Tokenizer;
  readonly #under: { adapter?: string };

  /** @param adapter in the engine; the bare base answers without one */
  constructor(engine: Engine, tokenizer: Tokenizer, { adapter }: { adapter?: string | undefined } = {}) {
    this.#engine = engine;
    this.#tokenizer = tokenizer;
    this.#under = adapter === undefined ? {} : { adapter };
  }

  /** The text after each prompt, greedy, up to the end token: free, or held to the schemas of the prompts' tools as when it is served. */
  async answers(label: string, prompts: readonly number[][], options: AnswerOptions): Promise<string[]> {
    return (await this.written(label, prompts, options)).map(({ text }) => text);
  }

  /** The same with its tokens, ln p of each, and its first call. */
  async written(
    label: string,
    prompts: readonly number[][],
    { maxTokens, tools, form = FREE_FORM }: AnswerOptions,
  ): Promise<EvaluatedAnswer[]> {
    // Like lengths together: a batch costs what its longest prompt costs.
    const order = prompts.map((_, index) => index).sort((a, b) => (prompts[a]?.length ?? 0) - (prompts[b]?.length ?? 0));
    const answers: EvaluatedAnswer[] = prompts.map(() => ({ text: "", tokens: [], logProbs: [], call: undefined }));
    for (let start = 0; start < order.length; start += GENERATE_ROWS) {
      const rows = order.slice(start, start + GENERATE_ROWS);
      const generated = await this.#engine.generate({
        prompts: rows.map((row) => Int32Array.from(prompts[row] ?? [])),
        ...(tools === undefined ? {} : { forms: rows.map((row) => ({ tools: tools[row] ?? [], form })) }),
        maxTokens,
        stopTokens: this.#tokenizer.endIds,
        temperature: 0,
        seed: 0,
        ...this.#under,
      });
      generated.forEach(({ tokens, logProbs }, index) => {
        const row = rows[index];
        if (row === undefined) return;
        const text = this.#tokenizer.decode(Array.from(tokens).filter((token) => !this.#tokenizer.endIds.includes(token)));
        const [call] = readAnswer(this.#tokenizer, Array.from(tokens)).calls;
        answers[row] = { text, tokens: Array.from(tokens), logProbs, call };
      });
      say(`${label}: ${Math.min(start + GENERATE_ROWS, order.length)}/${order.length}`);
    }
    return answers;
  }

  /** What goes out under a note, as the edge decides it: the answer without the note where that says the argument itself, one that is held to the note where it is passed over. */
  async answersUnderNotes(label: string, cases: readonly GuidedCase[], maxTokens: number): Promise<string[]> {
    const tools = cases.map((each) => each.tools);
    const [guided, plain] = [cases.map((each) => each.guided), cases.map((each) => each.plain)];
    const under = await this.written(`${label}, under them`, guided, { maxTokens, tools });
    const without = await this.written(`${label}, without them`, plain, { maxTokens, tools });
    const settled = cases.map(({ tool, parameter, value, heard, guided: prompt }, index) => {
      const [a, b] = [at(under, index), at(without, index)];
      const note = { tool, parameter, value, corrected: null };
      const about = { ...note, corrected: [] };
      const isElsewhere = a.call !== undefined && a.call.name !== tool && b.call?.name !== tool;
      if (isElsewhere || yields(this.#tokenizer, about, { under: a, without: b, heard })) return { text: b.text };
      const before = { text: a.text, calls: a.call === undefined ? [] : [a.call] };
      // What the policy tells by itself is not held, whatever words it has.
      return passesOver(note, { ...before, heard, unread: b.call }) && !tells(this.#tokenizer, about, { without: b, heard })
        ? { ...a, held: { prompt, ...holdTo([note], { ...FREE_FORM, tools: heard.tools }, { before, heard }) } }
        : a;
    });
    const passed = settled.flatMap((answer) => ("held" in answer ? [answer.held] : []));
    const again = await this.written(
      `${label}, held to them`,
      passed.map(({ prompt }) => prompt),
      { maxTokens, tools: passed.map((each) => each.tools) },
    );
    return settled.map((answer) => {
      const held = "held" in answer ? again[passed.indexOf(answer.held)] : undefined;
      return held?.call === undefined ? answer.text : held.text;
    });
  }

  /** What goes out for an answer to a correction, as the edge decides it, and what would by the schemas of the tools alone. */
  async answersToCorrections(
    label: string,
    cases: readonly Pick<CorrectedCase, "prompt" | "heard">[],
    maxTokens: number,
  ): Promise<{ free: string[]; served: string[] }> {
    const written = await this.written(
      label,
      cases.map(({ prompt }) => prompt),
      { maxTokens, tools: cases.map(({ heard }) => heard.tools) },
    );
    const served: string[] = [];
    for (const [{ prompt, heard }, own] of zipStrict(cases, written)) {
      const answer = { ...own, calls: own.call === undefined ? [] : [own.call] };
      const hold = async (to: readonly Held[], call: NonNullable<typeof own.call>): Promise<typeof answer | undefined> => {
        const { tools } = holdTo(to, { ...FREE_FORM, tools: heard.tools }, { before: { ...answer, calls: [call] }, heard });
        const [again] = await this.written(`${label}, held to one`, [prompt], { maxTokens, tools: [tools] });
        return again?.call === undefined ? undefined : { ...again, calls: [again.call] };
      };
      const corrected = heardCorrections(heard);
      if (corrected.length === 0 && isDone(answer.calls, doneCalls(heard.messages))) {
        const options = { maxTokens, tools: [heard.tools], form: { ...FREE_FORM, toolChoice: "none" as const } };
        served.push(...(await this.answers(`${label}, in words`, [prompt], options)));
      } else served.push((await withCorrection(answer, { corrected, heard, isSettled: () => false, hold })).text);
    }
    return { free: written.map(({ text }) => text), served };
  }

  /** ln p of each answer after its prompt, summed over its tokens, nats. */
  async logProbs(
    label: string,
    pairs: readonly { prompt: readonly number[]; answer: readonly number[] }[],
    context: number,
  ): Promise<number[]> {
    const sums: number[] = [];
    for (let start = 0; start < pairs.length; start += SCORE_ROWS) {
      const rows = pairs.slice(start, start + SCORE_ROWS);
      const examples = rows.map(({ prompt, answer }) => ({
        tokens: [...prompt, ...answer],
        weights: [...prompt.map(() => 0), ...answer.map(() => 1)],
      }));
      const { logProbs } = await this.#engine.score(toBatch(examples, { length: context, rows: SCORE_ROWS }), this.#under);
      let place = 0;
      for (const { answer } of rows) {
        sums.push(logProbs.subarray(place, place + answer.length).reduce((sum, each) => sum + each, 0));
        place += answer.length;
      }
      if (start % (SCORE_ROWS * 16) === 0) say(`${label}: ${start}/${pairs.length}`);
    }
    return sums;
  }
}

/** Whether an answer sets out to call, whole or not: its first token says so. */
export function beginsCall(text: string): boolean {
  return text.startsWith("<tool_call>");
}

const DECLINES = /\b(?:can(?:no|['’])t|not able|unable|nothing that I can)\b/i;

/** Whether an answer says in words that what was asked for cannot be done. */
export function declines(text: string): boolean {
  return !beginsCall(text) && DECLINES.test(text);
}

/** The call that an answer makes, if it makes a readable one. */
export function parseCall(text: string): ParsedCall | undefined {
  const [, body] = /^<tool_call>(.*?)<\/tool_call>/s.exec(text) ?? [];
  if (body === undefined) return undefined;
  try {
    const call: unknown = JSON.parse(body);
    if (typeof call !== "object" || call === null || !("name" in call) || typeof call.name !== "string") return undefined;
    return { name: call.name, arguments: "arguments" in call ? call.arguments : undefined };
  } catch {
    // Not JSON: no call was made that a client could run.
    return undefined;
  }
}

export function sameCall(made: ParsedCall | undefined, wanted: ParsedCall): boolean {
  return made !== undefined && made.name === wanted.name && canonicalJson(made.arguments) === canonicalJson(wanted.arguments);
}

export function argumentOf(made: ParsedCall | undefined, parameter: string): unknown {
  return typeof made?.arguments === "object" && made.arguments !== null
    ? Object.entries(made.arguments).find(([name]) => name === parameter)?.[1]
    : undefined;
}
