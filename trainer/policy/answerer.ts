/** Answers judge and hint prompts with the base, through the engine. */
import type { JobPrompt } from "../../shared/jobs.ts";
import type { Tokenizer } from "../../shared/tokenizer.ts";
import type { EngineCalls } from "../engine/protocol.ts";
import type { JobSampler } from "../judge/embedded.ts";
import type { Base } from "./base.ts";
import { fits } from "../learn/rows.ts";
import { scoreRows, totalLogProb } from "../learn/scores.ts";

export type Answering = Pick<EngineCalls, "generate" | "score">;

/** The base's answers to judge and hint prompts. A prompt that does not fit the context gets an empty answer, which nobody can read as a vote. */
export function createJobSampler(
  engine: Answering,
  { tokenizer, config: { contextTokens, vocabSize } }: Pick<Base, "tokenizer" | "config">,
): JobSampler {
  return {
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
            });
      const texts = answers.map(({ tokens }) => tokenizer.decode([...tokens].filter((token) => token !== tokenizer.eosId)));
      return encoded.map((tokens) => texts[fitting.indexOf(tokens)] ?? "");
    },
    async score(prompt, answers) {
      const tokens = encodeJob(tokenizer, prompt);
      const rows = answers.map((answer) => ({ prompt: tokens, answer: [...tokenizer.encode(answer), tokenizer.eosId] }));
      if (rows.some((row) => !fits(row.prompt.length, row.answer.length))) return answers.map(() => Number.NEGATIVE_INFINITY);
      return (await scoreRows(engine, rows, { adapter: undefined, vocabSize })).map(totalLogProb);
    },
  };
}

function encodeJob(tokenizer: Tokenizer, { messages, tools }: JobPrompt): number[] {
  return tokenizer.encodePrompt({ messages, tools, addGenerationPrompt: true });
}
