/** Answers judge and hint prompts with the base, through the engine. */
import type { JobPrompt } from "../../shared/jobs.ts";
import { FREE_FORM } from "../../shared/grammar/answer-form.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import type { JobSampler } from "../judge/embedded.ts";
import type { Base } from "./base.ts";
import { fits } from "../learn/rows.ts";
import { scoreRows, totalLogProb } from "../learn/scores.ts";
import { readAnswer } from "../teacher/answer-text.ts";
import { readJudgeAdapter } from "./judge-adapter.ts";

/** Its judge adapter's name in the engine. */
export const JUDGE = "judge";
const CALL_TOKENS = 96;

export type Answering = Pick<EngineCalls, "generate" | "score">;

/** The base's answers to judge and hint prompts. A prompt that does not fit the context gets an empty answer, which nobody can read as a vote. */
export function createJobSampler(
  engine: Answering,
  { tokenizer, config: { contextTokens, vocabSize } }: Pick<Base, "tokenizer" | "config">,
  { adapter }: { /** In the engine; the jobs are done under it. */ adapter?: string | undefined } = {},
): JobSampler {
  const under = adapter === undefined ? {} : { adapter };
  return {
    knowsWishes: adapter !== undefined,
    async answer(prompts, { maxTokens, temperature, seed }) {
      const encoded = prompts.map((prompt) => encodeJob(tokenizer, prompt));
      const fitting = encoded.filter((tokens) => tokens.length + maxTokens <= contextTokens);
      const answers =
        fitting.length === 0
          ? []
          : await engine.generate({
              prompts: fitting.map((tokens) => Int32Array.from(tokens)),
              maxTokens,
              stopTokens: [tokenizer.eosId],
              temperature,
              seed,
              ...under,
            });
      const texts = answers.map(({ tokens }) => tokenizer.decode([...tokens].filter((token) => token !== tokenizer.eosId)));
      return encoded.map((tokens) => texts[fitting.indexOf(tokens)] ?? "");
    },
    async score(prompt, answers) {
      const tokens = encodeJob(tokenizer, prompt);
      const rows = answers.map((answer) => ({ prompt: tokens, answer: [...tokenizer.encode(answer), tokenizer.eosId] }));
      if (rows.some((row) => !fits(row.prompt.length, row.answer.length))) return answers.map(() => Number.NEGATIVE_INFINITY);
      return (await scoreRows(engine, rows, { adapter, vocabSize })).map(totalLogProb);
    },
    async call({ messages, tools, callable }, { seed }) {
      const prompt = tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
      if (!fits(prompt.length, CALL_TOKENS)) return undefined;
      const [answer] = await engine.generate({
        prompts: [Int32Array.from(prompt)],
        forms: [{ tools: callable, form: { ...FREE_FORM, toolChoice: "required" } }],
        maxTokens: CALL_TOKENS,
        stopTokens: [tokenizer.eosId],
        temperature: 0,
        seed,
      });
      const { calls, finished, valid } = readAnswer(tokenizer, [...(answer?.tokens ?? [])]);
      const [call] = calls;
      return finished && valid && call !== undefined ? { status: "read", ...call } : undefined;
    },
  };
}

/** The base's jobs done under its judge adapter, where it has one, which is taken into the engine. */
export async function openJudge(engine: Answering & Pick<EngineCalls, "loadAdapter">, base: Base): Promise<JobSampler> {
  const adapter = readJudgeAdapter(base);
  if (adapter === undefined) return createJobSampler(engine, base);
  await engine.loadAdapter(JUDGE, adapter);
  return createJobSampler(engine, base, { adapter: JUDGE });
}

function encodeJob(tokenizer: Tokenizer, { messages, tools }: JobPrompt): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}
